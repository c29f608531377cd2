"""A server's answers about its health, before a raw kernel (MGP 0.2.0 section 11.3)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from kinwire import Limits
from kinwire.mgp import Lifecycle, MgpServer
from kinwire.support.timestamps import seconds_of
from kinwire_protocols import mgp
from tests.runtime.mgp.raw_peers import Json
from tests.runtime.mgp.server.fixtures_clinic import Clinic

pytestmark = pytest.mark.anyio

PING, STATUS = "mgp/health/ping", "mgp/health/status"


@pytest.mark.spec("mgp-11.3-mgp-health-ping-2", "mgp-11.3-mgp-health-ping-3", "mgp-2.2-10")
async def test_a_ping_is_answered_with_the_four_members() -> None:
    clinic = Clinic()
    async with clinic.open():
        before = await clinic.result(PING, 10, timestamp="2026-02-27T12:00:00.000Z")
        after = await clinic.result(PING, 11)
    assert set(before) == {"status", "timestamp", "uptime_secs", "server_id"}
    assert (before["status"], before["server_id"]) == ("healthy", "mind.cerebras")
    assert seconds_of(before["timestamp"]) <= seconds_of(after["timestamp"])
    assert 0 <= before["uptime_secs"] <= after["uptime_secs"] < 60


@pytest.mark.spec("mgp-11.3-mgp-health-ping-1")
@pytest.mark.parametrize("load", ["full", "threads", "serial", "interceptor"])
async def test_no_load_holds_a_ping_back(load: str) -> None:
    """Neither the limit of requests, nor threads, nor an earlier message, nor an interceptor."""
    clinic = Clinic(limits=Limits(in_flight=60))
    hold = anyio.Event()

    async def audited(params: mgp.AuditNotificationParams) -> None:
        await hold.wait()

    async def held(params: Any, request: Any, go_on: Callable[[Any], Any]) -> Any:
        await hold.wait()

    clinic.guarded.on.notifications_mgp_audit(audited)
    async with clinic.open():
        if load == "full":
            clinic.call("wait", *range(60))
        elif load == "threads":
            clinic.call("block", *range(60))
        elif load == "serial":
            params = {
                "timestamp": "2026-02-27T12:00:00.000Z",
                "event_type": "TOOL_EXECUTED",
                "actor": {"type": "kernel", "id": "kernel"},
                "target": {"server_id": "s"},
                "result": "SUCCESS",
            }
            clinic.raw.say(method="notifications/mgp.audit", params=params)
        else:
            clinic.guarded.kernels[0].session.intercept_inbound(held)
        await clinic.raw.settle()
        clinic.call("wait", "behind")
        assert (await clinic.result(PING))["status"] == "healthy"
        refused = [one["error"]["code"] for one in clinic.raw.heard if one.get("id") == "behind"]
        assert refused == ([-32000] if load in ("full", "threads") else [])


def raises() -> bool:
    raise OSError("secret path")


async def late() -> bool:
    await anyio.sleep_forever()
    return True


async def reachable() -> bool:
    return True


def present() -> bool:
    return True


def absent() -> bool:
    return False


def odd() -> Any:
    return "yes"


FOUND: dict[str, tuple[Callable[[], Any], bool]] = {
    "present": (present, True),
    "reachable": (reachable, True),
    "absent": (absent, False),
    "raises": (raises, False),
    "odd": (odd, False),
}


@pytest.mark.spec("mgp-11.3-mgp-health-status-1", "mgp-11.3-mgp-health-status-3")
async def test_checks_are_run_within_a_bound_and_decide_about_the_status(
    caplog: pytest.LogCaptureFixture,
) -> None:
    checks = {name: function for name, (function, _) in FOUND.items()}
    for vital, names, status in (
        ([], ["present", "reachable"], "healthy"),
        ([], list(FOUND), "degraded"),
        (["present"], list(FOUND), "degraded"),
        (["absent"], list(FOUND), "unhealthy"),
        (["raises"], ["present", "raises"], "unhealthy"),
        ([], [], "healthy"),
    ):
        own = {name: checks[name] for name in names}
        clinic = Clinic(Lifecycle(checks=own, vital=vital, check_timeout=60))
        async with clinic.open():
            assert (await clinic.result(PING, 1))["status"] == "healthy"  # nothing is known yet
            found = await clinic.result(STATUS, 2)
            assert (found["status"], found["checks"]) == (
                status,
                {name: FOUND[name][1] for name in names},
            )
            assert (await clinic.result(PING, 3))["status"] == status
    clinic = Clinic(Lifecycle(checks={"late": late}, check_timeout=0.02))
    async with clinic.open():
        found = await clinic.result(STATUS)
    assert (found["status"], found["checks"]) == ("degraded", {"late": False})
    assert "the health check 'late' failed: it was late" in caplog.text
    assert "'odd' failed: " in caplog.text


@pytest.mark.spec("mgp-11.3-mgp-health-status-2")
async def test_the_status_says_what_can_be_called_and_what_is_under_way() -> None:
    clinic = Clinic(page_size=1)
    async with clinic.open():
        clinic.call("wait", 1, 2)
        found = await clinic.result(STATUS, 3)
        assert (found["tools_available"], found["tools_total"]) == (3, 3)
        assert (found["pending_requests"], found["checks"]) == (2, {})
        assert found["resources"]["open_connections"] == 1
        assert 2**20 < found["resources"]["memory_bytes"] < 2**40
        denied = {"request_id": "perm-1", "grants": {"camera": "denied"}}
        assert await clinic.result("mgp/permission/response", 4, **denied) == {}
        clinic.go_on.set()
        await clinic.raw.settle()
        found = await clinic.result(STATUS, 5)
        assert (found["tools_available"], found["tools_total"]) == (2, 3)
        assert found["pending_requests"] == 0


async def used() -> Json:
    return {"queue": 7, "memory_bytes": 5}


@pytest.mark.parametrize(
    ("resources", "shown"),
    [
        (used, {"queue": 7, "memory_bytes": 5}),
        (lambda: {"queue": 8}, {"queue": 8}),
        (raises, {}),
        (late, {}),
        (odd, {}),
    ],
)
async def test_a_function_adds_to_what_the_server_uses(
    resources: Callable[[], Any], shown: Json
) -> None:
    timeout = 0.02 if resources is late else 5
    clinic = Clinic(Lifecycle(resources=resources, check_timeout=timeout))
    async with clinic.open():
        found = (await clinic.result(STATUS))["resources"]
    assert shown.items() <= found.items()
    assert found["open_connections"] == 1
    assert ("queue" in found) is ("queue" in shown)


async def test_questions_that_come_at_the_same_time_share_a_round_of_checks() -> None:
    rounds = 0
    hold = anyio.Event()

    async def counted() -> bool:
        nonlocal rounds
        rounds += 1
        await hold.wait()
        return True

    clinic = Clinic(Lifecycle(checks={"counted": counted}, check_timeout=5))
    async with clinic.open():
        for identifier in range(49):
            clinic.raw.say(id=identifier, method=STATUS, params={})
        await clinic.raw.settle()
        assert rounds == 1
        hold.set()
        await clinic.result(STATUS, 49)
        replies = [one["result"] for one in clinic.raw.heard if isinstance(one.get("id"), int)]
    assert [one["status"] for one in replies] == ["healthy"] * 50
    assert rounds == 2  # of the first, and of all that came while it ran


async def test_a_thread_of_a_check_that_hangs_is_not_joined_by_others() -> None:
    begun: list[int] = []
    started, released = threading.Event(), threading.Event()

    def hangs() -> bool:
        begun.append(1)
        started.set()
        released.wait(20)
        return True

    clinic = Clinic(Lifecycle(checks={"hangs": hangs}, check_timeout=0.01))
    async with clinic.open():
        for identifier in range(5):
            assert (await clinic.result(STATUS, identifier))["checks"] == {"hangs": False}
        assert await anyio.to_thread.run_sync(started.wait, 20)
        assert len(begun) == 1
        released.set()


@pytest.mark.parametrize("offer", [None, {"version": "0.2.0", "extensions": ["security"]}])
async def test_nothing_of_it_is_served_to_who_has_not_negotiated_it(offer: Json | None) -> None:
    clinic = Clinic()
    async with clinic.open(offer):
        for name in (PING, STATUS, "mgp/lifecycle/shutdown"):
            assert (await clinic.result(name, name))["code"] == -32601
        assert (await clinic.result("ping", "mcp")) == {}
    assert not any("lifecycle" in str(one.get("method")) for one in clinic.raw.heard)


def test_wrong_options_are_answered_with_the_right_ones() -> None:
    wrong: list[tuple[Json, str]] = [
        ({"checks": {"a": True}}, "checks"),
        ({"vital": ["b"]}, "expected names of checks, got 'b'"),
        ({"check_timeout": 0}, "check_timeout"),
        ({"drain_timeout": -1}, "drain_timeout"),
        ({"on_shutdown": "f"}, "on_shutdown"),
        ({"resources": {}}, "resources"),
    ]
    for options, words in wrong:
        with pytest.raises((TypeError, ValueError), match=words):
            Lifecycle(**options)
    with pytest.raises(TypeError, match="lifecycle: expected Lifecycle"):
        MgpServer(lifecycle={})  # type: ignore[arg-type]
