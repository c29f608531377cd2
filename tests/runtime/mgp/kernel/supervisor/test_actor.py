"""A supervised server that is a raw JSON peer: its states, its ends, and who hears of them."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire import ConnectionClosedError
from kinwire.mgp import MgpKernel, RestartRules, ServerPolicy, ServerSpec
from kinwire_protocols.mgp.errors import ServerNotReadyError
from tests.runtime.mgp.fixtures_kernel import audited
from tests.runtime.mgp.kernel.supervisor.fixtures_raw import (
    LATER,
    LIFECYCLE,
    OFFER,
    SHUTDOWN,
    Raws,
    SilentServer,
    run,
    spec,
)
from tests.runtime.mgp.kernel.supervisor.fixtures_supervisor import reached, supervising, ways
from tests.runtime.mgp.raw_peers import NOTHING, Json, RawServer, tool

pytestmark = pytest.mark.anyio


@pytest.mark.spec("mgp-11.2-2", "mgp-11.2-3", "mgp-11.2-6")
async def test_a_server_follows_orders_from_state_to_state() -> None:
    raws = Raws()
    with audited() as events:
        async with supervising(raw=raws) as supervisor:
            server = await supervisor.add(spec(), start=False)
            await anyio.wait_all_tasks_blocked()
            assert (server.status.state, server.status.note, raws) == ("registered", "", [])
            assert await run(server) == 2000
            await supervisor.start("s")
            assert server.status.state == "connected"
            await supervisor.start("s")  # it runs already
            await supervisor.stop("s")
            assert (server.status.state, len(raws), raws[0].closed) == ("disconnected", 1, True)
            assert server.status.note == "It was stopped by an operator."
            await supervisor.stop("s")
            assert await run(server) == 2000
            await supervisor.start("s")
            await supervisor.restart("s")
            assert (len(raws), server.status.restarts) == (3, 1)
    up = ["connecting connected", "connected draining"]
    assert ways(events) == [
        *("registered connecting", *up, "draining disconnected"),
        *("disconnected connecting", *up, "draining restarting"),
        *("restarting connecting", *up, "draining disconnected"),
    ]


@pytest.mark.spec("mgp-11.4-mgp-lifecycle-shutdown-4", "mgp-11.4-notifications-mgp.lifecycle-2")
async def test_a_server_that_speaks_mgp_hears_its_states_and_is_asked_to_shut_down() -> None:
    raws = Raws(OFFER, {SHUTDOWN: {"accepted": True, "pending_requests": 0}})
    async with supervising(spec(drain_timeout=20), raw=raws, clock=lambda: 1_772_193_600.0) as one:
        await one["s"].wait_connected()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one.stop, "s")
            (said,) = await raws[0].wait_for(SHUTDOWN, 1)
            assert (said["reason"], said["timeout_ms"]) == ("operator_request", 20_000)
            assert await run(one["s"]) == 2001
            await raws[0].settle()
            raws[0].hang_up()
    told = raws[0].of(LIFECYCLE)
    assert [(change["previous_state"], change["new_state"]) for change in told] == [
        ("connecting", "connected"),
        ("connected", "draining"),
    ]
    assert told[1] == {
        "server_id": "s",
        "previous_state": "connected",
        "new_state": "draining",
        "reason": "operator_request",
        "timestamp": "2026-02-27T12:00:00.000Z",
    }


async def test_only_trusted_servers_hear_of_others_and_plain_ones_of_nothing() -> None:
    raws: dict[str, RawServer] = {}

    def raw(wanted: ServerSpec) -> RawServer:
        offer = None if wanted.id == "plain" else {**OFFER, "trust_level": wanted.id}
        raws[wanted.id] = RawServer(tool("run"), mgp=offer)
        return raws[wanted.id]

    kernel = MgpKernel(unknown=ServerPolicy(trust="trusted"))
    names = ("plain", "standard", "trusted")
    async with supervising(*map(spec, names), raw=raw, kernel=kernel) as supervisor:
        for name in names:
            await supervisor[name].wait_connected()
        await supervisor.add(spec("late"))
        await supervisor["late"].wait_connected()
        await raws["trusted"].settle()
        found = {name: {one["server_id"] for one in raws[name].of(LIFECYCLE)} for name in names}
    assert (found["plain"], found["standard"]) == (set(), {"standard"})
    assert "late" in found["trusted"]


async def test_a_server_that_does_not_read_holds_up_nothing() -> None:
    raws = Raws(OFFER)
    async with supervising(spec(drain_timeout=0.01), raw=raws) as supervisor:
        await supervisor["s"].wait_connected()
        await supervisor.add(spec("other"))
        raws[0].reads = False
        with anyio.fail_after(20):
            for _time in range(3):
                await supervisor.restart("other")
        assert supervisor["s"].status.state == "connected"


@pytest.mark.spec("mgp-11.2-7", "mgp-11.5-1")
async def test_policies_hold_for_ends_with_a_code_and_for_announced_ones() -> None:
    """An end that nobody asked for is an error; an exit with 0 restarts under `always` alone."""
    expected: dict[tuple[Any, Any], str] = {
        ("never", 1): "error",
        ("never", 0): "error",
        ("on_failure", 1): "restarting",
        ("on_failure", 0): "error",
        ("on_failure", None): "restarting",
        ("always", 0): "restarting",
        ("always", "announced"): "restarting",
        ("on_failure", "announced"): "disconnected",
        ("never", "announced"): "disconnected",
    }
    found: dict[tuple[Any, Any], str] = {}
    for policy, how in expected:
        raws = Raws(OFFER)
        rules = RestartRules(policy=policy, backoff_base=600, backoff_max=600)
        async with supervising(spec(restart=rules), raw=raws) as supervisor:
            await supervisor["s"].wait_connected()
            if how == "announced":  # by a server that claims to be an operator
                said = {"server_id": "s", "previous_state": "connected"}
                said |= {"new_state": "draining", "reason": "operator_request"}
                raws[0].say(method=LIFECYCLE, params=said)
                await reached(supervisor, "s", "draining")
                assert await run(supervisor["s"]) == 2001
            raws[0].hang_up(0 if how == "announced" else how)
            await reached(supervisor, "s", "error", "restarting", "disconnected")
            found[policy, how] = supervisor["s"].status.state
    assert found == expected


async def test_what_a_server_says_of_itself_moves_nothing_else() -> None:
    """Nor does it speak for others; one that announces its end is ended when its time is over."""
    raws = Raws(OFFER)
    rules: dict[str, Any] = {"restart": LATER, "drain_timeout": 0.02}
    async with supervising(spec(**rules), raw=raws) as supervisor:
        await supervisor["s"].wait_connected()
        await (await supervisor.add(spec("other"))).wait_connected()
        said: Json = {"server_id": "other", "previous_state": "x"}
        for state in ("error", "disconnected", "restarting", "registered", "new", 1):
            raws[0].say(method=LIFECYCLE, params={**said, "new_state": state})
        await raws[0].settle()
        assert supervisor["s"].status.state == supervisor["other"].status.state == "connected"
        raws[0].say(method=LIFECYCLE, params={**said, "new_state": "draining"})
        await reached(supervisor, "s", "restarting")  # when its 20 ms of draining are over
        assert supervisor["other"].status.state == "connected"


@pytest.mark.spec("mgp-11.5-7", "mgp-11.5-6", "mgp-14.3-7")
async def test_a_server_that_is_given_up_is_audited_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    raws = Raws()
    rules = RestartRules(max_restarts=2, backoff_base=0)
    with audited() as events:
        async with supervising(spec(restart=rules), raw=raws) as supervisor:
            server = supervisor["s"]
            for start in range(3):
                await server.wait_connected()
                raws[start].hang_up()
                await reached(supervisor, "s", "connecting", "error")
            await raws[-1].settle()
            assert (len(raws), server.status.state) == (3, "error")
            with pytest.raises(ServerNotReadyError):
                await server.mcp.tools_call(name="run")
            with pytest.raises(ServerNotReadyError):
                await server.wait_connected()
            given_up = [one["details"] for one in events.of("SERVER_DISCONNECTED")]
            assert [one for one in given_up if one] == [
                {
                    "reason": "restart_limit_exceeded",
                    "max_restarts": 2,
                    "restart_window_secs": 300,
                }
            ]
            assert len(given_up) == 4  # one for each end, and this one
            assert "s: given up after 2 restarts in 300 s" in caplog.messages
            await supervisor.start("s")
            assert server.status.state == "connected"


@pytest.mark.spec("mgp-11.4-mgp-lifecycle-shutdown-7")
async def test_a_server_without_calls_is_shut_down_as_idle() -> None:
    raws = Raws(OFFER, {SHUTDOWN: {"accepted": False}})
    async with supervising(spec(idle_timeout=0.02), raw=raws) as supervisor:
        await supervisor["s"].wait_connected()
        await reached(supervisor, "s", "disconnected")
        assert raws[0].of(SHUTDOWN)[0]["reason"] == "idle_timeout"
        assert supervisor["s"].status.note == (
            "It had no call for 0.02 s. The next call starts it."
        )
        await raws[0].settle()
        assert len(raws) == 1


async def test_a_server_with_a_call_is_not_idle() -> None:
    raws = Raws(answers={"tools/call": NOTHING})
    async with supervising(spec(drain_timeout=0), raw=raws) as supervisor:
        connection = await supervisor["s"].wait_connected()
        async with anyio.create_task_group() as tasks:

            async def call() -> None:
                with pytest.raises(ConnectionClosedError):
                    await connection.mcp.tools_call(name="run")

            tasks.start_soon(call)
            await raws[0].wait_for("tools/call", 1)
            await supervisor.replace([spec(idle_timeout=0.01, drain_timeout=0)])
            with anyio.move_on_after(0.05):
                await reached(supervisor, "s", "draining", "disconnected")
            assert supervisor["s"].status.state == "connected"
            await supervisor.stop("s")


async def test_a_server_that_does_not_answer_pings_is_restarted() -> None:
    raws = Raws()
    options: dict[str, Any] = {"ping_interval": 0.01, "ping_timeout": 0.01, "ping_misses": 3}
    with audited() as events:
        async with supervising(spec(**options, restart=LATER), raw=raws) as supervisor:
            await supervisor["s"].wait_connected()
            raws[0].silent_ping = True
            await reached(supervisor, "s", "restarting")
            assert len(raws[0].of("ping")) >= 3
            assert "3 pings" in supervisor["s"].status.note
    assert "connected error" in ways(events)


async def test_a_server_that_is_not_ready_is_not_dead() -> None:
    raws = Raws(OFFER, {"mgp/health/status": {"status": "unhealthy"}})
    async with supervising(spec(ping_interval=0.001), raw=raws) as supervisor:
        with supervisor.changes() as changes, anyio.fail_after(20):
            while supervisor["s"].status.health is None:
                await anext(changes)
        health = supervisor["s"].status.health
        assert health is not None
        assert health.status == "unhealthy"
        raws[0].heard.clear()
        await raws[0].wait_for("mgp/health/ping", 1)
        assert (supervisor["s"].status.state, len(raws)) == ("connected", 1)


async def test_a_start_that_takes_too_long_has_failed() -> None:
    raws = Raws(kind=SilentServer)
    rules = RestartRules(max_restarts=1, backoff_base=0)
    async with supervising(spec(start_timeout=0.01, restart=rules), raw=raws) as supervisor:
        with anyio.fail_after(20), pytest.raises(ServerNotReadyError):
            await supervisor["s"].wait_connected()
        assert (len(raws), supervisor["s"].status.state) == (2, "error")
        assert supervisor["s"].status.note == (
            "It did not answer initialize within 0.01 s, its start_timeout."
        )
        assert all(one.closed for one in raws)


async def test_a_mistake_of_ours_is_a_failure_of_the_server_alone() -> None:
    def broken(wanted: ServerSpec, log: Any) -> Any:
        raise RuntimeError("ours")

    rules = RestartRules(max_restarts=0)
    async with supervising(spec(restart=rules), launch=broken) as supervisor:
        with pytest.raises(ServerNotReadyError):
            await supervisor["s"].wait_connected()
        assert supervisor["s"].status.state == "error"


async def test_an_error_in_the_block_ends_all_servers_without_draining() -> None:
    raws = Raws(answers={"tools/call": NOTHING})

    async def fail() -> None:
        async with supervising(spec(), raw=raws) as supervisor:
            await supervisor["s"].wait_connected()
            raise RuntimeError("mine")

    with anyio.fail_after(20), pytest.raises(RuntimeError, match="mine"):
        await fail()
    assert raws[0].closed
