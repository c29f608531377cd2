"""Events that a server emits by itself: of calls, refusals, faults, and of the process."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from kinwire import Context, Server, ToolError
from kinwire.mgp import MgpServer, code_rejection, refusal
from kinwire.mgp.server import own_events
from kinwire.support.background import background
from kinwire_protocols.mgp import ToolSecurity, errors
from tests.runtime.mgp.raw_peers import Json, RawKernel

pytestmark = pytest.mark.anyio

OFFER = {"version": "0.2.0", "extensions": ["security", "bidirectional"]}
SUBSCRIBE, EVENT = "mgp/events/subscribe", "notifications/mgp.event"
SECRET = "tok-4711"
RAISED: dict[str, Exception] = {
    "fails": ToolError(SECRET),
    "breaks": RuntimeError(SECRET),
    "blocks": refusal(errors.ValidationBlockedError, SECRET),
}


def shop(guarded: MgpServer) -> Server:
    server = Server("shop", "1", extensions=[guarded])

    @server.tool
    async def act(how: str, context: Context, secret: str = SECRET) -> str:
        """Act."""
        peer = guarded.of(context)
        assert peer is not None
        if how in RAISED:
            raise RAISED[how]
        if how == "needs":
            peer.must_have("shell.execute")
        if how == "hangs":
            await anyio.sleep_forever()
        return secret

    @server.tool
    def run(code: str) -> Any:
        """Run code, in a thread."""
        return code_rejection(code) or "ran"

    @server.resource("note://{name}")
    async def note(name: str) -> str:
        raise RuntimeError(SECRET)

    return server


async def heard(raw: RawKernel, *asked: tuple[str, Json]) -> list[tuple[str, Json]]:
    """Return the events that these requests lead to, each with what differs from call to call."""
    for number, (method, params) in enumerate(asked):
        if params.get("arguments", {}).get("how") == "hangs":
            raw.say(id=number, method=method, params=params)
            await raw.settle()
            raw.say(method="notifications/cancelled", params={"requestId": number})
            await raw.settle()
        else:
            await raw.ask(number, method, params)
    await raw.settle()
    return [(one["channel"], one) for one in raw.of(EVENT)]


def call(tool: str = "act", **arguments: str) -> tuple[str, Json]:
    return "tools/call", {"name": tool, "arguments": arguments, "trace_id": "t-1"}


ENDS: dict[str, tuple[tuple[str, Json], list[str], Json]] = {
    "works": (call(how="works"), ["tool.completed"], {}),
    "fails": (call(how="fails"), ["tool.failed"], {"reason": "error_result"}),
    "breaks": (
        call(how="breaks"),
        ["system.error", "tool.failed"],
        {"reason": "InternalError", "code": -32603},
    ),
    "needs": (
        call(how="needs"),
        ["security.access_denied", "tool.failed"],
        {"reason": "PermissionDenied", "code": 1000},
    ),
    "blocks": (
        call(how="blocks"),
        ["security.validation_failed", "tool.failed"],
        {"reason": "ValidationBlocked", "code": 1010},
    ),
    "hangs": (call(how="hangs"), ["tool.failed"], {"reason": "cancelled"}),
    "rejects": (
        call("run", code="import subprocess"),
        ["security.validation_failed", "tool.failed"],
        {"reason": "error_result"},
    ),
    "runs": (call("run", code="1"), ["tool.completed"], {}),
    "wrong": (call(what="x"), ["tool.failed"], {"reason": "InvalidToolArgs", "code": 4000}),
    "refused": (
        call("guarded"),
        ["security.access_denied", "tool.failed"],
        {"reason": "PermissionDenied", "code": 1000},
    ),
    "absent": (call("gone\n"), ["tool.failed"], {"reason": "ToolNotFound", "code": 4001}),
}
SEVERITIES = {"tool.started": "info", "tool.completed": "info", "system.error": "error"}


@pytest.mark.spec("mgp-13.5-3", "mgp-13.5-4")
async def test_a_call_begins_and_ends_once_and_says_nothing_of_what_is_in_it() -> None:
    needy = ToolSecurity(risk_level="safe", permissions_required=["shell.execute"])
    guarded, raw, other = MgpServer(tools={"guarded": needy}), RawKernel(), RawKernel()
    server = shop(guarded)
    async with background() as tasks:
        for one in (raw, other):
            tasks.start_soon(server.serve, one)
            await one.greet(OFFER)
        denied = {"request_id": "1", "grants": {"shell.execute": "denied"}}
        await raw.ask("denied", "mgp/permission/response", denied)
        await raw.ask("before", *call(how="works"))  # nobody has asked for events yet
        for one in (raw, other):
            await one.ask("all", SUBSCRIBE, {"channels": ["tool.*", "security.*", "system.error"]})
        for name, (asked, ends, reason) in ENDS.items():
            raw.heard.clear()
            events = await heard(raw, asked)
            assert [channel for channel, _ in events] == ["tool.started", *ends], name
            for channel, event in events:
                assert event["severity"] == SEVERITIES.get(channel, "warning"), name
                about = event["data"]
                assert about["tool"] == asked[1]["name"].replace("\n", "\\n"), name
                assert (about["request_id"], about["trace_id"]) == (0, "t-1"), name
            last = events[-1][1]["data"]
            assert last.items() >= reason.items(), name
            assert last["duration_ms"] >= 0, name
            assert SECRET not in json.dumps(events), name
        assert other.of(EVENT) == []  # a kernel learns of its own calls only
        tasks.cancel_scope.cancel()


@pytest.mark.spec("mgp-13.5-2")
async def test_faults_of_other_requests_and_the_use_of_the_machine_are_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(own_events, "USAGE_SECONDS", 0.001)
    guarded, raw = MgpServer(), RawKernel()
    async with background() as tasks:
        tasks.start_soon(shop(guarded).serve, raw)
        await raw.greet(OFFER)
        await raw.ask("1", SUBSCRIBE, {"channels": ["system.*"]})
        await raw.ask(2, "resources/read", {"uri": "note://x"})
        await raw.ask(3, "resources/read", {"uri": "other://x"})
        with anyio.fail_after(10):
            await raw.wait_for(EVENT, 3)
        tasks.cancel_scope.cancel()
    events = raw.of(EVENT)
    (fault,) = [one for one in events if one["channel"] == "system.error"]
    assert (fault["severity"], fault["data"]["method"]) == ("error", "resources/read")
    assert (fault["data"]["request_id"], fault["data"]["code"]) == (2, -32603)
    used = [one["data"] for one in events if one["channel"] == "system.resource_usage"]
    assert len(used) >= 2
    assert all(one["cpu_seconds"] > 0 for one in used)
    assert SECRET not in json.dumps(events)


async def test_names_and_ids_that_a_kernel_has_made_long_are_not_repeated() -> None:
    raw = RawKernel()
    async with background() as tasks:
        tasks.start_soon(shop(MgpServer()).serve, raw)
        await raw.greet(OFFER)
        await raw.ask("1", SUBSCRIBE, {"channels": ["tool.started"]})
        raw.say(id="i" * 70_000, method="tools/call", params={"name": "n" * 70_000})
        await raw.settle()
        tasks.cancel_scope.cancel()
    (event,) = raw.of(EVENT)
    assert event["data"] == {"method": "tools/call", "tool": "n" * 128}
