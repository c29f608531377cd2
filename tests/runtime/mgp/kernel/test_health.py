"""The kernel's watch over the health of a server: raw servers answer, or do not (MGP 11.3)."""

from __future__ import annotations

import time
from typing import Any

import anyio
import pytest

from kinwire import Connection
from kinwire.mgp import MgpKernel
from kinwire.mgp.kernel import health
from kinwire.mgp.kernel.health import HealthMonitor
from kinwire.mgp.rules.health import ServerHealth
from kinwire.rpc.errors import ConnectionClosedError, InvalidResponseError
from tests.runtime.mgp.fixtures_kernel import guarded
from tests.runtime.mgp.raw_peers import NOTHING, Json, RawServer, tool

pytestmark = pytest.mark.anyio

OFFER: Json = {"version": "0.2.0", "extensions": ["lifecycle"]}
NOW = 1_772_193_600.0
PING, STATUS = "mgp/health/ping", "mgp/health/status"
SHORT, LONGER = 0.01, 0.1  # seconds: nothing is answered, and something may be
UNKNOWN: Json = {"code": -32601, "message": "Method not found"}


def server(ping: Any, status: Any = None, *, mgp: Json | None = OFFER) -> RawServer:
    """Return a raw server that answers so."""
    answers = {PING: ping, STATUS: {"status": "healthy"} if status is None else status}
    return RawServer(tool("run"), mgp=mgp, **answers)


class Watched:
    """A monitor of a server, with what it has reported and how long it has slept."""

    def __init__(
        self, kernel: MgpKernel, connection: Connection, rounds: int = 1, timeout: float = 5
    ) -> None:
        self.reports: list[ServerHealth] = []
        self.failures: list[ServerHealth] = []
        self.slept: list[float] = []
        self._rounds = rounds
        guarded_server = kernel.of(connection)
        assert guarded_server is not None
        self.monitor = HealthMonitor(
            guarded_server,
            interval=20,
            timeout=timeout,
            changed=self.reports.append,
            failed=self.failures.append,
            clock=lambda: NOW,
            sleep=self._sleep,
        )
        self._session = connection.session

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if len(self.slept) == self._rounds:
            await self._session.aclose()


async def watched(raw: RawServer, rounds: int = 1, timeout: float = 5) -> Watched:
    """Return a monitor that has watched a server until it failed, or for a number of rounds."""
    kernel = MgpKernel(clock=lambda: NOW)
    async with guarded(raw, kernel) as connection:
        seen = Watched(kernel, connection, rounds, timeout)
        with anyio.fail_after(10):
            await seen.monitor.run()
    return seen


@pytest.mark.spec("mgp-11.3-1", "mgp-11.3-mgp-health-status-4")
async def test_a_server_is_pinged_and_asked_for_its_status_at_each_interval() -> None:
    said = {"status": "degraded", "checks": {"disk": False, "odd": [1]}, "resources": {"x": "y"}}
    raw = server({"status": "healthy"}, said)
    seen = await watched(raw, rounds=3)
    assert raw.of(PING)[0]["timestamp"] == "2026-02-27T12:00:00.000Z"
    assert [len(raw.of(one)) for one in (PING, STATUS, "ping")] == [3, 3, 0]
    assert seen.slept == [20, 20, 20]
    (report,) = seen.reports  # the next two rounds have shown nothing new
    assert (report.status, report.checks, report.resources) == (
        "degraded",
        {"disk": False, "odd": [1]},
        {"x": "y"},
    )
    assert (report.answered_at, seen.failures) == (NOW, [])


@pytest.mark.parametrize("mgp", [OFFER, None, {"version": "0.2.0", "extensions": ["security"]}])
async def test_three_pings_without_an_answer_are_a_failure(mgp: Json | None) -> None:
    raw = server(NOTHING, mgp=mgp)
    if mgp is not OFFER:
        raw.silent_ping = True
    seen = await watched(raw, timeout=SHORT)
    name = PING if mgp is OFFER else "ping"
    assert 0 < len(raw.of(name)) <= 3  # one may not have left yet
    assert [one.misses for one in seen.reports] == [1, 2, 3]
    assert [one.misses for one in seen.failures] == [3]
    assert seen.slept == []  # the next ping leaves when one was missed
    assert raw.of(STATUS) == []
    assert mgp is OFFER or not any("mgp" in str(one.get("method")) for one in raw.heard)


