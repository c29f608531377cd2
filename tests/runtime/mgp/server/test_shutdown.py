"""A server that is to end, before a raw kernel: it finishes what is under way (MGP 11.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from kinwire import Limits
from kinwire.mgp import Lifecycle, Shutdown
from kinwire.support.timestamps import seconds_of
from kinwire_protocols.mgp.tables import SHUTDOWN_REASONS
from tests.runtime.mgp.raw_peers import Json, RawKernel, codes
from tests.runtime.mgp.server.fixtures_clinic import OFFER, Clinic

pytestmark = pytest.mark.anyio

SHUTDOWN, STATE = "mgp/lifecycle/shutdown", "notifications/mgp.lifecycle"
FOR_GOOD = {"category": "lifecycle", "retryable": False}


def changes(raw: RawKernel) -> list[tuple[str, str]]:
    return [(one["previous_state"], one["new_state"]) for one in raw.of(STATE)]


def replies(raw: RawKernel, *ids: object) -> list[Json]:
    found = [one for one in raw.heard if "method" not in one]
    return [one for identifier in ids for one in found if one["id"] == identifier]


async def ended(clinic: Clinic) -> None:
    with anyio.fail_after(5):
        await clinic.over.wait()


DOWN, GONE = ("connected", "draining"), ("draining", "disconnected")


@pytest.mark.spec(
    "mgp-11.4-1",
    "mgp-11.4-mgp-lifecycle-shutdown-1",
    "mgp-11.4-mgp-lifecycle-shutdown-2",
)
async def test_what_is_under_way_is_finished_new_requests_are_refused_and_the_transport_ends() -> (
    None
):
    clinic = Clinic()
    async with clinic.open():
        clinic.call("wait", 1, 2)
        await clinic.raw.settle()
        params = {"reason": "operator_request", "timeout_ms": 30000}
        result = await clinic.result(SHUTDOWN, 12, **params)
        assert result == {"accepted": True, "pending_requests": 2, "estimated_drain_ms": 30000}
        for method, more in (
            ("tools/call", {"name": "wait"}),
            ("tools/list", {}),
            ("logging/setLevel", {"level": "debug"}),
            (SHUTDOWN, params),
        ):
            refused = codes(await clinic.raw.ask(method, method, more))
            assert refused == (2001, FOR_GOOD)
        assert changes(clinic.raw) == [DOWN]
        assert not clinic.over.is_set()
        clinic.go_on.set()
        await ended(clinic)
    assert [one["result"]["content"][0]["text"] for one in replies(clinic.raw, 1, 2)] == [
        "done",
        "done",
    ]
    assert changes(clinic.raw) == [DOWN, GONE]
    assert clinic.raw.heard[-1]["method"] == STATE  # nothing comes after the last state


async def test_what_calls_wait_for_and_questions_about_health_are_served_to_the_end() -> None:
    clinic = Clinic()
    async with clinic.open():
        clinic.call("wait", 1)
        await clinic.raw.settle()
        await clinic.result(SHUTDOWN, 2)
        assert await clinic.result("ping", 3) == {}
        assert (await clinic.result("mgp/health/ping", 4))["status"] == "degraded"
        found = await clinic.result("mgp/health/status", 5)
        assert (found["status"], found["tools_available"]) == ("degraded", 0)
        assert found["pending_requests"] == 1
        grants = {"request_id": "perm-1", "grants": {"camera": "approved"}}
        assert await clinic.result("mgp/permission/response", 6, **grants) == {}
        assert (await clinic.result("mgp/stream/cancel", 7, request_id=1))["cancelled"] is True
        await ended(clinic)


@pytest.mark.parametrize(
    "reason",
    [
        pytest.param(reason, marks=pytest.mark.spec(f"mgp-11.4-mgp-lifecycle-shutdown-{row}"))
        for row, reason in enumerate(SHUTDOWN_REASONS, 4)
    ],
)
@pytest.mark.spec(
    "mgp-11.4-notifications-mgp.lifecycle-1", "mgp-11.4-notifications-mgp.lifecycle-2"
)
async def test_each_reason_is_told_to_the_kernel_and_to_the_program(reason: str) -> None:
    heard: list[Shutdown] = []
    clinic = Clinic(Lifecycle(on_shutdown=heard.append))
    async with clinic.open():
        assert (await clinic.result(SHUTDOWN, reason=reason, timeout_ms=1500))["accepted"] is True
        await ended(clinic)
    assert changes(clinic.raw) == [DOWN, GONE]
    assert [one["reason"] for one in clinic.raw.of(STATE)] == [reason, reason]
    assert {one["server_id"] for one in clinic.raw.of(STATE)} == {"mind.cerebras"}
    times = [seconds_of(one["timestamp"]) for one in clinic.raw.of(STATE)]
    assert times == sorted(times)
    assert heard == [Shutdown(reason, 1.5)]


async def test_a_shutdown_says_neither_reason_nor_time_or_words_of_its_own() -> None:
    for params, expected in (
        ({}, Shutdown(None, 7.5)),
        ({"reason": "spring cleaning"}, Shutdown("spring cleaning", 7.5)),
    ):
        heard: list[Shutdown] = []
        clinic = Clinic(Lifecycle(on_shutdown=heard.append, drain_timeout=7.5))
        async with clinic.open():
            result = await clinic.result(SHUTDOWN, **params)
            assert result == {"accepted": True, "pending_requests": 0, "estimated_drain_ms": 0}
            await ended(clinic)
        assert heard == [expected]
        assert [one.get("reason") for one in clinic.raw.of(STATE)] == [expected.reason] * 2


async def test_what_is_not_done_in_time_is_cut_off(caplog: pytest.LogCaptureFixture) -> None:
    clinic = Clinic()
    async with clinic.open():
        clinic.call("wait", 1, 2)
        await clinic.raw.settle()
        result = await clinic.result(SHUTDOWN, timeout_ms=10)
        assert result["estimated_drain_ms"] == 10
        await ended(clinic)
    assert replies(clinic.raw, 1, 2) == []
    assert changes(clinic.raw) == [DOWN, GONE]
    assert "2 requests are cut off" in caplog.text


async def test_a_time_that_no_float_can_hold_is_a_long_time() -> None:
    clinic = Clinic()
    async with clinic.open():
        assert (await clinic.result(SHUTDOWN, timeout_ms=10**400))["accepted"] is True
        await ended(clinic)


@pytest.mark.spec("mgp-11.4-mgp-lifecycle-shutdown-3")
async def test_a_full_queue_of_calls_holds_no_shutdown_back_and_new_calls_get_its_code() -> None:
    clinic = Clinic(limits=Limits(in_flight=5))
    async with clinic.open():
        clinic.call("wait", *range(6))
        await clinic.raw.settle()
        result = await clinic.result(SHUTDOWN)
        assert (result["accepted"], result["pending_requests"]) == (True, 5)
        clinic.call("wait", 7)
        await clinic.raw.settle()
        clinic.go_on.set()
        await ended(clinic)
    assert [codes(one)[0] for one in replies(clinic.raw, 5, 7)] == [-32000, 2001]
    assert len([one for one in replies(clinic.raw, *range(5)) if "result" in one]) == 5


async def test_the_calls_of_before_say_how_long_the_rest_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr("kinwire.mgp.server.draining.monotonic", lambda: now)
    clinic = Clinic()
    async with clinic.open():
        clinic.call("wait", 1)
        await clinic.raw.settle()
        now += 8
        clinic.go_on.set()
        await clinic.result("ping")
        clinic.go_on = anyio.Event()
        clinic.call("wait", 2)
        await clinic.raw.settle()
        now += 3
        assert (await clinic.result(SHUTDOWN, "down"))["estimated_drain_ms"] == 5000
        clinic.go_on.set()
        await ended(clinic)


def fails(shutdown: Shutdown) -> None:
    raise OSError("no disk")


async def test_a_function_of_the_user_gets_the_time_of_the_drain_and_no_more() -> None:
    steps: list[str] = []

    async def flush(shutdown: Shutdown) -> None:
        steps.append("begun")
        await anyio.lowlevel.checkpoint()
        steps.append("flushed")

    async def hangs(shutdown: Shutdown) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            steps.append("stopped")

    functions: list[tuple[Callable[[Shutdown], Any], float, list[str]]] = [
        (flush, 20, ["begun", "flushed"]),
        (hangs, 0.02, ["stopped"]),
        (fails, 20, []),
    ]
    for function, timeout, expected in functions:
        steps.clear()
        clinic = Clinic(Lifecycle(on_shutdown=function, drain_timeout=timeout))
        async with clinic.open():
            await clinic.result(SHUTDOWN)
            await ended(clinic)
        assert steps == expected
        assert changes(clinic.raw) == [DOWN, GONE]


async def test_only_the_session_of_the_kernel_that_asked_ends() -> None:
    one, other = Clinic(), Clinic()
    other.server, other.guarded = one.server, one.guarded
    async with one.open(), other.open():
        found = await other.result("mgp/health/status", 1)
        assert found["resources"]["open_connections"] == 2
        await one.result(SHUTDOWN)
        await ended(one)
        one.go_on.set()
        called = await other.result("tools/call", 2, name="wait")
        assert called["content"][0]["text"] == "done"
        assert (await other.result("mgp/health/status", 3))["status"] == "healthy"
    assert changes(other.raw) == []


async def test_a_kernel_that_leaves_while_the_server_drains_ends_it() -> None:
    clinic = Clinic(limits=Limits(drain=0.01))
    async with clinic.open():
        clinic.call("wait", 1)
        await clinic.raw.settle()
        await clinic.result(SHUTDOWN)
        clinic.raw.hang_up()
        await ended(clinic)


@pytest.mark.parametrize("times", [1, 2])
async def test_a_signal_drains_as_a_shutdown_does(times: int) -> None:
    heard: list[Shutdown] = []
    clinic = Clinic(Lifecycle(on_shutdown=heard.append, drain_timeout=9))
    async with clinic.open():
        clinic.call("wait", 1)
        await clinic.raw.settle()
        for _ in range(times):
            clinic.raw.ask_to_end()
        assert codes(await clinic.raw.ask(2, "tools/call", {"name": "wait"}))[0] == 2001
        clinic.go_on.set()
        await ended(clinic)
    assert "result" in replies(clinic.raw, 1)[0]
    assert [one["reason"] for one in clinic.raw.of(STATE)] == ["signal", "signal"]
    assert heard == [Shutdown("signal", 9)]


@pytest.mark.parametrize("offer", [None, {**OFFER, "extensions": ["security"]}])
async def test_who_has_not_negotiated_it_sees_nothing_of_a_signal_but_the_end(
    offer: Json | None,
) -> None:
    clinic = Clinic(limits=Limits(drain=0.01))
    async with clinic.open(offer):
        clinic.call("wait", 1)
        await clinic.raw.settle()
        clinic.raw.ask_to_end()
        await ended(clinic)
    assert changes(clinic.raw) == []
    assert replies(clinic.raw, 1) == []
