"""Calls of a supervised server while it drains, restarts or ends, seen by a raw JSON peer."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire import ConnectionClosedError
from kinwire.mgp import RestartRules, SupervisedServer
from kinwire_protocols.mgp.errors import (
    ServerDrainingError,
    ServerNotReadyError,
    ServerRestartingError,
)
from tests.runtime.mgp.fixtures_kernel import audited, outcome
from tests.runtime.mgp.kernel.supervisor.fixtures_raw import (
    LATER,
    OFFER,
    SHUTDOWN,
    Raws,
    SilentServer,
    run,
    spec,
)
from tests.runtime.mgp.kernel.supervisor.fixtures_supervisor import reached, supervising
from tests.runtime.mgp.raw_peers import NOTHING

pytestmark = pytest.mark.anyio

GIVEN_UP = RestartRules(max_restarts=0)


@pytest.mark.spec("mgp-11.2-5", "mgp-14.3-8", "mgp-11.4-mgp-lifecycle-shutdown-1")
async def test_a_plain_server_is_drained_by_refusing_calls_and_waiting_for_the_others() -> None:
    raws = Raws(answers={"tools/call": NOTHING})
    async with supervising(spec(), raw=raws) as supervisor:
        server = supervisor["s"]
        connection = await server.wait_connected()
        results: list[Any] = []

        async def call() -> None:
            results.append(await run(server))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await raws[0].wait_for("tools/call", 1)
            tasks.start_soon(supervisor.stop, "s")
            await reached(supervisor, "s", "draining")
            with pytest.raises(ServerDrainingError):
                await connection.mcp.tools_call(name="run")
            with pytest.raises(ServerDrainingError):
                await connection.session.raw("resources/list", {})
            with pytest.raises(ServerDrainingError):
                await server.mcp.tools_list()
            assert (server.status.state, results) == ("draining", [])
            (asked,) = [one for one in raws[0].heard if one.get("method") == "tools/call"]
            raws[0].say(id=asked["id"], result={"content": []})
        assert len(results) == len(raws[0].calls) == 1
        assert not isinstance(results[0], int)


async def test_a_call_that_a_state_refuses_is_audited() -> None:
    raws = Raws(answers={"tools/call": NOTHING})
    with audited() as events:
        async with supervising(spec(drain_timeout=600), raw=raws) as supervisor:
            connection = await supervisor["s"].wait_connected()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(outcome, connection.mcp.tools_call(name="run"))
                await raws[0].wait_for("tools/call", 1)
                tasks.start_soon(supervisor.stop, "s")
                await reached(supervisor, "s", "draining")
                assert await outcome(connection.session.raw("tools/call", {"name": "run"})) == 2001
                assert await outcome(connection.session.raw("tools/call", {"name": 1})) == 2001
                raws[0].say(id=raws[0].heard[-1]["id"], result={"content": []})
            assert await run(supervisor["s"]) == 2000
    blocked = [one for one in events.of("TOOL_BLOCKED") if one["details"]["reason"] == "state"]
    assert [(one["target"].get("tool_name"), one["details"]["code"]) for one in blocked] == [
        ("run", 2001),
        (None, 2001),
        ("run", 2000),
    ]


async def test_a_call_that_never_ends_is_dropped_after_the_drain_or_a_second_stop() -> None:
    for drain_timeout, stops in ((0.02, 1), (600, 2)):
        raws = Raws(answers={"tools/call": NOTHING})
        async with supervising(spec(drain_timeout=drain_timeout), raw=raws) as supervisor:
            await supervisor["s"].wait_connected()

            async def call(server: SupervisedServer = supervisor["s"]) -> None:
                with pytest.raises(ConnectionClosedError):
                    await server.mcp.tools_call(name="run")

            with anyio.fail_after(20):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(call)
                    await raws[0].wait_for("tools/call", 1)
                    for _stop in range(stops):
                        tasks.start_soon(supervisor.stop, "s")
                        await reached(supervisor, "s", "draining", "disconnected")


@pytest.mark.spec("mgp-14.3-9", "mgp-11.2-8", "mgp-11.2-11")
async def test_calls_during_a_restart_are_refused_or_wait_as_the_spec_says() -> None:
    """Code 2002 says when to come again; a call that waits is sent once, after the restart."""
    for when in ("refuse", "wait"):
        raws = Raws()
        options: dict[str, Any] = {"restart": LATER, "when_restarting": when}
        async with supervising(spec(**options), raw=raws) as supervisor:
            server = supervisor["s"]
            await server.wait_connected()
            raws[0].hang_up()
            await reached(supervisor, "s", "restarting")
            assert server.status.restart_at is not None
            if when == "refuse":
                with pytest.raises(ServerRestartingError) as raised:
                    await server.mcp.tools_call(name="run")
                assert 590_000 < raised.value.data["_mgp"]["retry_after_ms"] <= 600_000
                continue
            async with anyio.create_task_group() as tasks:
                for _call in range(2):
                    tasks.start_soon(run, server)
                await anyio.wait_all_tasks_blocked()
                await supervisor.start("s")  # not after ten minutes
            assert [len(one.calls) for one in raws] == [0, 2]


async def test_a_call_waits_no_longer_than_it_may_nor_for_a_server_that_stays_down() -> None:
    never = RestartRules(policy="never")
    for rules, within, code in ((LATER, 0.01, 2002), (never, 600.0, 2000)):
        raws = Raws()
        options: dict[str, Any] = {"wait_timeout": within, "when_restarting": "wait"}
        async with supervising(spec(restart=rules, **options), raw=raws) as supervisor:
            await supervisor["s"].wait_connected()
            raws[0].hang_up()
            await reached(supervisor, "s", "restarting", "error")
            with anyio.fail_after(20):
                assert await run(supervisor["s"]) == code


async def test_a_call_that_waits_goes_on_over_an_ordered_restart() -> None:
    raws = Raws(answers={"tools/call": NOTHING})
    options: dict[str, Any] = {"when_restarting": "wait", "drain_timeout": 600}
    async with supervising(spec(**options), raw=raws) as supervisor:
        server = supervisor["s"]
        await server.wait_connected()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, server)
            await raws[0].wait_for("tools/call", 1)
            tasks.start_soon(supervisor.restart, "s")
            await reached(supervisor, "s", "draining")
            tasks.start_soon(run, server)
            await anyio.wait_all_tasks_blocked()
            for number in range(2):
                await reached(supervisor, "s", "draining" if number == 0 else "connected")
                await raws[number].wait_for("tools/call", 1)
                (call,) = [one for one in raws[number].heard if one.get("method") == "tools/call"]
                raws[number].say(id=call["id"], result={"content": []})
                await anyio.wait_all_tasks_blocked()
        assert [len(one.calls) for one in raws] == [1, 1]


async def test_fifty_calls_under_way_fail_once_each_and_are_not_repeated() -> None:
    raws = Raws(answers={"tools/call": NOTHING})
    async with supervising(spec(when_restarting="wait"), raw=raws) as supervisor:
        server = supervisor["s"]
        await server.wait_connected()
        failures: list[str] = []

        async def call() -> None:
            with pytest.raises(ConnectionClosedError) as raised:
                await server.mcp.tools_call(name="run")
            failures.append(raised.value.reason)

        async with anyio.create_task_group() as tasks:
            for _call in range(50):
                tasks.start_soon(call)
            await anyio.wait_all_tasks_blocked()
            raws[0].hang_up(-9)
        await server.wait_connected()
        assert [len(failures), *(len(one.calls) for one in raws)] == [50, 50, 0]


@pytest.mark.spec("mgp-11.2-8", "mgp-11.4-mgp-lifecycle-shutdown-7")
async def test_a_call_starts_a_server_that_was_idle_and_waits_or_is_refused_once() -> None:
    """It is sent once; several calls start one process; restarts are counted on."""
    for when in ("refuse", "wait"):
        raws = Raws()
        options: dict[str, Any] = {"idle_timeout": 0.02, "when_restarting": when}
        async with supervising(spec(**options), raw=raws) as supervisor:
            server = supervisor["s"]
            await server.wait_connected()
            await reached(supervisor, "s", "disconnected")
            with pytest.raises(ServerNotReadyError):
                _ = server.connection  # nobody has called
            await supervisor.replace([spec(when_restarting=when)])  # and now it is not idle
            assert (server.status.state, len(raws)) == ("disconnected", 1)
            results: list[Any] = []

            async def call(results: list[Any] = results, server: SupervisedServer = server) -> None:
                results.append(await run(server))

            async with anyio.create_task_group() as tasks:
                for _call in range(3):
                    tasks.start_soon(call)
            assert [one == 2002 for one in results] == [when == "refuse"] * 3
            await server.wait_connected()
            assert [len(one.calls) for one in raws] == [0, 0 if when == "refuse" else 3]
            assert (server.status.restarts, server.status.note) == (1, "")


async def test_a_call_that_comes_while_an_idle_server_drains_waits_for_its_next_start() -> None:
    raws = Raws(OFFER, {SHUTDOWN: {"accepted": True}})
    options: dict[str, Any] = {"drain_timeout": 600, "when_restarting": "wait"}
    async with supervising(spec(**options, idle_timeout=0.02), raw=raws) as supervisor:
        server = supervisor["s"]
        await server.wait_connected()
        await raws[0].wait_for(SHUTDOWN, 1)
        supervisor._actors["s"].spec = spec(when_restarting="wait", drain_timeout=0.01)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, server)
            await anyio.wait_all_tasks_blocked()
            raws[0].hang_up(0)
        assert [len(one.calls) for one in raws] == [0, 1]


async def test_a_call_starts_no_server_that_an_operator_has_stopped() -> None:
    """Also where it was idle before; one whose start by a call fails is left to its policy."""
    raws = Raws()
    options: dict[str, Any] = {"idle_timeout": 0.02, "when_restarting": "wait"}
    async with supervising(spec(**options), raw=raws) as supervisor:
        server = supervisor["s"]
        await server.wait_connected()
        await reached(supervisor, "s", "disconnected")
        await supervisor.stop("s")
        assert server.status.note == "It was stopped by an operator."
        assert await run(server) == 2000
        await supervisor.start("s")
        await reached(supervisor, "s", "disconnected")
        raws.kind = SilentServer
        await supervisor.replace([spec(**options, start_timeout=0.01, restart=GIVEN_UP)])
        assert [await run(server), await run(server), len(raws)] == [2000, 2000, 3]
        assert server.status.state == "error"


async def test_a_start_by_a_call_forgives_no_restarts() -> None:
    raws = Raws()
    rules = RestartRules(max_restarts=1, backoff_base=0)
    async with supervising(spec(restart=rules), raw=raws) as supervisor:
        server = supervisor["s"]
        await server.wait_connected()
        raws[0].hang_up()
        await reached(supervisor, "s", "restarting", "connecting")
        await server.wait_connected()
        await supervisor.replace([spec(restart=rules, idle_timeout=0.01)])
        await reached(supervisor, "s", "disconnected")
        await supervisor.replace([spec(restart=rules)])
        await server.wait_connected()
        raws[2].hang_up()
        await reached(supervisor, "s", "restarting", "error")
        assert (server.status.state, len(raws)) == ("error", 3)
