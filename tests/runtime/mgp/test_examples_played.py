"""Every JSON example of sections 2 to 7, 13.4 and 14 is played with a raw peer, as the text has it.

`tests/spec/blocks/mgp.json` has them; another test compares that with the text.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

import tests.spec
from kinwire import Connection, Host, Server, result_text
from kinwire.mgp import (
    Access,
    CallbackQuestion,
    Callbacks,
    Confirmations,
    HealthMonitor,
    Lifecycle,
    MgpContext,
    MgpKernel,
    MgpServer,
    PermissionAnswer,
    PermissionQuestion,
    Permissions,
    Retries,
    code_rejection,
    recovery_of,
)
from kinwire.support.background import background
from kinwire.support.timestamps import seconds_of
from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.mgp import (
    CodeSafety,
    LifecycleNotificationParams,
    ServerStub,
    ToolSecurity,
)
from kinwire_protocols.mgp.errors import RateLimitedError
from tests.runtime.mgp.fixtures_kernel import AuditEvents, audited, guarded
from tests.runtime.mgp.raw_peers import NOTHING, Json, RawKernel, RawServer, tool

pytestmark = pytest.mark.anyio

ROWS = json.loads((Path(tests.spec.__file__).parent / "blocks" / "mgp.json").read_text("utf-8"))
MESSAGES: dict[int, Json] = {row["block"]: row["message"] for row in ROWS if row["is"] == "frame"}
NOON = seconds_of("2026-02-27T12:00:00Z")
ALL: Json = {
    "version": "0.1.0",
    "extensions": ["security", "access_control", "audit", "code_safety"],
    "server_id": "mind.cerebras",
}


def tool_of(block: int) -> Json:
    """Return the tool in an example of a list."""
    (found,) = MESSAGES[block]["result"]["tools"]
    return dict(found)


@asynccontextmanager
async def kernel_with(
    raw: RawServer, **options: Any
) -> AsyncGenerator[tuple[Connection, MgpKernel]]:
    """Yield a kernel whose clock shows the time of the examples, connected to `mind.cerebras`."""
    kernel = MgpKernel(clock=lambda: NOON, **options)
    async with guarded(raw, kernel, "mind.cerebras") as connection:
        yield connection, kernel


@asynccontextmanager
async def server_with(guarded: MgpServer, greeting: Json) -> AsyncGenerator[RawKernel]:
    """Yield a raw kernel of a server of ours, to which it has sent the example of `initialize`."""
    server, raw = Server("terminal", "1", extensions=[guarded]), RawKernel()

    @server.tool
    async def execute_command(command: str) -> str:
        """Execute a shell command"""
        return command

    async with background() as tasks:
        tasks.start_soon(server.serve, raw)
        raw.say(**greeting)
        while not raw.heard:
            await raw.settle()
        raw.say(method="notifications/initialized")
        yield raw
        tasks.cancel_scope.cancel()


@pytest.mark.spec("mgp-2.1-3", "mgp-2.2-5", "mgp-8.1-1")
async def test_the_greeting_of_a_client() -> None:
    async with server_with(MgpServer(), MESSAGES[2]) as raw:
        answer = raw.heard[0]
    assert answer["id"] == MESSAGES[2]["id"]
    assert answer["result"]["capabilities"]["mgp"] == {
        "version": "0.2.0",
        "extensions": ["security"],
    }


@pytest.mark.spec("mgp-2.3-2", "mgp-2.3-4")
async def test_the_greeting_of_a_server_and_the_exchange_about_its_permissions() -> None:
    offer = MESSAGES[3]["result"]["capabilities"]["mgp"]

    async def ask(question: PermissionQuestion) -> PermissionAnswer:
        return PermissionAnswer("approved", by="admin", lasts=2 * 86_400 - 43_200)

    answered = MESSAGES[5]["result"]
    raw = RawServer(
        tool("think"), mgp=offer, mgp_permission_request=answered, mgp_permission_response={}
    )
    async with kernel_with(raw, permissions=Permissions(ask=ask)) as (_, kernel):
        (server,) = kernel.servers
        assert server.offer is not None
        assert to_wire(server.offer) == offer | {"extensions": sorted(offer["extensions"])}
        assert server.extensions == {"security", "audit"}
    (asked,), (decided, *_) = raw.of("mgp/permission/request"), raw.of("mgp/permission/response")
    assert set(asked) - {"trace_id", "_meta"} == set(MESSAGES[4]["params"])
    assert asked["policy"] == MESSAGES[4]["params"]["policy"]
    assert asked["permissions"] == ["shell.execute", "network.outbound", "network.listen"]
    assert set(decided) - {"trace_id", "_meta"} == set(answered)
    assert decided["request_id"] == asked["request_id"]
    assert decided["grants"]["shell.execute"] == "approved"
    assert (decided["approved_by"], decided["expires_at"]) == ("admin", "2026-03-01T00:00:00.000Z")


async def test_a_server_takes_the_messages_about_permissions() -> None:
    async with server_with(MgpServer(), MESSAGES[2]) as raw:
        request, decided = MESSAGES[4], MESSAGES[5]["result"]
        waiting = await raw.ask(2, request["method"], request["params"])
        answer = await raw.ask(3, "mgp/permission/response", decided)
    assert waiting["result"]["request_id"] == decided["request_id"] == "perm-001"
    assert answer["result"] == {}


@pytest.mark.spec("mgp-4.3-2", "mgp-4.3-3", "mgp-4.3-6")
async def test_a_tool_with_its_security() -> None:
    listed = tool_of(6)
    async with kernel_with(RawServer(listed, mgp=ALL)) as (connection, kernel):
        assert [one.name async for one in connection.tools()] == ["execute_command"]
        await connection.mcp.ping()
        with pytest.raises(Exception, match="permission"):
            await connection.mcp.tools_call(name="execute_command", arguments={"command": "ls"})
        (known,) = kernel.servers[0].tools.values()
    assert (known.risk, known.validators, known.confirm) == ("dangerous", ("sandbox",), True)
    assert known.permissions == ("shell.execute",)
    assert known.security is not None
    assert to_wire(known.security) == listed["security"]

    ours = from_wire(ToolSecurity, listed["security"])
    async with server_with(MgpServer(tools={"execute_command": ours}), MESSAGES[2]) as raw:
        (shown,) = (await raw.ask(2, "tools/list", {}))["result"]["tools"]
    assert {name: shown[name] for name in ("name", "description", "security")} == {
        name: listed[name] for name in ("name", "description", "security")
    }


async def test_access_is_asked_for_granted_and_revoked() -> None:
    options = {"access": Access(is_operator=lambda who: who.id == "mind.cerebras")}
    with audited() as events:
        raw = RawServer(tool("think"), mgp=ALL)
        async with kernel_with(raw, **options) as (_, kernel):
            granted = await raw.ask(4, MESSAGES[9]["method"], MESSAGES[9]["params"])
            asked = await raw.ask(3, MESSAGES[7]["method"], MESSAGES[7]["params"])
            revoked = await raw.ask(5, MESSAGES[10]["method"], MESSAGES[10]["params"])
            assert await kernel.access.list() == []
    by = {"granted_by": "server:mind.cerebras"}  # the kernel says who it was, not the message
    expected = MESSAGES[8]["result"] | by
    assert asked["result"] | {"granted_at": expected["granted_at"]} == expected
    assert seconds_of(asked["result"]["granted_at"]) == seconds_of(expected["granted_at"])
    entry = MESSAGES[9]["params"] | by
    assert entry.items() <= granted["result"].items()
    assert revoked["result"] == {"revoked": True, "entry": granted["result"]}
    assert [one["event_type"] for one in events if one["event_type"].startswith("ACCESS")] == [
        "ACCESS_GRANTED",
        "ACCESS_REVOKED",
    ]


def of_the_example(events: AuditEvents) -> Json:
    """Return the event of the call, without what is another in each run."""
    (event,) = events.of("TOOL_EXECUTED")
    found = json.loads(json.dumps(event))
    found["details"]["duration_ms"] = 1200
    return dict(found)


@pytest.mark.spec("mgp-6.3-1")
async def test_the_event_of_a_call_is_sent_to_an_audit_server() -> None:
    async def confirm(request: Any) -> bool:
        return True

    expected = MESSAGES[11]["params"]
    audit, terminal = RawServer(mgp=ALL | {"server_id": "a"}), RawServer(tool_of(6))
    with audited() as events:
        kernel = MgpKernel(
            confirmations=Confirmations(confirm=confirm),
            permissions=Permissions(policy="auto_approve"),
            clock=lambda: NOON,
        )
        async with Host("h", "1", extensions=[kernel]) as host:
            await host.connect(audit, server_id="a")
            connection = await host.connect(terminal, server_id="tool.terminal")
            called = {"name": "execute_command", "arguments": {"command": "ls"}}
            with kernel.acting_for("agent.cloto_default"):
                trace = {"trace_id": expected["trace_id"]}
                await connection.session.raw("tools/call", called | trace)
            while not any("TOOL_EXECUTED" in str(one) for one in audit.heard):
                await audit.settle()
    assert of_the_example(events) == expected
    sent = AuditEvents(audit.of("notifications/mgp.audit"))
    assert of_the_example(sent) == expected


async def test_the_event_of_a_server_is_taken_as_its_own() -> None:
    raw = RawServer(tool("think"), mgp=ALL)
    with audited() as events:
        async with kernel_with(raw) as (connection, _):
            raw.say(**{name: MESSAGES[11][name] for name in ("method", "params")})
            await raw.settle()
            await connection.mcp.ping()
    (event,) = events.of("TOOL_EXECUTED")
    assert event["target"]["server_id"] == event["details"]["reported_by"] == "mind.cerebras"
    assert event["details"]["source"] == "server"
    assert event["actor"] == MESSAGES[11]["params"]["actor"]


async def test_a_tool_that_takes_code() -> None:
    listed = tool_of(12)
    async with kernel_with(RawServer(listed, mgp=ALL)) as (connection, kernel):
        _ = [one async for one in connection.tools()]
        await connection.mcp.ping()
        with pytest.raises(Exception, match="permission"):
            await connection.mcp.tools_call(name=listed["name"], arguments={"code": "1"})
        (known,) = kernel.servers[0].tools.values()
    assert (known.risk, known.validators) == ("dangerous", ("code_safety",))
    (declared,) = known.code_safety
    assert to_wire(declared) == listed["security"]["code_safety"]


async def test_code_is_rejected_as_the_text_shows() -> None:
    safety = CodeSafety(
        level="standard",
        max_code_size_bytes=10_000,
        blocked_imports=["subprocess", "shutil"],
        blocked_patterns=["eval("],
    )
    guarded = MgpServer(
        tools={
            "run": ToolSecurity(risk_level="dangerous", validator="code_safety", code_safety=safety)
        }
    )
    server, raw = Server("terminal", "1", extensions=[guarded]), RawKernel()

    @server.tool
    async def run(code: str) -> Any:
        """Run code."""
        return code_rejection(code, safety=safety) or "ran"

    async with background() as tasks:
        tasks.start_soon(server.serve, raw)
        await raw.greet(ALL)
        called = {"name": "run", "arguments": {"code": "import subprocess\neval('1')"}}
        result = (await raw.ask(1, "tools/call", called))["result"]
        tasks.cancel_scope.cancel()
    rejection = json.loads(result["content"][0]["text"])
    assert result["isError"] is True
    assert rejection["status"] == "rejected"
    assert rejection["reason"] == "Code validation failed"
    assert rejection["violations"] == ["Blocked import: 'subprocess'", "Blocked pattern: 'eval('"]
    assert set(rejection["hints"]["blocked_imports"]) >= {"subprocess", "shutil"}
    assert rejection["hints"]["max_code_size_bytes"] == 10_000


@pytest.mark.spec("mgp-13.4-notifications-mgp.callback.request-2")
async def test_a_server_asks_as_the_example_does() -> None:
    guarded = MgpServer()
    server, raw = Server("files", "1", extensions=[guarded]), RawKernel()
    expected = MESSAGES[34]["params"]

    @server.tool
    async def remove(context: MgpContext) -> bool:
        return await context.confirm(expected["message"])

    async with background() as tasks:
        tasks.start_soon(server.serve, raw)
        await raw.greet({**ALL, "extensions": ["bidirectional"]})
        called = {"name": "remove", "arguments": {}}
        raw.say(id=expected["request_id"], method="tools/call", params=called)
        while len(raw.heard) == 1:
            await raw.settle()
        asked = raw.heard[1]
        name = {"callback_id": asked["params"]["callback_id"]}
        assert asked == MESSAGES[34] | {"params": expected | name}
        response = MESSAGES[35]["params"] | name
        answer = await raw.ask(MESSAGES[35]["id"], MESSAGES[35]["method"], response)
        assert answer["result"] == {}
        while raw.heard[-1].get("id") != expected["request_id"]:
            await raw.settle()
        tasks.cancel_scope.cancel()
    assert raw.heard[-1]["result"]["content"][0]["text"] == "true"


async def test_a_kernel_answers_the_example() -> None:
    async def answer(question: CallbackQuestion) -> bool:
        return bool(question.message == MESSAGES[34]["params"]["message"])

    raw = RawServer(
        tool("think"),
        mgp={**ALL, "extensions": ["bidirectional"]},
        tools_call=lambda _: NOTHING,
        mgp_callback_respond={},
    )
    async with (
        kernel_with(raw, callbacks=Callbacks(answer=answer)) as (connection, _),
        background() as tasks,
    ):
        tasks.start_soon(connection.session.raw, "tools/call", {"name": "think"})
        await raw.tells("tools/call")
        (id,) = (one["id"] for one in raw.heard if one.get("method") == "tools/call")
        asked = MESSAGES[34] | {"params": MESSAGES[34]["params"] | {"request_id": id}}
        raw.say(**{name: asked[name] for name in ("method", "params")})
        (said,) = await raw.tells(MESSAGES[35]["method"])
        tasks.cancel_scope.cancel()
    assert MESSAGES[35]["params"].items() <= said["params"].items()


async def test_an_error_with_its_recovery() -> None:
    error = MESSAGES[36]["error"]
    raw = RawServer(tool("think"), mgp=ALL, tools_call=error)
    async with kernel_with(raw, retries=Retries(most=0)) as (connection, _):
        with pytest.raises(RateLimitedError) as caught:
            result_text(await connection.mcp.tools_call(name="think"))
    assert caught.value.data == error["data"]
    assert caught.value.message == error["message"]
    assert to_wire(recovery_of(caught.value)) == error["data"]["_mgp"]


CHECKS = ("api_key_configured", "model_reachable", "database_connected")
THINKS = {"version": "0.2.0", "extensions": ["lifecycle"], "server_id": "mind.cerebras"}


@pytest.mark.spec("mgp-11.3-1", "mgp-11.4-1")
async def test_a_server_answers_for_its_health_and_ends() -> None:
    checks = dict.fromkeys(CHECKS, lambda: True)
    guarded = MgpServer(server_id="mind.cerebras", lifecycle=Lifecycle(checks=checks))
    server, raw = Server("mind", "1", extensions=[guarded]), RawKernel()
    go_on = anyio.Event()
    for name in ("think", "reflect", "plan"):
        server.tool(name=name)(go_on.wait)
    async with background() as tasks:
        tasks.start_soon(server.serve, raw)
        await raw.greet(THINKS)
        for block in (14, 16, 18):
            asked, shown = MESSAGES[block], MESSAGES[block + 1]["result"]
            if block == 18:
                raw.say(id=1, method="tools/call", params={"name": "think"})
                raw.say(id=2, method="tools/call", params={"name": "plan"})
                await raw.settle()
            answer = (await raw.ask(asked["id"], asked["method"], asked["params"]))["result"]
            assert answer.keys() == shown.keys()
            same = {key for key in shown if answer[key] == shown[key]}
            times = {"timestamp", "uptime_secs", "resources", "estimated_drain_ms"}
            assert same >= shown.keys() - times
            if block == 16:
                assert answer["resources"].keys() == shown["resources"].keys()
        (told,) = await raw.tells("notifications/mgp.lifecycle")
        shown = MESSAGES[20]
        assert told.keys() == shown.keys()
        assert {**told["params"], "timestamp": shown["params"]["timestamp"]} == shown["params"]
        go_on.set()


async def test_a_kernel_reads_what_a_server_says_of_its_health_and_its_end() -> None:
    answers = {MESSAGES[block]["method"]: MESSAGES[block + 1]["result"] for block in (14, 16, 18)}
    raw = RawServer(tool("think"), mgp=THINKS, **answers)
    heard: list[Any] = []
    async with kernel_with(raw) as (connection, kernel):

        @kernel.on.notifications_mgp_lifecycle
        async def changed(params: LifecycleNotificationParams) -> None:
            heard.append(params)

        (server,) = kernel.servers
        health = await HealthMonitor(server, clock=lambda: NOON).check()
        assert raw.of("mgp/health/ping")[0]["timestamp"] == MESSAGES[14]["params"]["timestamp"]
        assert (health.status, dict(health.checks)) == ("healthy", dict.fromkeys(CHECKS, True))
        assert health.resources == MESSAGES[17]["result"]["resources"]
        asked = MESSAGES[18]["params"]
        result = await ServerStub(connection).mgp_lifecycle_shutdown(**asked)
        assert raw.of("mgp/lifecycle/shutdown")[0].items() >= asked.items()
        assert to_wire(result) == MESSAGES[19]["result"]
        raw.say(**MESSAGES[20])
        await raw.settle()
    assert [to_wire(one) for one in heard] == [MESSAGES[20]["params"]]
