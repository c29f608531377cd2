"""Calls that fail with a retryable error are repeated; at last another tool is called (14.6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from kinwire import Connection
from kinwire.mgp import CallLimit, MgpKernel, Retries, ServerPolicy, ToolPolicy
from kinwire_protocols.base import RpcError
from tests.runtime.mgp.fixtures_kernel import AuditEvents, audited, guarded, outcome
from tests.runtime.mgp.raw_peers import Json, RawServer, tool

pytestmark = pytest.mark.anyio

OFFER: Json = {"version": "0.2.0", "extensions": ["security"]}
SOON = Retries(first_delay=0.0)


def failing(code: int = 3000, times: int | None = None, **recovery: Any) -> RawServer:
    """Return a server whose tool `shaky` fails that often; `steady` works."""
    said = {"retryable": True, "retry_strategy": "exponential_backoff", "retry_after_ms": 1}

    def call(params: Json) -> Json:
        name = params["name"]
        failed = len([one for one in server.calls if one["name"] == name])
        if name == "steady" or (times is not None and failed > times):
            return {"content": [{"type": "text", "text": name}]}
        return {"code": code, "message": "not now", "data": {"_mgp": {**said, **recovery}}}

    safe = {"security": {"risk_level": "safe"}}
    names = ("shaky", "steady", "other", "run")
    answers: dict[str, Any] = {"tools/call": call}
    server = RawServer(*(tool(name, **safe) for name in names), mgp=OFFER, **answers)
    return server


async def call(connection: Connection, name: str = "shaky", **arguments: Any) -> Any:
    return await connection.session.raw("tools/call", {"name": name, "arguments": arguments})


def names_of(raw: RawServer) -> list[str]:
    return [one["name"] for one in raw.calls]


def kinds_of(events: AuditEvents) -> list[tuple[str, str]]:
    kinds = ("TOOL_EXECUTED", "TOOL_BLOCKED", "io.kinwire.tool_retried")
    return [(one["event_type"], one["result"]) for one in events.of(*kinds)]


RETRIED = ("io.kinwire.tool_retried", "FAILURE")
FAILED, DONE = ("TOOL_EXECUTED", "FAILURE"), ("TOOL_EXECUTED", "SUCCESS")


@pytest.mark.parametrize(("most", "tries"), [(3, 4), (0, 1), (None, 4), (1, 2)])
@pytest.mark.spec("mgp-14.6-4", "mgp-14.6-5", "mgp-14.5-6")
async def test_tries_are_counted_and_the_fallback_comes_last(most: int | None, tries: int) -> None:
    more: Json = {"fallback_tool": "steady"} if most is None else {"max_retries": most}
    raw = failing(3000, None, **{"fallback_tool": "steady", **more})
    with audited() as events:
        async with guarded(raw, MgpKernel(retries=SOON)) as connection:
            result = await call(connection, x=1)
    assert result["content"][0]["text"] == "steady"
    assert names_of(raw) == ["shaky"] * tries + ["steady"]
    assert {one["trace_id"] for one in raw.calls} == {raw.calls[0]["trace_id"]}
    assert all(one["arguments"] == {"x": 1} for one in raw.calls)
    assert kinds_of(events) == [RETRIED] * (tries - 1) + [FAILED, DONE]
    retried = events.of("io.kinwire.tool_retried")
    assert [one["details"]["attempt"] for one in retried] == list(range(1, tries))
    assert all(one["details"]["delay_ms"] >= 1 for one in retried)
    assert all(one["details"]["code"] == 3000 for one in retried)


async def test_a_call_that_succeeds_at_last_is_one_success() -> None:
    raw = failing(times=2)
    with audited() as events:
        async with guarded(raw, MgpKernel(retries=SOON)) as connection:
            result = await call(connection)
    assert result["content"][0]["text"] == "shaky"
    assert kinds_of(events) == [RETRIED, RETRIED, DONE]


@pytest.mark.spec("mgp-14.6-7")
async def test_what_is_not_retryable_is_reported_immediately() -> None:
    raw = failing(retryable=False, fallback_tool="steady")
    with audited() as events:
        async with guarded(raw, MgpKernel(retries=SOON)) as connection:
            with pytest.raises(RpcError, match="not now") as raised:
                await call(connection)
    assert raised.value.code == 3000
    assert names_of(raw) == ["shaky"]
    assert kinds_of(events) == [FAILED]


@pytest.mark.spec("mgp-14.5-3", "mgp-14.6-1")
async def test_the_kernel_waits_at_least_as_long_as_it_is_asked_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw, waits = failing(times=3, retry_after_ms=700), list[float]()
    kernel = MgpKernel(retries=Retries())

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(kernel._retries, "sleep", sleep)  # pyright: ignore[reportPrivateUsage]
    async with guarded(raw, kernel) as connection:
        await call(connection)
    assert len(waits) == 3
    for waited, least in zip(waits, (0.7, 1.4, 2.8), strict=True):
        assert least <= waited <= least * 1.25


async def test_an_error_that_asks_for_too_long_a_wait_goes_to_the_fallback() -> None:
    raw = failing(retry_after_ms=120_000, fallback_tool="steady")
    async with guarded(raw, MgpKernel(retries=SOON)) as connection:
        await call(connection)
    assert names_of(raw) == ["shaky", "steady"]


async def test_a_dangerous_call_that_may_have_run_is_not_repeated() -> None:
    policy = ServerPolicy(tools={"run": ToolPolicy(risk="dangerous")}, confirm=())
    for code, tries in ((5001, 1), (3003, 1), (-32000, 1), (3000, 4), (2000, 4)):
        raw = failing(code=code, fallback_tool="steady")
        kernel = MgpKernel(servers={"s": policy}, retries=SOON)
        async with guarded(raw, kernel) as connection:
            await outcome(call(connection, "run"))
        fallback = ["steady"] if tries > 1 else []
        assert names_of(raw) == ["run"] * tries + fallback, code


async def test_the_fallback_is_judged_as_a_call_of_its_own() -> None:
    policy = ServerPolicy(tools={"steady": ToolPolicy(enabled=False)})
    raw = failing(fallback_tool="steady", max_retries=0)
    with audited() as events:
        kernel = MgpKernel(servers={"s": policy}, retries=SOON)
        async with guarded(raw, kernel) as connection:
            with pytest.raises(RpcError, match="not now") as raised:
                await call(connection)
    assert (raised.value.code, names_of(raw)) == (3000, ["shaky"])
    assert "The fallback 'steady' failed as well" in raised.value.__notes__[0]
    assert kinds_of(events) == [FAILED, ("TOOL_BLOCKED", "BLOCKED")]


async def test_a_fallback_has_no_fallback_and_is_not_the_tool_itself() -> None:
    for fallback, called in (("other", ["shaky", "other"]), ("shaky", ["shaky"])):
        raw = failing(fallback_tool=fallback, max_retries=0)
        async with guarded(raw, MgpKernel(retries=SOON)) as connection:
            assert await outcome(call(connection)) == 3000
        assert names_of(raw) == called


async def revoke(kernel: MgpKernel, raw: RawServer) -> None:
    await kernel.access.grant("host", "s", "deny", tool="shaky")


async def switch_off(kernel: MgpKernel, raw: RawServer) -> None:
    await kernel.tools.disable("s", "shaky")


async def remove(kernel: MgpKernel, raw: RawServer) -> None:
    raw.tools = [one for one in raw.tools if one["name"] != "shaky"]
    raw.say(method="notifications/tools/list_changed")
    await anyio.wait_all_tasks_blocked()


@pytest.mark.parametrize(("change", "code"), [(revoke, 1001), (switch_off, 4002), (remove, 4001)])
async def test_what_changes_during_the_wait_holds_for_the_next_try(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[MgpKernel, RawServer], Any], code: int
) -> None:
    raw, kernel = failing(), MgpKernel(retries=SOON)

    async def sleep(seconds: float) -> None:
        await change(kernel, raw)

    monkeypatch.setattr(kernel._retries, "sleep", sleep)  # pyright: ignore[reportPrivateUsage]
    async with guarded(raw, kernel) as connection:
        assert await outcome(call(connection)) == code
    assert names_of(raw) == ["shaky"]


async def test_retries_count_for_the_limits_of_calls() -> None:
    policy = ServerPolicy(rate=CallLimit(2, 60))
    raw = failing()
    async with guarded(raw, MgpKernel(servers={"s": policy}, retries=SOON)) as connection:
        assert await outcome(call(connection)) == 3000
    assert names_of(raw) == ["shaky"] * 2


async def test_a_server_that_always_fails_is_not_flooded() -> None:
    raw = failing()
    retries = Retries(first_delay=0.0, share=0.1, burst=4)
    async with guarded(raw, MgpKernel(retries=retries)) as connection:
        for _attempt in range(30):
            assert await outcome(call(connection)) == 3000
    assert 30 + 4 <= len(raw.calls) <= 30 + 4 + 3


async def test_a_wait_can_be_cancelled() -> None:
    raw = failing(retry_after_ms=50_000)
    with audited() as events:
        async with guarded(raw, MgpKernel(retries=SOON)) as connection:
            with anyio.move_on_after(0.02) as scope:
                await call(connection)
    assert scope.cancelled_caught
    assert names_of(raw) == ["shaky"]
    assert kinds_of(events) == [RETRIED, FAILED]
