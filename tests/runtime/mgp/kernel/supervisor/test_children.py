"""Real child processes under a supervisor: killed, hung, exiting, and what they leave behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import ConnectionClosedError
from kinwire.mgp import RestartRules, ServerStatus, Supervisor
from kinwire.mgp.kernel.supervisor import group_memory, watching
from kinwire.transports import child, process
from kinwire_protocols.mgp.errors import ServerNotReadyError
from tests.runtime.mgp.fixtures_kernel import audited, outcome
from tests.runtime.mgp.kernel.supervisor.fixtures_supervisor import (
    Children,
    reached,
    supervising,
    ways,
)

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="signals and groups are of POSIX"),
]

SOON = RestartRules(backoff_base=0.05)


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait less for processes that do not end by themselves."""
    for name in ("BY_ITSELF", "_AFTER_TERM", "_REST_OF_GROUP"):
        monkeypatch.setattr(process, name, 0.1)
    monkeypatch.setattr(child, "_LAST_WORDS", 0.1)


async def answer(supervisor: Supervisor, name: str, **arguments: Any) -> int:
    """Return the process id that a tool answers with."""
    result = await supervisor["s"].mcp.tools_call(name=name, arguments=arguments)
    return int(result.content[0].text)  # type: ignore[union-attr]


@pytest.mark.spec("mgp-11-1", "mgp-11.1-1", "mgp-11.2-4")
async def test_a_killed_server_starts_again_and_each_call_fails_once(tmp_path: Path) -> None:
    """Fifty calls under way, kill -9: each fails within a second, none is run again."""
    children = Children(tmp_path, "grandchild", restart=SOON, when_restarting="wait")
    failures: list[float] = []
    with audited() as events:
        async with supervising(children.spec) as supervisor:
            server = supervisor["s"]
            await server.wait_connected()

            async def call() -> None:
                with pytest.raises(ConnectionClosedError) as raised:
                    await server.mcp.tools_call(name="hang")
                assert raised.value.exit_code == -9
                failures.append(time.perf_counter())

            async with anyio.create_task_group() as tasks:
                for _call in range(50):
                    tasks.start_soon(call)
                await answer(supervisor, "slow", seconds=0)  # so all of them have come
                assert server.status.pid == children.pids()[0]
                killed = time.perf_counter()
                os.kill(children.pids()[0], signal.SIGKILL)
            assert len(failures) == 50
            assert max(failures) - killed < 1
            assert await answer(supervisor, "slow", seconds=0) == children.pids()[1]
            assert (server.status.restarts, len(children.pids("grandchild"))) == (1, 2)
    assert len(events.of("SERVER_DISCONNECTED")) == 2  # this one, and that at the end
    await children.gone()


async def test_servers_end_by_code_and_by_signal_and_policies_decide(tmp_path: Path) -> None:
    """Exit 0, exit 1, a signal; by all three policies, over real processes."""
    expected = {
        ("never", 1): "error",
        ("on_failure", 0): "error",
        ("on_failure", 1): "restarting",
        ("always", 0): "restarting",
        ("on_failure", "SIGTERM"): "restarting",
    }
    found: dict[Any, str] = {}

    async def one(policy: Any, how: Any) -> None:
        rules = RestartRules(policy=policy, backoff_base=600, backoff_max=600)
        folder = tmp_path / f"{policy}-{how}"
        folder.mkdir()
        children = Children(folder, restart=rules)
        async with supervising(children.spec) as supervisor:
            await supervisor["s"].wait_connected()
            if how == "SIGTERM":
                os.kill(children.pids()[0], signal.SIGTERM)
            else:
                await outcome_of_end(supervisor, how)
            await reached(supervisor, "s", "error", "restarting")
            found[policy, how] = supervisor["s"].status.state
        await children.gone()

    async with anyio.create_task_group() as tasks:
        for policy, how in expected:
            tasks.start_soon(one, policy, how)
    assert found == expected


async def outcome_of_end(supervisor: Supervisor, code: int) -> None:
    with pytest.raises(ConnectionClosedError):
        await supervisor["s"].mcp.tools_call(name="end", arguments={"code": code})


async def test_a_program_that_dies_before_the_handshake_is_not_restarted_for_ever(
    tmp_path: Path,
) -> None:
    """Supervisor/supervisor#1285: four starts, growing gaps, one event, calls get 2000."""
    rules = RestartRules(max_restarts=3, window=300, backoff_base=0.02, backoff_max=1)
    children = Children(tmp_path, "die=1", restart=rules)
    with audited() as events:
        async with supervising(children.spec, jitter=lambda: 1.0) as supervisor:
            with pytest.raises(ServerNotReadyError):
                await supervisor["s"].wait_connected()
            assert supervisor["s"].status.state == "error"
            assert await outcome(supervisor["s"].mcp.tools_call(name="slow")) == 2000
            await anyio.sleep(0.05)
            assert len(children.times) == 4
            assert "exited with code 1" in supervisor["s"].status.note
    gaps = [later - earlier for earlier, later in pairwise(children.times)]
    assert all(gap >= 0.022 * 2**number for number, gap in enumerate(gaps))
    assert gaps[-1] < 2
    (event,) = events.of("SERVER_DISCONNECTED")
    assert event["details"]["reason"] == "restart_limit_exceeded"
    assert ways(events)[-2:] == ["connecting error", "error disconnected"]
    await children.gone()


async def test_zero_and_one_restarts_of_real_processes(tmp_path: Path) -> None:
    """ochinchina/supervisord#115; and a sixth failure in a window of five restarts."""
    for most in (0, 1, 5):
        rules = RestartRules(max_restarts=most, backoff_base=0)
        children = Children(tmp_path, "die=0", restart=rules)
        async with supervising(children.spec) as supervisor:
            with pytest.raises(ServerNotReadyError):
                await supervisor["s"].wait_connected()
            assert len(children.pids()) == most + 1
    with pytest.raises(ValueError, match="max_restarts"):
        RestartRules(max_restarts=-1)


