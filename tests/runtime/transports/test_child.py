"""A server in a child process: what a client does with servers that behave and that do not."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire.mcp.profile import PROFILE
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.session import Session
from kinwire.transports.child import ChildProcess, stdio
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods
from tests.runtime.fixtures_wire import PROGRAMS
from tests.runtime.rpc.fixtures_sessions import routes_of

pytestmark = pytest.mark.anyio


def misbehaving(way: str, *arguments: str, **options: Any) -> ChildProcess:
    return stdio(sys.executable, str(PROGRAMS / "misbehave.py"), way, *arguments, **options)


def serving() -> ChildProcess:
    return stdio(sys.executable, str(PROGRAMS / "server.py"), "asyncio")


def scripted(**script: Any) -> ChildProcess:
    return stdio(sys.executable, str(PROGRAMS / "scripted.py"), json.dumps(script))


def session(transport: ChildProcess) -> Session:
    return Session(transport, profile=PROFILE, routes=routes_of())


def lives(pid: int) -> bool:
    """Whether a process runs; one that waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def exists(pid: int | None) -> bool:
    """Whether a process is there, be it one that waits to be reaped."""
    assert pid is not None
    return Path(f"/proc/{pid}").exists()


async def fails(calling: Session, seen: list[ConnectionClosedError]) -> None:
    with pytest.raises(ConnectionClosedError) as caught:
        await calling.raw("ping")
    seen.append(caught.value)


# Servers that behave.


@pytest.mark.parametrize(
    "anyio_backend",
    ["asyncio", *(pytest.param(loop, marks=pytest.mark.slow) for loop in ("uvloop", "trio"))],
    indirect=True,
)
@pytest.mark.spec("mcp-stdio-transport-5", "mcp-stdio-transport-6")
async def test_calls_go_both_ways_through_pipes_of_any_fill() -> None:
    with anyio.fail_after(20):
        async with session(serving()) as calling, anyio.create_task_group() as tasks:
            server = mcp.ServerStub(calling)

            async def copy(size: int) -> None:
                result = await server.tools_call(name="echo", arguments={"text": "é" * size})
                (content,) = result.content
                assert isinstance(content, mcp.TextContent)
                assert content.text == f'{{"text": "{"é" * size}"}}'

            for size in (1, 100_000, 1_000_000, 1_900_000, 1_900_000, 1_900_000):
                tasks.start_soon(copy, size)


async def test_the_child_sees_a_short_list_of_variables_and_what_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    transport = misbehaving("looks", "a b", "é", env={"GIVEN": "1"}, cwd=tmp_path)
    async with session(transport) as calling:
        seen = await calling.raw("look")
    assert "SECRET_TOKEN" not in seen["env"]
    assert seen["env"]["GIVEN"] == "1"
    assert seen["env"]["PATH"] == os.environ["PATH"]
    assert (seen["cwd"], seen["argv"]) == (str(tmp_path), ["a b", "é"])


@pytest.mark.spec("mcp-stdio-transport-7")
async def test_stderr_is_handed_on_line_by_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kinwire.stderr")
    seen: list[str] = []
    async with session(misbehaving("exits", stderr=seen.append)) as calling:
        for _ in range(3):
            await calling.raw_notify("x")
        await calling.wait_closed()
    assert seen == ["no database"]
    async with session(misbehaving("exits", stderr="log")) as calling:
        for _ in range(3):
            await calling.raw_notify("x")
        await calling.wait_closed()
    assert f"{Path(sys.executable).name}: no database" in caplog.text


async def test_stderr_goes_to_the_stderr_of_this_process_unless_it_is_discarded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for options, shown in (({}, "no database\n"), ({"stderr": "discard"}, "")):
        async with session(misbehaving("exits", **options)) as calling:
            for _ in range(3):
                await calling.raw_notify("x")
            await calling.wait_closed()
            assert calling.closed_why is not None
            assert calling.closed_why.stderr == "no database\n"
        assert capsys.readouterr().err == shown


async def test_a_stderr_that_nobody_reads_stops_no_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"), os.fdopen(writing, "w") as unread:
        monkeypatch.setattr(sys, "stderr", unread)
        async with session(misbehaving("shouts")) as calling:
            assert await calling.raw("ping") == {}
            await calling.wait_closed()
            assert calling.closed_why is not None
            assert calling.closed_why.stderr.endswith("x\nthe last words\n")
        monkeypatch.undo()


