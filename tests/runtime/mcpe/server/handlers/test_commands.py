"""Commands: what they are given, what they may do, and how they end."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire.mcpe import BashHandlers, HandlerFailedError, RetryHandlerError
from kinwire_protocols.mcpe.models import BashEventHandler
from tests.runtime.mcpe.server.handlers.fixtures_work import DELIVERY, EVENT, Json, work_for

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="commands of POSIX"),
]

SHELL = "/bin/sh"
HANDLER: Json = {"type": "bash", "command": SHELL, "input": "stdin", "timeout": 5000}


def script(text: str, **more: Any) -> Json:
    return {**HANDLER, "args": ["-c", text], **more}


async def run(given: Json, *events: Json, **options: Any) -> None:
    work = work_for(given, *events)
    assert isinstance(work.handler, BashEventHandler)
    await BashHandlers([SHELL, "/does/not/exist"], **options).work(work, work.handler)


def pointers(given: Json, **options: Any) -> list[str]:
    handler = work_for(given).handler
    assert isinstance(handler, BashEventHandler)
    return [one.pointer for one in BashHandlers([SHELL], **options).problems(handler, "/handler")]


@pytest.mark.spec("mcpe-9.1-1", "mcpe-9.1-3")
@pytest.mark.parametrize(
    ("way", "text"),
    [("stdin", "cat"), ("env", 'printf %s "$MCPE_EVENT"'), ("args", 'printf %s "$1"')],
)
async def test_the_event_is_given_in_each_way(way: str, text: str, tmp_path: Path) -> None:
    args = ["-c", f"{{ {text}; }} > out; env > env; pwd > pwd", "sh"]
    given = {**HANDLER, "input": way, "args": args}
    await run(given, folders=[str(tmp_path)])
    assert json.loads((tmp_path / "out").read_text("utf-8")) == EVENT
    await run(given, EVENT, EVENT, folders=[str(tmp_path)])
    assert json.loads((tmp_path / "out").read_text("utf-8")) == [EVENT, EVENT]
    variables = dict(
        line.split("=", 1) for line in (tmp_path / "env").read_text("utf-8").splitlines()
    )
    assert variables["MCPE_DELIVERY_ID"] == DELIVERY
    assert (variables["MCPE_ATTEMPT"], variables["MCPE_SUBSCRIPTION_ID"]) == ("1", "sub-1")


@pytest.mark.spec("mcpe-9.1-2", "mcpe-11.4-4")
async def test_no_shell_reads_the_words_and_few_variables_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "s3cret")
    given = script('env > env; printf %s "$1" > word', env={"GREETING": "$(id)"})
    given["args"] += ["sh", "; touch hacked"]
    await run(given, variables=["GREETING"], folders=[str(tmp_path)])
    found = (tmp_path / "env").read_text("utf-8")
    assert "GREETING=$(id)" in found
    assert "s3cret" not in found
    assert (tmp_path / "word").read_text("utf-8") == "; touch hacked"
    assert not (tmp_path / "hacked").exists()


async def test_exit_codes() -> None:
    await run(script("exit 0"))
    with pytest.raises(RetryHandlerError):
        await run(script("exit 75"))
    for code in ("exit 1", "kill -9 $$"):
        with pytest.raises(HandlerFailedError, match=r"has ended with (1|-9)") as failed:
            await run(script(code))
        assert not isinstance(failed.value, RetryHandlerError)
    with pytest.raises(HandlerFailedError, match="cannot be started"):
        await run({**HANDLER, "command": "/does/not/exist"})


@pytest.mark.spec("mcpe-9.1-4")
async def test_what_takes_too_long_ends_with_all_that_it_has_started(tmp_path: Path) -> None:
    """Also if it does not read an event of a mebibyte, and a pipeline holds on."""
    large = {**EVENT, "data": {"text": "x" * 1024 * 1024}}
    text = "sleep 300 & echo $! > pid; yes | while read x; do sleep 1; done"
    begun = time.monotonic()
    with pytest.raises(HandlerFailedError, match=r"not done after 0\.2 seconds"):
        await run(script(text, timeout=200), large, folders=[str(tmp_path)])
    with pytest.raises(HandlerFailedError, match=r"not done after 0\.1 seconds"):
        await run(script("sleep 300", timeout=60_000), timeout=0.1)
    assert time.monotonic() - begun < 3
    await dead(int((tmp_path / "pid").read_text("utf-8")))
    await run(script("exit 0"))


async def test_what_a_command_does_to_its_folder_does_not_make_it_fail(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "letter").touch()
    await run(script('rm -r "$PWD"'))
    await run(script(f'cd /; rm -r "$OLDPWD"; ln -s {kept} "$OLDPWD"'))
    await run(script("mkdir -p a/b; chmod 0 a"))
    assert (kept / "letter").exists()


@pytest.mark.parametrize(
    ("number", "passes"), [(errno.EMFILE, True), (errno.ENOSPC, True), (errno.EACCES, False)]
)
@pytest.mark.parametrize(
    "place", ["tempfile.TemporaryFile", "tempfile.mkdtemp", "subprocess.Popen", "wait_for_exit"]
)
async def test_a_machine_that_is_full_may_have_room_later(
    place: str, number: int, passes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(number, "secret")

    monkeypatch.setattr(f"kinwire.mcpe.server.handlers.bash.{place}", fail)
    with pytest.raises(HandlerFailedError) as failed:
        await run(script("exit 0"))
    assert isinstance(failed.value, RetryHandlerError) is passes
    assert "secret" not in failed.value.reason


async def test_what_a_command_has_left_behind_is_killed(tmp_path: Path) -> None:
    await run(script("sleep 300 & echo $! > pid"), folders=[str(tmp_path)])
    await dead(int((tmp_path / "pid").read_text("utf-8")))


async def dead(pid: int) -> None:
    """Return when a process has ended, whether somebody has waited for it or not."""
    with anyio.fail_after(3):
        while alive(pid):  # noqa: ASYNC110 - it was killed, and ends in a moment
            await anyio.sleep(0.002)


def alive(pid: int) -> bool:
    try:
        if sys.platform == "linux":
            return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
        os.kill(pid, 0)
    except (FileNotFoundError, ProcessLookupError):
        return False
    return True


async def test_an_event_too_long_for_a_word_is_refused() -> None:
    large = {**EVENT, "data": {"text": "x" * 128 * 1024}}
    for way in ("env", "args"):
        with pytest.raises(HandlerFailedError, match="too long"):
            await run(script("exit 0", input=way), large)


@pytest.mark.skipif(sys.platform != "linux", reason="prlimit of Linux")
async def test_memory_is_limited() -> None:
    text = f"sleep 0.05; exec {sys.executable} -S -c 'x = bytearray(2**28)'"
    await run(script(text))
    with pytest.raises(HandlerFailedError, match="has ended with"):
        await run(script(text), memory=128 * 1024 * 1024)


async def test_what_is_refused_at_the_subscription(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "link").symlink_to("/")
    folders = [str(tmp_path)]
    table: list[tuple[Json, list[str]]] = [
        ({}, []),
        ({"command": "/bin/ls"}, ["command"]),
        ({"command": "sh"}, ["command"]),
        ({"timeout": 0}, ["timeout"]),
        ({"env": {"A": "b"}}, []),
        ({"env": {"LD_PRELOAD": "b", "A": ""}}, ["env"]),
        ({"cwd": str(tmp_path / "in")}, []),
        ({"cwd": str(tmp_path / "in" / ".." / "..")}, ["cwd"]),
        ({"cwd": str(tmp_path / "link" / "etc")}, ["cwd"]),
        ({"cwd": "in"}, ["cwd"]),
        ({"cwd": "/"}, ["cwd"]),
        ({"args": ["a"] * 101}, [""]),
        ({"args": ["a" * 40_000]}, [""]),
        ({"args": ["a\0b"]}, [""]),
    ]
    for change, places in table:
        found = pointers({**HANDLER, **change}, variables=["A"], folders=folders)
        assert found == [f"/handler/{one}".rstrip("/") for one in places], change
    only_flags = {"check": lambda command, args: all(one.startswith("-") for one in args)}
    assert pointers({**HANDLER, "args": ["-x"]}, **only_flags) == []
    assert pointers({**HANDLER, "args": ["-c", "id"]}, **only_flags) == ["/handler/args"]
