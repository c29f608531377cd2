"""A server of MGP before a raw kernel: its offer, its tools, its errors, its reports."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kinwire import Context, Server, ToolError
from kinwire.mgp import MgpServer, refusal
from kinwire.support.background import background
from kinwire_protocols.mgp import CodeSafety, ToolSecurity, errors
from tests.runtime.mgp.raw_peers import Json, RawKernel, codes

pytestmark = pytest.mark.anyio

RUN = ToolSecurity(
    risk_level="dangerous",
    permissions_required=["shell.execute"],
    side_effects=["filesystem", "process"],
    validator="sandbox",
    reversible=False,
    confirmation_required=True,
)
ALL = {"version": "0.2.0", "extensions": ["security", "access_control", "audit", "code_safety"]}


def terminal(guarded: MgpServer) -> Server:
    server = Server("terminal", "1", extensions=[guarded])

    @server.tool
    async def execute_command(command: str, context: Context) -> str:
        """Execute a shell command."""
        peer = guarded.of(context)
        if peer is not None:
            await peer.report(
                "com.example.ran", context=context, tool="execute_command", details={"n": 1}
            )
        return command

    @server.tool
    async def upstream(fails: bool) -> str:
        """Ask another service."""
        if fails:
            raise refusal(errors.UpstreamUnavailableError, "weather.example is away")
        raise ToolError("no such city")

    return server


@asynccontextmanager
async def kernel_of(server: Server) -> AsyncGenerator[RawKernel]:
    raw = RawKernel()
    async with background() as tasks:
        tasks.start_soon(server.serve, raw)
        yield raw
        tasks.cancel_scope.cancel()


OFFERS: list[tuple[MgpServer, Json | None, Json | None]] = [
    (MgpServer(), None, None),
    (MgpServer(), {"version": "1.0.0", "extensions": ["security"]}, None),
    (MgpServer(), {"extensions": ["security"]}, None),
    (MgpServer(), {"version": "0.1.0", "extensions": ["audit"]}, {"extensions": []}),
    (MgpServer(), {"version": "0.2.0", "extensions": {"security": 1}}, {"extensions": []}),
    (MgpServer(), ALL, {"extensions": ["security"]}),
    (MgpServer(extensions=["audit"]), ALL, {"extensions": ["security", "audit"]}),
    (
        MgpServer(server_id="mind.c", trust_level="standard", permissions_required=["shell"]),
        {"version": "0.6.1", "extensions": ["permissions", "progress", "tool_security"]},
        {
            "extensions": ["permissions", "progress", "tool_security"],
            "server_id": "mind.c",
            "trust_level": "standard",
            "permissions_required": ["shell"],
        },
    ),
]


@pytest.mark.spec("mgp-2.4-3", "mgp-2.3-1", "mgp-2.3-3")
async def test_the_offer_answers_that_of_the_kernel_and_is_left_out_without_one() -> None:
    for guarded, theirs, expected in OFFERS:
        async with kernel_of(terminal(guarded)) as raw:
            found = await raw.greet(theirs)
        assert "tools" in found
        if expected is None:
            assert "mgp" not in str(found)
        else:
            assert found["mgp"] == {"version": "0.2.0", **expected}


@pytest.mark.spec("mgp-4.1-1", "mgp-4.2-1")
async def test_a_kernel_sees_the_security_of_tools_and_a_plain_client_does_not() -> None:
    guarded = MgpServer(tools={"execute_command": RUN})
    for theirs, shown in (
        (ALL, True),
        ({"version": "0.2.0", "extensions": []}, False),
        (None, False),
    ):
        async with kernel_of(terminal(guarded)) as raw:
            await raw.greet(theirs)
            listed = (await raw.ask(1, "tools/list", {}))["result"]["tools"]
        assert "security" not in listed[1]
        if shown:
            assert listed[0]["security"] == {
                "risk_level": "dangerous",
                "permissions_required": ["shell.execute"],
                "side_effects": ["filesystem", "process"],
                "validator": "sandbox",
                "reversible": False,
                "confirmation_required": True,
            }
        else:
            assert "security" not in listed[0]


@pytest.mark.spec("mgp-1.3-2", "mgp-8.1-2", "mgp-1.1-3")
async def test_a_plain_client_gets_nothing_of_mgp() -> None:
    guarded = MgpServer(tools={"execute_command": RUN}, extensions=["audit"])
    async with kernel_of(terminal(guarded)) as raw:
        await raw.greet(None)
        called = {"name": "execute_command", "arguments": {"command": "ls"}, "trace_id": "t"}
        answer = await raw.ask(1, "tools/call", called)
        assert answer["result"]["content"] == [{"type": "text", "text": "ls"}]
        failed = await raw.ask(2, "tools/call", {"name": "upstream", "arguments": {"fails": True}})
        assert failed["result"]["isError"] is True
        assert failed["result"]["content"][0]["text"] == "weather.example is away"
        unknown = await raw.ask(3, "tools/call", {"name": "nope"})
        assert unknown["error"]["code"] == -32602
        refused = await raw.ask(4, "mgp/permission/request", {"request_id": "1", "permissions": []})
        assert refused["error"]["code"] == -32601
        assert all("mgp" not in str(message) for message in raw.heard if "error" not in message)


async def test_a_kernel_gets_errors_of_mgp() -> None:
    async with kernel_of(terminal(MgpServer())) as raw:
        await raw.greet(ALL)
        calls: list[tuple[Json, int, str]] = [
            ({"name": "nope"}, 4001, "validation"),
            ({"name": "upstream", "arguments": {"fails": 7}}, 4000, "validation"),
            ({"name": "upstream", "arguments": {"fails": True}}, 5002, "external"),
        ]
        for id, (params, code, category) in enumerate(calls):
            got, recovery = codes(await raw.ask(id, "tools/call", params))
            assert (got, recovery["category"]) == (code, category)
        own = await raw.ask(9, "tools/call", {"name": "upstream", "arguments": {"fails": False}})
        assert own["result"]["isError"] is True


@pytest.mark.spec("mgp-1.2-4", "mgp-3.6-5")
async def test_a_server_refuses_calls_whose_permission_was_not_granted() -> None:
    called = {"name": "execute_command", "arguments": {"command": "ls"}}
    for grant, passes in (
        ("approved", True),
        ({"decision": "approved"}, True),
        ({"granted": True}, True),
        ("denied", False),
        ("deferred", False),
        ({"granted": False}, False),
    ):
        async with kernel_of(terminal(MgpServer(tools={"execute_command": RUN}))) as raw:
            await raw.greet(ALL)
            assert "result" in await raw.ask(1, "tools/call", called)  # nothing was decided yet
            asked = {"request_id": "perm-001", "permissions": ["shell.execute"]}
            waiting = await raw.ask(2, "mgp/permission/request", asked)
            assert waiting["result"] == {"request_id": "perm-001"}
            assert codes(await raw.ask(3, "tools/call", called))[0] == 1000
            decided = {"request_id": "perm-001", "grants": {"shell.execute": grant}}
            assert (await raw.ask(4, "mgp/permission/response", decided))["result"] == {}
            answer = await raw.ask(5, "tools/call", called)
            assert ("result" in answer) is passes, grant


@pytest.mark.spec("mgp-6.5-2")
async def test_a_server_reports_events_with_the_trace_of_the_request() -> None:
    guarded = MgpServer(extensions=["audit"], server_id="tool.terminal")
    called = {"name": "execute_command", "arguments": {"command": "ls"}}
    traces: list[Json] = [
        {"trace_id": "550e8400-e29b-41d4-a716-446655440000"},
        {"_meta": {"traceparent": f"00-{'ab' * 16}-{'1' * 16}-01"}},
        {},
    ]
    for extensions, events in ((["audit"], 3), (["security"], 0)):
        async with kernel_of(terminal(guarded)) as raw:
            await raw.greet({"version": "0.2.0", "extensions": extensions})
            for id, trace in enumerate(traces):
                await raw.ask(id, "tools/call", {**called, **trace})
            found = raw.of("notifications/mgp.audit")
        assert len(found) == events
    async with kernel_of(terminal(guarded)) as raw:
        await raw.greet(ALL)
        for id, trace in enumerate(traces):
            await raw.ask(id, "tools/call", {**called, **trace})
        raw.say(id="next to params", method="tools/call", params=called, trace_id="order 66")
        await raw.settle()
        one, two, three, four = raw.of("notifications/mgp.audit")
    assert one.pop("timestamp").endswith("Z")
    assert one == {
        "trace_id": "550e8400-e29b-41d4-a716-446655440000",
        "event_type": "com.example.ran",
        "actor": {"type": "server", "id": "tool.terminal"},
        "target": {"server_id": "tool.terminal", "tool_name": "execute_command"},
        "result": "SUCCESS",
        "details": {"n": 1},
    }
    assert two["trace_id"].replace("-", "") == "ab" * 16
    assert "trace_id" not in three
    assert four["trace_id"] == "order 66"


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"tools": {"x": ToolSecurity(risk_level="critical")}}, "risk_level: expected one of safe"),
    (
        {"tools": {"x": ToolSecurity(risk_level="safe", permissions_required=["shell.exec"])}},
        "Did you mean 'shell.execute'",
    ),
    ({"tools": {"x": ToolSecurity(risk_level="safe", side_effects=["files"])}}, "side_effects"),
    ({"tools": {"x": ToolSecurity(risk_level="safe", validator="sandbx")}}, "Did you mean 'sand"),
    (
        {"tools": {"x": ToolSecurity(risk_level="safe", code_safety=CodeSafety(level="strict"))}},
        "Write validator='code_safety'",
    ),
    ({"permissions_required": ["camera.zoom"]}, "permissions_required: expected a permission"),
    ({"extensions": ["securty"]}, "expected 'security'"),
    ({"trust_level": "high"}, "expected 'sandboxed', 'standard' or 'trusted'"),
]


def test_mistakes_are_found_when_the_server_is_made() -> None:
    for options, message in MISTAKES:
        with pytest.raises(ValueError, match=message):
            MgpServer(**options)
    MgpServer(permissions_required=["shell", "camera", "com.example.custom_permission"])
    guarded = MgpServer()

    @guarded.tool(security=RUN)
    async def run() -> None: ...

    assert guarded.tools == {"run": RUN}
    with pytest.raises(ValueError, match="it was given before"):
        guarded.tool(security=RUN, name="run")(run)
    with pytest.raises(ValueError, match="risk_level"):
        guarded.tool(security=ToolSecurity(risk_level="mild"), name="walk")(run)


async def test_security_of_a_tool_that_is_missing_is_reported_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    guarded = MgpServer(tools={"execute_comand": RUN})
    caplog.set_level(logging.WARNING)
    for _again in range(2):
        async with kernel_of(terminal(guarded)) as raw:
            await raw.greet(ALL)
            await raw.ask(1, "tools/list", {})
    (record,) = [one for one in caplog.records if one.name == "kinwire.mgp"]
    assert "Did you mean 'execute_command'?" in record.message