@pytest.mark.parametrize("stream", [None, "closed"])
async def test_a_program_without_stderr_reaches_its_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stream: str | None
) -> None:
    with (tmp_path / "stderr").open("w") as closed:
        pass
    monkeypatch.setattr(sys, "stderr", closed if stream else None)
    async with session(misbehaving("exits")) as calling:
        for _ in range(3):
            await calling.raw_notify("x")
        await calling.wait_closed()
        assert calling.closed_why is not None
        assert calling.closed_why.stderr == "no database\n"
    monkeypatch.undo()


async def test_a_flood_on_stderr_blocks_nobody_and_its_end_is_kept() -> None:
    count = 0

    def line(text: str) -> None:
        nonlocal count
        count += 1

    async with session(misbehaving("shouts", stderr=line)) as calling:
        assert await calling.raw("ping") == {}
        await calling.wait_closed()
        assert calling.closed_why is not None
        kept = calling.closed_why.stderr
    assert kept.endswith("x\nthe last words\n")
    assert len(kept) == 64 * 1024
    assert count == 20_002


# Servers that end.


async def test_calls_fail_with_exit_code_and_last_words_when_the_server_exits() -> None:
    seen: list[ConnectionClosedError] = []
    with anyio.fail_after(20):
        async with session(misbehaving("exits")) as calling:
            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(fails, calling, seen)
            assert [(one.exit_code, one.stderr) for one in seen] == [(3, "no database\n")] * 3
            assert "exited with code 3" in str(seen[0])
            assert "no database" in str(seen[0])
            with pytest.raises(ConnectionClosedError, match="code 3"):
                await calling.raw("ping")


async def test_a_signal_that_ended_the_server_is_named() -> None:
    seen: list[ConnectionClosedError] = []
    async with session(misbehaving("dies")) as calling:
        await fails(calling, seen)
    assert seen[0].exit_code == -9
    assert "signal 9" in str(seen[0])


async def test_fifty_calls_fail_once_each_when_the_server_is_killed() -> None:
    seen: list[ConnectionClosedError] = []
    transport = scripted(answers={"tools/call": None})

    async def one() -> None:
        with pytest.raises(ConnectionClosedError) as caught:
            await calling.raw("tools/call")
        seen.append(caught.value)

    with anyio.fail_after(20):
        async with session(transport) as calling, anyio.create_task_group() as tasks:
            assert await calling.raw("ping") == {}
            for _ in range(50):
                tasks.start_soon(one)
            await anyio.wait_all_tasks_blocked()
            assert transport.pid is not None
            os.kill(transport.pid, signal.SIGKILL)
    assert len(seen) == 50


async def test_a_command_that_is_not_there_fails_the_first_call() -> None:
    async with session(stdio("no-such-program")) as calling:
        with pytest.raises(ConnectionClosedError, match="Cannot start 'no-such-program': No such"):
            await calling.raw("ping")


async def test_a_folder_that_is_not_there_is_not_taken_for_the_command() -> None:
    async with session(stdio(sys.executable, cwd="no/such/folder")) as calling:
        with pytest.raises(ConnectionClosedError, match="in the folder 'no/such/folder': No such"):
            await calling.raw("ping")


async def test_a_command_line_in_one_string_is_refused_with_a_hint() -> None:
    async with session(stdio("python trips.py")) as calling:
        with pytest.raises(
            ConnectionClosedError, match=r'\. Write stdio\("python", "trips.py"\)\.'
        ):
            await calling.raw("ping")


@pytest.mark.parametrize(
    ("way", "reason"),
    [("mute", "closed its standard"), ("leaves_heir", "code 4"), ("deaf", "closed its standard")],
)
@pytest.mark.faults
async def test_a_half_dead_server_ends_the_connection(way: str, reason: str) -> None:
    deaf = anyio.Event()

    async def on_deaf(params: Any, request: Any) -> None:
        deaf.set()

    seen: list[ConnectionClosedError] = []
    row = replace(methods.NOTIFICATIONS_INITIALIZED, name="x/closed")
    with anyio.fail_after(20):
        async with Session(
            misbehaving(way), profile=PROFILE, routes=routes_of((row, on_deaf))
        ) as calling:
            if way == "deaf":
                assert await calling.raw("ping") == {}
                await deaf.wait()
            await fails(calling, seen)
    assert reason in str(seen[0])


# Servers that talk nonsense.


@pytest.mark.fault(4, "client", "stdio")
@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ('{"jsonrpc":"2.0","id":1,"result":{"a', " in the middle of a message."),
        ('{"jsonrpc":"2.0","id":7,"result":{}}', "."),
        ("Goodbye", "."),
    ],
)
async def test_a_server_that_exits_within_a_message_is_reported(last: str, reason: str) -> None:
    program = f"input(); print({last!r}, end='')"
    async with session(stdio(sys.executable, "-c", program)) as calling:
        with pytest.raises(ConnectionClosedError) as caught:
            await calling.raw("ping")
    assert caught.value.reason == f"The server exited with code 0{reason}"


