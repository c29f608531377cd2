"""Several servers: orders, other specs, what is kept, and who reads the changes."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from kinwire import Host
from kinwire.mgp import MgpKernel, RestartRules, ServerSpec, Supervisor
from kinwire.mgp.kernel.supervisor import group_memory
from kinwire.mgp.kernel.supervisor.kept_histories import KeptHistories
from kinwire.rpc.errors import SessionStateError
from kinwire.storage import open_store
from kinwire.storage.errors import StorageUnavailableError
from kinwire.storage.records import Records
from tests.runtime.mgp.fixtures_kernel import audited
from tests.runtime.mgp.kernel.supervisor.fixtures_raw import (
    LATER,
    OFFER,
    SHUTDOWN,
    Raws,
    SilentServer,
    run,
    spec,
)
from tests.runtime.mgp.kernel.supervisor.fixtures_supervisor import reached, supervising, ways
from tests.runtime.mgp.raw_peers import RawServer, tool

pytestmark = pytest.mark.anyio


@pytest.mark.spec("mgp-11.4-mgp-lifecycle-shutdown-5", "mgp-11.4-mgp-lifecycle-shutdown-8")
async def test_other_specs_restart_only_what_they_change() -> None:
    raws: dict[str, list[RawServer]] = {}

    def raw(wanted: ServerSpec) -> RawServer:
        answers: dict[str, Any] = {SHUTDOWN: {"accepted": False}}
        made = RawServer(tool("run"), mgp=OFFER, **answers)
        raws.setdefault(wanted.id, []).append(made)
        return made

    names = ("same", "rules", "changed", "gone")
    async with supervising(*map(spec, names), raw=raw) as supervisor:
        for name in names:
            await supervisor[name].wait_connected()
        rules = spec("rules", idle_timeout=600, restart=LATER)
        changed = spec("changed", args=["--new"])
        await supervisor.replace([spec("same"), rules, changed, spec("new")])
        await supervisor["new"].wait_connected()
        starts = {name: len(made) for name, made in raws.items()}
        assert starts == {"same": 1, "rules": 1, "changed": 2, "gone": 1, "new": 1}
        assert [one.id for one in supervisor.servers] == ["same", "rules", "changed", "new"]
        for name in ("changed", "gone"):
            (said,) = raws[name][0].of(SHUTDOWN)
            assert said["reason"] == "configuration_change"
        raws["rules"][0].hang_up()
        await reached(supervisor, "rules", "restarting")  # by the new rules
        with pytest.raises(KeyError, match="Did you mean 'same'"):
            supervisor["sane"]
        with pytest.raises(ValueError, match="got two for 'a'"):
            await supervisor.replace([spec("a"), spec("a")])
        assert len(supervisor.servers) == 4
    assert raws["same"][0].of(SHUTDOWN)[0]["reason"] == "kernel_shutdown"


async def test_new_rules_hold_at_once_and_start_nothing_that_is_down() -> None:
    raws = Raws()
    async with supervising(spec(), raw=raws) as supervisor:
        await supervisor["s"].wait_connected()
        await supervisor.replace([spec(idle_timeout=0.01)])
        await reached(supervisor, "s", "disconnected")
        assert len(raws) == 1
        await supervisor.replace([spec(args=["--new"])])
        await raws[0].settle()
        assert (supervisor["s"].status.state, len(raws)) == ("disconnected", 1)


async def test_a_server_that_was_given_up_is_started_by_another_spec() -> None:
    raws = Raws()
    async with supervising(spec(restart=RestartRules(policy="never")), raw=raws) as supervisor:
        await supervisor["s"].wait_connected()
        raws[0].hang_up()
        await reached(supervisor, "s", "error")
        await supervisor.replace([spec(args=["--new"])])
        assert (supervisor["s"].status.state, len(raws)) == ("connected", 2)


async def test_an_order_ends_a_start_and_the_wait_for_a_restart() -> None:
    raws = Raws(kind=SilentServer)
    with audited() as events:
        async with supervising(spec(restart=LATER), raw=raws) as supervisor:
            await reached(supervisor, "s", "connecting")
            await supervisor.stop("s")
            assert (supervisor["s"].status.state, raws[0].closed) == ("disconnected", True)
            raws.kind = RawServer
            await supervisor.start("s")
            raws[-1].hang_up()
            await reached(supervisor, "s", "restarting")
            await supervisor.stop("s")
            assert supervisor["s"].status.restart_at is None
            await supervisor.restart("s")
            assert supervisor["s"].status.state == "connected"
    assert ways(events)[:6] == [
        *("registered connecting", "connecting disconnected"),
        *("disconnected connecting", "connecting connected"),
        *("connected error", "error restarting"),
    ]


async def test_a_restart_during_a_start_begins_the_start_again() -> None:
    raws = Raws(kind=SilentServer)
    async with supervising(spec(), raw=raws) as supervisor:
        await reached(supervisor, "s", "connecting")
        raws.kind = RawServer
        with anyio.fail_after(20):
            await supervisor.restart("s")
        assert (supervisor["s"].status.state, len(raws), raws[0].closed) == ("connected", 2, True)


async def test_the_newest_order_counts_and_everybody_who_gave_one_continues() -> None:
    raws = Raws()
    async with supervising(spec(), raw=raws) as supervisor:
        await supervisor["s"].wait_connected()
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                orders = (supervisor.stop, supervisor.restart, supervisor.stop, supervisor.start)
                for order in orders:
                    tasks.start_soon(order, "s")
                    for _turn in range(2):  # so the order is given before the next one
                        await anyio.lowlevel.checkpoint()
        assert supervisor["s"].status.state == "connected"


@asynccontextmanager
async def kept(raws: Raws, records: Records, wanted: ServerSpec) -> AsyncGenerator[Supervisor]:
    """Yield the supervisor of another kernel with the same records."""
    async with supervising(wanted, raw=raws, kernel=MgpKernel(records=records)) as supervisor:
        yield supervisor


async def test_a_start_at_the_moment_of_an_end_starts_the_server_again() -> None:
    raws = Raws()
    async with supervising(spec(restart=RestartRules(policy="never")), raw=raws) as supervisor:
        await supervisor["s"].wait_connected()
        raws[0].hang_up()
        await supervisor.start("s")
        await supervisor["s"].wait_connected()
        assert len(raws) == 2


async def test_restarts_outlive_the_kernel() -> None:
    raws, wanted = Raws(), spec(restart=RestartRules(max_restarts=2, backoff_base=0))
    async with open_store("memory:") as store:
        records = await store.records("mgp")
        async with kept(raws, records, wanted) as supervisor:
            for start in range(2):
                await supervisor["s"].wait_connected()
                raws[start].hang_up()
                await reached(supervisor, "s", "connecting")
            await supervisor["s"].wait_connected()
        async with kept(raws, records, wanted) as supervisor:
            await supervisor["s"].wait_connected()
            raws[-1].hang_up()
            await reached(supervisor, "s", "error")
            assert supervisor["s"].status.restarts == 0
            await supervisor.remove("s")
        assert [record.key async for record in records.scan("lifecycle/")] == []


async def test_a_stop_of_an_operator_outlives_the_kernel_and_a_start_too() -> None:
    raws, wanted = Raws(), spec()
    async with open_store("memory:") as store:
        records = await store.records("mgp")
        async with kept(raws, records, wanted) as supervisor:
            await supervisor["s"].wait_connected()
            await supervisor.stop("s")
        for _kernel in range(2):
            async with kept(raws, records, wanted) as supervisor:
                await anyio.wait_all_tasks_blocked()
                assert (supervisor["s"].status.state, len(raws)) == ("registered", 1)
                assert supervisor["s"].status.note == "It was stopped by an operator."
        async with kept(raws, records, wanted) as supervisor:
            await supervisor.start("s")
        async with kept(raws, records, wanted) as supervisor:
            await supervisor["s"].wait_connected()


async def test_a_record_that_another_program_wrote_counts_as_none() -> None:
    async with open_store("memory:") as store:
        records = await store.records("mgp")
        raws, kernel = Raws(), MgpKernel(records=records)
        async with supervising(spec(), raw=raws, kernel=kernel) as supervisor:
            await supervisor.stop("s")
        (record,) = [one async for one in records.scan("lifecycle/")]
        values: tuple[Any, ...] = (
            {},
            [],
            1,
            {"times": ["x"], "streak": 0},
            {"times": [], "streak": -1},
        )
        for value in values:
            await records.put(record.key, value)
            async with supervising(spec(), raw=raws, kernel=kernel) as supervisor:
                await supervisor["s"].wait_connected()


async def test_a_store_that_is_away_stops_no_server() -> None:
    class Away:
        async def get(self, key: str) -> None:
            raise StorageUnavailableError("get", expected="a store", got="none", hint="Wait.")

        put = delete = get

        def scan(self, prefix: str = "") -> None:
            raise NotImplementedError

    raws = Raws()
    histories = KeptHistories(Away())  # type: ignore[arg-type]
    async with supervising(spec(), raw=raws, histories=histories) as supervisor:
        await supervisor["s"].wait_connected()
        await supervisor.restart("s")
        assert supervisor["s"].status.state == "connected"


async def test_two_supervisors_of_a_kernel_share_no_server() -> None:
    raws, kernel = Raws(), MgpKernel()
    async with supervising(spec(), raw=raws, kernel=kernel) as supervisor:
        with pytest.raises(ValueError, match="supervised already"):
            await supervisor.add(spec())
        await supervisor.remove("s")
        assert supervisor.servers == []
        await supervisor.add(spec())
        await supervisor["s"].wait_connected()
    with pytest.raises(SessionStateError, match="supervisor is not open"):
        await supervisor.start("s")
    async with supervising(spec(), raw=raws, kernel=kernel) as supervisor:
        await supervisor["s"].wait_connected()


async def test_readers_of_changes_get_each_server_once_until_the_end() -> None:
    raws, seen = Raws(), list[str]()
    with anyio.fail_after(20):
        async with anyio.create_task_group() as tasks, supervising(raw=raws) as supervisor:

            async def collect() -> None:
                with supervisor.changes() as changes:
                    seen.extend([one async for one in changes])

            with supervisor.changes() as changes:
                await supervisor.add(spec("a"))
                await supervisor["a"].wait_connected()
                await supervisor.add(spec("b"))
                await supervisor["b"].wait_connected()
                assert [await anext(changes) for _change in range(2)] == ["a", "b"]
                await supervisor.remove("a")
                assert await anext(changes) == "a"
            assert [(one.id, one.state) for one in supervisor.statuses] == [("b", "connected")]
            tasks.start_soon(collect)
            await anyio.wait_all_tasks_blocked()
    assert set(seen) == {"b"}


async def test_who_waits_for_a_server_is_told_when_the_supervisor_ends() -> None:
    raws = Raws(kind=SilentServer)
    async with supervising(spec(when_restarting="wait"), raw=raws) as supervisor:
        server = supervisor["s"]
        await reached(supervisor, "s", "connecting")
        codes: list[Any] = []

        async def call() -> None:
            codes.append(await run(server))

        async with anyio.create_task_group() as tasks, anyio.create_task_group() as ending:
            tasks.start_soon(call)
            await anyio.wait_all_tasks_blocked()
            ending.start_soon(supervisor.remove, "s")
        assert codes == [2000]


async def test_a_limit_of_memory_that_nobody_can_watch_is_refused_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing starts, so nothing is restarted; what runs goes on."""
    monkeypatch.setattr(group_memory, "find_spec", lambda name: None)
    raws, limited = Raws(), spec(max_memory_bytes=1_000_000)
    async with supervising(spec("other"), raw=raws) as supervisor:
        await supervisor["other"].wait_connected()
        with pytest.raises(ImportError, match=r"Install kinwire\[supervisor\]"):
            await supervisor.add(limited)
        with pytest.raises(ImportError):
            await supervisor.replace([limited])
        assert [(one.id, one.state) for one in supervisor.statuses] == [("other", "connected")]
    async with Host("h", "1", extensions=[kernel := MgpKernel()]) as host:
        with pytest.raises(ImportError):
            kernel.supervise(host, [limited])
    assert len(raws) == 1


async def test_wrong_arguments_are_refused_with_the_right_call() -> None:
    async with supervising(raw=Raws()) as supervisor:
        with pytest.raises(ValueError, match="reason: expected 'operator_request'"):
            await supervisor.stop("s", reason="mood")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"Write await supervisor\.add\(spec\)"):
            await supervisor.add("s")  # type: ignore[arg-type]
        with pytest.raises(KeyError, match="No server 's' is supervised"):
            await supervisor.start("s")