async def test_failures_with_quiet_windows_between_them_never_add_up(tmp_path: Path) -> None:
    """Supervisor/supervisor#1109, with a window of 40 ms: six crashes, and it runs."""
    rules = RestartRules(max_restarts=3, window=0.04, backoff_base=0.001)
    children = Children(tmp_path, restart=rules)
    async with supervising(children.spec) as supervisor:
        for crash in range(6):
            await supervisor["s"].wait_connected()
            if crash % 2 == 0:
                await anyio.sleep(0.05)
            await outcome_of_end(supervisor, 1)
            with anyio.fail_after(20):
                while supervisor["s"].status.restarts == crash:  # it may be connected by now
                    await supervisor._actors["s"].news.wait()
        await supervisor["s"].wait_connected()
        assert supervisor["s"].status.restarts == 6


async def test_a_hung_server_is_killed_with_what_it_has_started(tmp_path: Path) -> None:
    """SIGSTOP: it misses its pings, and does not read that its input ends."""
    children = Children(tmp_path, "grandchild", restart=SOON, **QUICK_PINGS)
    async with supervising(children.spec) as supervisor:
        await supervisor["s"].wait_connected()
        for pid in (*children.pids(), *children.pids("grandchild")):
            os.kill(pid, signal.SIGSTOP)
        await reached(supervisor, "s", "restarting")
        assert "pings" in supervisor["s"].status.note
        await supervisor["s"].wait_connected()
        assert len(children.pids()) == 2
    await children.gone()


QUICK_PINGS: dict[str, Any] = {"ping_interval": 0.02, "ping_timeout": 0.05, "ping_misses": 3}


async def test_a_program_that_stood_still_itself_restarts_nothing(tmp_path: Path) -> None:
    """As after SIGSTOP and SIGCONT: each ping is late, and the answers are there already."""
    children = Children(tmp_path, restart=SOON, **QUICK_PINGS)
    async with supervising(children.spec) as supervisor:
        await supervisor["s"].wait_connected()
        for _time in range(3):
            time.sleep(0.2)  # noqa: ASYNC251 - that is what is tested
            await anyio.sleep(0.03)
        health = supervisor["s"].status.health
        assert health is not None
        with anyio.fail_after(20), supervisor.changes() as changes:
            while health.misses:
                await anext(changes)
                health = supervisor["s"].status.health
                assert health is not None
        assert (supervisor["s"].status.state, len(children.pids())) == ("connected", 1)


@pytest.mark.spec("mgp-11.4-mgp-lifecycle-shutdown-6")
async def test_a_group_with_too_much_memory_is_shut_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("psutil")
    monkeypatch.setattr(watching, "MEMORY_INTERVAL", 0.02)
    monkeypatch.setattr(group_memory, "_KEPT", 0.0)
    children = Children(tmp_path, "grandchild", restart=SOON, max_memory_bytes=100_000_000)
    async with supervising(children.spec) as supervisor:
        await supervisor["s"].wait_connected()
        group = children.pids()[0]
        alone = await supervisor._services.memory.of(group)
        assert 5_000_000 < alone < 100_000_000
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(answer, supervisor, "grow", bytes=120_000_000))
            await reached(supervisor, "s", "draining")
        assert "are allowed" in (await reached_again(supervisor)).note
        assert len(children.pids()) == 2
    await children.gone()


async def reached_again(supervisor: Supervisor) -> ServerStatus:
    """Return what is said of a server before it starts again."""
    await reached(supervisor, "s", "restarting")
    status = supervisor["s"].status
    await supervisor["s"].wait_connected()
    return status


async def test_a_stop_in_the_middle_of_a_start_leaves_no_process(tmp_path: Path) -> None:
    children = Children(tmp_path, "mute", "grandchild", restart=SOON, start_timeout=60)
    async with supervising(children.spec) as supervisor:
        with anyio.fail_after(20):
            while not children.pids("grandchild"):  # noqa: ASYNC110 - it reports to nobody here
                await anyio.sleep(0.005)
        await supervisor.stop("s")
        assert supervisor["s"].status.state == "disconnected"
        await children.gone()


async def test_lines_of_stderr_are_kept_over_restarts(tmp_path: Path) -> None:
    children = Children(tmp_path, restart=SOON)
    async with supervising(children.spec) as supervisor:
        server = supervisor["s"]
        await server.wait_connected()
        await outcome_of_end(supervisor, 1)
        lines = await server.log.wait_after(1)
        assert [(line.number, line.text) for line in server.log.after()] == [
            (number + 1, f"started {pid}") for number, pid in enumerate(children.pids())
        ]
        assert lines[0].at <= time.time()


async def test_a_kernel_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    children = Children(tmp_path, "grandchild", "deaf", restart=SOON)
    with anyio.CancelScope() as scope:
        async with supervising(children.spec) as supervisor:
            await supervisor["s"].wait_connected()
            scope.cancel()
            await anyio.sleep_forever()
    await children.gone()


async def test_a_process_that_nobody_calls_ends_and_the_next_call_starts_another(
    tmp_path: Path,
) -> None:
    children = Children(tmp_path, "grandchild", restart=SOON, when_restarting="wait")
    async with supervising(replace(children.spec, idle_timeout=0.02)) as supervisor:
        await reached(supervisor, "s", "disconnected")
        await children.gone()
        assert supervisor["s"].status.note.endswith("The next call starts it.")
        await supervisor.replace([children.spec])
        assert await answer(supervisor, "slow", seconds=0) == children.pids()[1]
    await children.gone()