async def test_a_ping_is_not_missed_while_this_program_stands_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After SIGSTOP and SIGCONT of a kernel the time of a ping is over, and the answer is there."""
    monkeypatch.setattr(health, "_LATE", 0.02)

    def stand_still(params: Json) -> Json:
        time.sleep(SHORT + 0.05)
        return NOTHING

    def answer(params: Json) -> Json:
        return {"status": "healthy"}

    answers = iter([stand_still, answer])
    raw = server(lambda params: next(answers)(params))
    seen = await watched(raw, rounds=2, timeout=SHORT)
    assert [one.misses for one in seen.reports] == [0]
    assert seen.slept == [20, 20]


async def test_an_answer_begins_the_row_of_misses_again() -> None:
    answers = iter([NOTHING, NOTHING, {"status": "healthy"}] * 2)
    raw = server(lambda params: next(answers))
    seen = await watched(raw, rounds=2, timeout=LONGER)
    assert [one.misses for one in seen.reports] == [1, 2, 0, 1, 2, 0]
    assert seen.failures == []


@pytest.mark.parametrize(
    ("status", "word"),
    [
        (NOTHING, "degraded"),
        ({"code": -32603, "message": "no"}, "degraded"),
        ({"status": 7}, "degraded"),
        ({"status": "unhealthy"}, "unhealthy"),
        ({"status": "fine"}, "degraded"),
    ],
)
async def test_a_server_that_is_not_ready_is_not_dead(status: Json, word: str) -> None:
    raw = server({"status": "healthy"}, status)
    seen = await watched(raw, rounds=2, timeout=LONGER)
    assert (seen.monitor.health.status, seen.monitor.health.misses) == (word, 0)
    assert (len(raw.of(PING)), seen.failures) == (2, [])


@pytest.mark.parametrize(
    ("ping", "word"),
    [
        ({"code": -32000, "message": "busy"}, "unhealthy"),
        ({"state": "alive"}, "unhealthy"),
        ({"status": "unhealthy"}, "unhealthy"),
        ({"status": "odd"}, "degraded"),
    ],
)
async def test_any_answer_is_a_sign_of_life(ping: Json, word: str) -> None:
    raw = server(ping, UNKNOWN)
    seen = await watched(raw, rounds=4)
    assert (seen.monitor.health.status, seen.monitor.health.misses) == (word, 0)


async def test_what_goes_wrong_on_the_way_is_a_miss_and_about_the_status_it_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As over HTTP, where a proxy answers, or each request has a connection of its own."""
    for error in (InvalidResponseError("HTTP status 503"), ConnectionClosedError("gone")):
        for name, misses, status in ((PING, 1, "healthy"), (STATUS, 0, "degraded")):
            raw = server({"status": "healthy"})
            async with guarded(raw, kernel := MgpKernel()) as connection:
                seen = Watched(kernel, connection, timeout=SHORT if name == PING else 5)
                session, call = connection.session, connection.session.call

                async def fail(method: Any, *rest: Any, **options: Any) -> Any:
                    if method.name == name:  # noqa: B023 - used in this round only
                        raise error  # noqa: B023
                    return await call(method, *rest, **options)  # noqa: B023

                monkeypatch.setattr(session, "call", fail)
                health = await seen.monitor.check()
                assert (health.misses, health.status) == (misses, status)


async def test_a_server_that_has_no_health_check_though_it_offers_it_is_pinged_by_mcp() -> None:
    raw = server(UNKNOWN)
    seen = await watched(raw, rounds=3)
    assert [len(raw.of(one)) for one in (PING, STATUS, "ping")] == [1, 0, 2]
    assert (seen.monitor.health.status, seen.monitor.health.misses) == ("healthy", 0)


async def test_a_server_that_speaks_only_mcp_is_healthy_while_it_answers() -> None:
    raw = server(UNKNOWN, mgp=None)
    seen = await watched(raw, rounds=2)
    assert [len(raw.of(one)) for one in (PING, STATUS, "ping")] == [0, 0, 2]
    assert (seen.monitor.health.status, seen.monitor.health.answered_at) == ("healthy", NOW)


async def test_the_watch_ends_with_the_connection_and_that_is_no_failure() -> None:
    def hang_up(params: Json) -> Json:
        raw.hang_up()
        return NOTHING

    raw = server(hang_up)
    seen = await watched(raw)
    assert (seen.reports, seen.failures) == ([], [])


async def test_wrong_arguments_are_answered_with_the_right_call() -> None:
    async with guarded(server(NOTHING), kernel := MgpKernel()) as connection:
        one = kernel.of(connection)
        assert one is not None
        for arguments in ({"interval": 0}, {"timeout": -1}, {"misses": 0}, {"failed": 3}):
            with pytest.raises((TypeError, ValueError), match="HealthMonitor"):
                HealthMonitor(one, **arguments)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="expected a GuardedServer, got a Connection"):
            HealthMonitor(connection)  # type: ignore[arg-type]
