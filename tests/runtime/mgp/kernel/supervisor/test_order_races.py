"""Orders that meet a reload, an end that the server announces, or a lease that is lost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import anyio
import pytest

from kinwire import ConnectionClosedError
from kinwire.managers.leases import Lease
from kinwire.mgp import AuditOptions, MgpKernel, ServerSpec, Supervisor
from kinwire.mgp.kernel.supervisor.launch import Launch
from kinwire.mgp.kernel.supervisor.log_lines import LogLines
from kinwire.storage import open_store
from tests.runtime.mgp.fixtures_kernel import outcome
from tests.runtime.mgp.kernel.supervisor.fixtures_raw import (
    LATER,
    LIFECYCLE,
    OFFER,
    SHUTDOWN,
    Raws,
    run,
    spec,
)
from tests.runtime.mgp.kernel.supervisor.fixtures_supervisor import reached, supervising
from tests.runtime.mgp.raw_peers import NOTHING, RawServer

pytestmark = pytest.mark.anyio

ACCEPTED = {SHUTDOWN: {"accepted": True, "pending_requests": 0}}


def announce(raw: RawServer) -> None:
    """Let a server say that it shuts down, which need not be true."""
    said = {"server_id": "s", "previous_state": "connected", "new_state": "draining"}
    raw.say(method=LIFECYCLE, params={**said, "timestamp": "2026-02-27T12:00:00Z"})


async def cut_off(supervisor: Supervisor) -> None:
    """Call a tool whose server ends before it answers."""
    with pytest.raises(ConnectionClosedError):
        await run(supervisor["s"])


@pytest.mark.parametrize("when", ["before", "while it drains"])
async def test_a_reload_does_not_undo_a_stop(when: str) -> None:
    raws = Raws(OFFER, ACCEPTED)
    async with supervising(spec(drain_timeout=20), raw=raws) as supervisor:
        await supervisor["s"].wait_connected()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(supervisor.stop, "s")
            if when != "before":
                await raws[0].wait_for(SHUTDOWN, 1)
            tasks.start_soon(supervisor.replace, [spec(drain_timeout=20, args=["new"])])
            await raws[0].wait_for(SHUTDOWN, 1)
            await anyio.wait_all_tasks_blocked()
            raws[0].hang_up()
        await anyio.wait_all_tasks_blocked()
        assert (supervisor["s"].status.state, len(raws)) == ("disconnected", 1)


async def test_a_server_that_announces_its_end_and_stays_can_be_stopped() -> None:
    raws = Raws(OFFER)
    async with supervising(spec(drain_timeout=1000), raw=raws) as supervisor:
        await supervisor["s"].wait_connected()
        announce(raws[0])
        await reached(supervisor, "s", "draining")
        with anyio.fail_after(5):
            await supervisor.stop("s")
        assert (supervisor["s"].status.state, raws[0].closed) == ("disconnected", True)


async def test_a_stop_cuts_off_no_call_of_a_server_that_announces_its_end() -> None:
    raws = Raws(OFFER, {"tools/call": NOTHING})
    async with supervising(spec(drain_timeout=1000, restart=LATER), raw=raws) as supervisor:
        await supervisor["s"].wait_connected()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cut_off, supervisor)
            await raws[0].wait_for("tools/call", 1)
            announce(raws[0])
            await reached(supervisor, "s", "draining")
            tasks.start_soon(supervisor.stop, "s")
            await anyio.wait_all_tasks_blocked()
            assert not raws[0].closed
            await supervisor.stop("s")  # a second one ends it immediately
        assert (supervisor["s"].status.state, raws[0].closed) == ("disconnected", True)


async def test_a_reload_that_says_leased_starts_the_server_under_its_lease() -> None:
    raws = Raws()
    async with supervising(spec(), raw=raws) as supervisor:
        await supervisor["s"].wait_connected()
        await supervisor.replace([spec(leased=True)])
        await supervisor["s"].wait_connected()
        assert (len(raws), raws[0].closed) == (2, True)
        await supervisor.stop("s")
        await supervisor.replace([spec()])
        await anyio.wait_all_tasks_blocked()
        assert (len(raws), supervisor["s"].status.state) == (2, "registered")


async def test_reloads_at_the_same_time_follow_one_another() -> None:
    async with supervising(spec(), raw=Raws()) as supervisor:
        await supervisor["s"].wait_connected()
        async with anyio.create_task_group() as tasks:
            for leased in (True, True, False, True):
                tasks.start_soon(supervisor.replace, [spec(leased=leased)])
                await anyio.lowlevel.checkpoint()  # trio draws lots for the order of new tasks
            await anyio.wait_all_tasks_blocked()
        await supervisor["s"].wait_connected()
        assert supervisor._actors["s"].spec.leased


@dataclass
class FakeLease:
    """A lease that is held or not."""

    is_held: bool = True


async def test_no_call_reaches_a_server_whose_lease_is_over() -> None:
    """A kernel that was stopped for a while may get a call before it ends the server."""
    raws = Raws()
    async with supervising(spec(), raw=raws) as supervisor:
        connection = await supervisor["s"].wait_connected()
        lease = FakeLease()
        supervisor._actors["s"].lease = cast("Lease", lease)
        assert await run(supervisor["s"]) != 2002
        lease.is_held = False
        assert await run(supervisor["s"]) == 2002
        assert await outcome(connection.mcp.tools_call(name="run")) == 2002
        assert len(raws[0].of("tools/call")) == 1


async def test_a_server_that_starts_just_when_its_lease_is_lost_is_ended() -> None:
    raws = Raws()
    async with supervising(raw=raws) as supervisor:
        services = supervisor._services

        def launched(wanted: ServerSpec, log: LogLines) -> Launch:
            launch = services.launch(wanted, log)

            async def connect() -> Any:
                connection = await launch.connect()
                supervisor._tasks["s"].cancel()
                return connection

            return replace(launch, connect=connect)

        supervisor._services = replace(services, launch=launched)
        await supervisor.add(spec())
        actor = supervisor._actors["s"]
        with anyio.fail_after(5):
            while not actor.orders.closed:
                await actor.news.wait()
        assert [raw.closed for raw in raws] == [True]


async def test_the_audit_log_has_the_last_change_of_a_state_when_the_supervisor_has_ended() -> None:
    async with open_store("memory:") as store:
        log = await store.log("audit")
        kernel = MgpKernel(audit=AuditOptions(log=log))
        async with supervising(spec(), raw=Raws(), kernel=kernel) as supervisor:
            await supervisor["s"].wait_connected()
        entries = await log.read(after=0, limit=100)
    states = [one.value for one in entries if "server_state" in one.subject]
    assert "disconnected" in str(states[-1])