@pytest.mark.fault(14, "client", "stdio")
async def test_stray_lines_are_skipped_counted_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with session(misbehaving("chatters")) as calling:
        for _ in range(3):
            assert await calling.raw("ping") == {}
        counts = calling.counts
    logged = [record.getMessage() for record in caplog.records]
    assert counts.unreadable == len(logged) == 4 * 5  # the blank line does not count
    assert sum("Loading model" in line for line in logged) == 4
    assert all("ignored output on stdout that is not JSON-RPC: b'" in line for line in logged)
    assert all("write logs to stderr" in line for line in logged)


async def test_nothing_is_written_in_reaction_to_garbage() -> None:
    async with session(misbehaving("grumbles")) as calling:
        first = await calling.raw("ping")
        second = await calling.raw("ping")
    assert second["received"] == 2 * first["received"]


# Closing.


async def test_the_whole_family_of_a_server_ends_with_it() -> None:
    async with session(misbehaving("family")) as calling:
        pids = (await calling.raw("ping"))["pids"]
        assert [lives(pid) for pid in pids] == [True, True, True]
    assert [lives(pid) for pid in pids] == [False, False, False]


@pytest.mark.spec("mcp-shutdown-procedures-4")
@pytest.mark.faults
async def test_a_server_that_ignores_every_hint_is_killed_and_reaped() -> None:
    transport = misbehaving("stays")

    async def use() -> None:
        async with session(transport) as calling:
            assert await calling.raw("ping") == {}
            raise KeyError("own")

    with anyio.fail_after(10), pytest.raises(KeyError, match="own"):  # the steps take three
        await use()
    assert not exists(transport.pid)


async def test_a_server_that_dies_while_there_is_more_to_write_is_reaped() -> None:
    transport = stdio(sys.executable, "-c", "import time; time.sleep(300)")
    async with session(transport) as calling:
        for _ in range(20):  # more than a pipe holds
            await calling.raw_notify("x/y", {"text": "x" * 10_000})
        while transport.pid is None:
            await checkpoint()
        os.kill(transport.pid, signal.SIGKILL)
    assert not exists(transport.pid)


@pytest.mark.spec("mcp-shutdown-procedures-1", "mcp-shutdown-procedures-3")
@pytest.mark.parametrize(
    "anyio_backend", ["asyncio", pytest.param("trio", marks=pytest.mark.slow)], indirect=True
)
async def test_a_server_that_ends_by_itself_is_not_hurried() -> None:
    said: list[str] = []
    transport = stdio(sys.executable, str(PROGRAMS / "server.py"), "asyncio", stderr=said.append)
    async with session(transport) as calling:
        assert await calling.raw("ping") == {}
    assert said == ["ended: The client closed this server's standard input."]


async def test_closing_in_a_cancelled_scope_leaves_no_process() -> None:
    transport = scripted()
    with anyio.CancelScope() as scope:
        async with session(transport) as calling:
            assert await calling.raw("ping") == {}
            scope.cancel()
            await calling.call(methods.PING, mcp.RequestParams())
    assert not exists(transport.pid)


def test_a_torn_down_loop_leaves_no_process() -> None:
    transport = misbehaving("stays")

    async def use() -> None:
        async with session(transport) as calling:
            await calling.raw("ping")
            asyncio.get_running_loop().call_later(0.1, _interrupt)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(use())
    assert not exists(transport.pid)


def _interrupt() -> None:
    raise KeyboardInterrupt


def test_a_session_that_is_never_closed_leaves_no_process() -> None:
    script = (
        "import asyncio, sys\n"
        "from kinwire.mcp.profile import PROFILE\n"
        "from kinwire.rpc.session import Session\n"
        "from kinwire.transports.child import stdio\n"
        "server = stdio(sys.executable, '-c', 'import time; time.sleep(300)')\n"
        "async def use():\n"
        "    await Session(server, profile=PROFILE, routes={}).__aenter__()\n"
        "    while server.pid is None:\n"
        "        await asyncio.sleep(0)\n"
        "asyncio.run(use())\n"
        "print(server.pid)\n"
    )
    ran = subprocess.run((sys.executable, "-c", script), capture_output=True, text=True, check=True)
    assert not exists(int(ran.stdout))


@pytest.mark.faults
async def test_no_descriptor_is_left_open() -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    async with session(serving()) as calling:
        assert await calling.raw("ping") == {}
    before = descriptors()
    for _ in range(3):
        async with session(serving()) as calling:
            assert await calling.raw("ping") == {}
    assert descriptors() == before
