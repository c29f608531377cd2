"""Calls to raw servers through the kernel: every path is guarded, judged in order, audited once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from kinwire import Connection, Context, Host, RequestTimeoutError, RpcError, SessionStateError
from kinwire.mcpl import McplHost
from kinwire.mgp import (
    CallLimit,
    ConfirmationRequest,
    Confirmations,
    MgpKernel,
    PermissionAnswer,
    PermissionQuestion,
    Permissions,
    ServerPolicy,
    ToolPolicy,
)
from kinwire_protocols import mcp
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.mgp import errors
from tests.runtime.mgp.fixtures_kernel import audited, guarded, outcome
from tests.runtime.mgp.raw_peers import Json, RawServer, tool

pytestmark = pytest.mark.anyio

MGP: Json = {"version": "0.2.0", "extensions": ["security", "access_control", "audit"]}
Path = Callable[[Connection, str], Awaitable[Any]]


async def by_stub(connection: Connection, name: str) -> Any:
    return await connection.mcp.tools_call(name=name)


async def by_options(connection: Connection, name: str) -> Any:
    return await connection.with_options(timeout=5, meta={"a": 1}).mcp.tools_call(name=name)


async def by_connection(connection: Connection, name: str) -> Any:
    return await connection.call(TOOLS_CALL, mcp.CallToolRequestParams(name=name))


async def by_session(connection: Connection, name: str) -> Any:
    return await connection.session.call(TOOLS_CALL, mcp.CallToolRequestParams(name=name))


async def by_raw(connection: Connection, name: str) -> Any:
    return await connection.session.raw("tools/call", {"name": name})


PATHS: list[Path] = [by_stub, by_options, by_connection, by_session, by_raw]


@pytest.mark.parametrize("mgp", [MGP, None], ids=["mgp", "plain"])
@pytest.mark.spec("mgp-8.2-3", "mgp-1.2-5", "mgp-1.3-3")
async def test_every_path_of_a_call_is_guarded_and_has_one_event(mgp: Json | None) -> None:
    kernel, raw = MgpKernel(), RawServer(tool("think"), tool("other"), mgp=mgp)
    await kernel.access.grant("host", "s", "deny", tool="think")
    with audited() as events:
        async with Host("h", "1", extensions=[McplHost(), kernel]) as host:
            connection = await host.connect(raw, server_id="s")
            for path in PATHS:
                assert await outcome(path(connection, "think")) == 1001
                assert await outcome(path(connection, "absent")) == 4001
                assert not isinstance(await outcome(path(connection, "other")), int)
            for notify in (
                connection.session.raw_notify("tools/call", {"name": "think"}),
                connection.session.notify(TOOLS_CALL, mcp.CallToolRequestParams(name="think")),
            ):
                with pytest.raises(SessionStateError):
                    await notify
    assert {one["name"] for one in raw.calls} == {"other"}
    found = [(one["event_type"], one["target"]["tool_name"]) for one in events.of_calls]
    assert found == len(PATHS) * [
        ("TOOL_BLOCKED", "think"),
        ("TOOL_BLOCKED", "absent"),
        ("TOOL_EXECUTED", "other"),
    ]


async def test_interceptors_of_the_program_cannot_change_a_call_after_it_was_judged() -> None:
    kernel, raw = MgpKernel(), RawServer(tool("think"), tool("other"))
    await kernel.access.grant("host", "s", "deny", tool="think")
    async with guarded(raw, kernel) as connection:

        async def rename(params: mcp.CallToolRequestParams, method: Any, go_on: Any) -> Any:
            return await go_on(params.model_copy(update={"name": "think"}))

        connection.session.intercept_outbound(rename, TOOLS_CALL)
        assert await outcome(by_stub(connection, "other")) == 1001
    assert raw.calls == []


@pytest.mark.spec("mgp-5.2-1")
async def test_what_may_not_be_called_is_not_listed() -> None:
    policy = ServerPolicy(tools={"off": ToolPolicy(enabled=False)})
    kernel = MgpKernel(servers={"s": policy})
    raw = RawServer(tool("think"), tool("off"), tool("mine"))
    await kernel.access.grant("agent.a", "s", "deny")
    await kernel.access.grant("agent.a", "s", tool="mine")
    async with guarded(raw, kernel) as connection:
        for agent, expected in (("host", {"think", "mine"}), ("agent.a", {"mine"})):
            with kernel.acting_for(agent):
                listed = {one.name async for one in connection.tools()}
                page = await connection.session.raw("tools/list")
                for one in raw.tools:
                    called = await outcome(by_raw(connection, one["name"]))
                    assert isinstance(called, int) is (one["name"] not in expected)
            assert listed == {one["name"] for one in page["tools"]} == expected


CODES: list[tuple[str, int]] = [
    ("fine", 0),
    ("fine", 3000),
    ("counted", 0),
    ("counted", 3002),
    ("off", 4002),
    ("absent", 4001),
]


async def test_limits_and_switches_of_the_configuration() -> None:
    policy = ServerPolicy(
        tools={
            "fine": ToolPolicy(rate=CallLimit(1, 10)),
            "counted": ToolPolicy(quota=1),
            "off": ToolPolicy(enabled=False),
        },
        credentials_expire=1_000_100.0,
    )
    now = 1_000_000.0
    kernel = MgpKernel(servers={"s": policy}, clock=lambda: now)
    raw = RawServer(*(tool(name) for name in ("fine", "counted", "off")))
    async with guarded(raw, kernel) as connection:
        for name, code in CODES:
            assert code in (await outcome(by_raw(connection, name)), 0)
    async with guarded(raw, kernel) as connection:  # it has not forgotten
        assert await outcome(by_raw(connection, "fine")) == 3000
        with pytest.raises(RpcError, match="all 1 calls of counted") as caught:
            await by_raw(connection, "counted")
        assert caught.value.data["_mgp"]["details"] == {"limit": 1, "current": 2}
        with kernel.acting_for("agent.b"):
            assert "content" in await by_raw(connection, "counted")
        kernel.reset_quota("host", "s")
        assert "content" in await by_raw(connection, "counted")
        now += 10
        assert "content" in await by_raw(connection, "fine")
        with pytest.raises(errors.RateLimitedError) as limited:
            await by_stub(connection, "fine")
        recovery = limited.value.data["_mgp"]
        assert recovery["retry_after_ms"] == 10_000
        assert recovery["details"] == {"limit": 1, "window_secs": 10, "current": 2}
        now += 90
        assert await outcome(by_raw(connection, "fine")) == 1003
    assert [one["name"] for one in raw.calls] == ["fine", "counted", "counted", "counted", "fine"]


async def test_a_limit_of_a_server_is_called_by_its_name() -> None:
    for policy, text in (
        (ServerPolicy(rate=CallLimit(1, 10.0)), "Rate limited: 1 calls of s in 10 seconds"),
        (ServerPolicy(quota=1), "host has made all 1 calls of s. "),
    ):
        kernel = MgpKernel(servers={"s": policy})
        async with guarded(RawServer(tool("fine"), tool("think")), kernel) as connection:
            await by_stub(connection, "fine")
            with pytest.raises(RpcError, match=text):
                await by_stub(connection, "think")


@pytest.mark.spec("mgp-6.5-1")
async def test_every_request_carries_a_trace_id_and_the_event_has_the_same() -> None:
    kernel, raw = MgpKernel(), RawServer(tool("think"), mgp=MGP)
    own: Json = {"name": "think", "trace_id": "550e8400-e29b-41d4-a716-446655440000"}
    with audited() as events:
        async with guarded(raw, kernel) as connection:
            await by_stub(connection, "think")
            await connection.session.raw("tools/call", own)
            await connection.mcp.ping()
            _ = [one async for one in connection.tools()]
    called = [one["trace_id"] for one in raw.calls]
    assert called == [one["trace_id"] for one in events.of("TOOL_EXECUTED")]
    assert called[1] == own["trace_id"] != called[0]
    parents = [one["_meta"]["traceparent"] for one in raw.calls]
    assert [parent.split("-")[1] for parent in parents] == [one.replace("-", "") for one in called]
    assert raw.of("ping")[0]["trace_id"]
    assert raw.of("tools/list")[-1]["trace_id"]


async def test_events_have_nothing_of_arguments_or_of_texts_of_errors() -> None:
    def fail(params: Json) -> Json:
        return {"code": 5000, "message": f"no {params['arguments']}"}

    raw = RawServer(tool("think", "about"), mgp=MGP, tools_call=fail)
    with audited() as events:
        async with guarded(raw, MgpKernel()) as connection:
            for name in ("think", "absent"):
                called = {"name": name, "arguments": {"about": "SECRET-123"}}
                await outcome(connection.session.raw("tools/call", called))
    assert [one["details"]["code"] for one in events.of_calls] == [5000, 4001]
    assert "SECRET-123" not in str(events)


async def test_who_calls_is_what_the_program_says_in_tasks_of_the_block_too() -> None:
    kernel, raw = MgpKernel(), RawServer(tool("think"))
    forged: Json = {"name": "think", "agent_id": "root", "_meta": {"agent_id": "root"}}
    with audited() as events:
        async with guarded(raw, kernel) as connection, anyio.create_task_group() as tasks:
            await connection.session.raw("tools/call", forged)
            with kernel.acting_for("agent.a"):
                with kernel.acting_for("agent.b"):
                    await by_stub(connection, "think")
                tasks.start_soon(by_stub, connection, "think")
                with kernel.acting_as_operator("admin"):
                    await by_stub(connection, "think")
    actors = sorted(one["actor"]["id"] for one in events.of("TOOL_EXECUTED"))
    assert actors == ["agent.a", "agent.a", "agent.b", "host"]


async def test_what_a_server_asks_for_is_done_for_no_agent() -> None:
    kernel, raw, other = MgpKernel(), RawServer(tool("ask")), RawServer(tool("think"))
    answered: list[Any] = []

    async def roots(params: Any, context: Context) -> mcp.ListRootsResult:
        answered.append(await by_stub(connections[1], "think"))
        return mcp.ListRootsResult(roots=[])

    with audited() as events:
        async with Host("h", "1", extensions=[kernel]) as host:
            host.on.roots_list(roots)
            with kernel.acting_for("agent.connects"):
                connections = [
                    await host.connect(one, server_id=name)
                    for name, one in (("a", raw), ("b", other))
                ]
                assert "result" in await raw.ask(1, "roots/list", {})
            with kernel.acting_for("agent.calls"):
                await by_stub(connections[0], "ask")
                assert "result" in await raw.ask(2, "roots/list", {})
                assert "result" in await raw.ask(3, "ping", {})
    actors = [(one["target"]["tool_name"], one["actor"]["id"]) for one in events.of_calls]
    assert actors == [("think", "host"), ("ask", "agent.calls"), ("think", "host")]


async def test_parallel_first_calls_fetch_the_list_once() -> None:
    kernel, raw = MgpKernel(), RawServer(tool("think"), mgp=MGP)
    async with guarded(raw, kernel) as connection, anyio.create_task_group() as tasks:
        for name in ["think"] * 20:
            tasks.start_soon(by_stub, connection, name)
    assert len(raw.of("tools/list")) == 1
    assert len(raw.calls) == 20


async def test_a_server_that_never_lists_its_tools_holds_up_only_its_own_calls() -> None:
    class Silent(RawServer):
        def _take(self, message: Json) -> None:
            if message.get("method") == "tools/list":
                self.heard.append(message)
            else:
                super()._take(message)

    kernel, silent, raw = MgpKernel(), Silent(tool("think")), RawServer(tool("think"))
    with audited() as events, anyio.fail_after(20):
        async with Host("h", "1", extensions=[kernel]) as host:
            slow = await host.connect(silent, server_id="slow")
            quick = await host.connect(raw, server_id="quick")
            with anyio.move_on_after(0.01):
                await by_stub(slow, "think")
            assert "content" in await by_raw(quick, "think")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(outcome_of_end, by_stub(slow, "think"))
                await anyio.wait_all_tasks_blocked()
                await slow.aclose()
    assert silent.calls == []
    blocked = [one["details"].get("error") for one in events.of("TOOL_BLOCKED")]
    assert blocked == ["cancelled", "ConnectionClosedError"]


async def outcome_of_end(doing: Awaitable[Any]) -> None:
    with pytest.raises(Exception, match="closed"):
        await doing


async def test_a_call_without_an_answer_has_its_event() -> None:
    class Deaf(RawServer):
        def _take(self, message: Json) -> None:
            if message.get("method") == "tools/call":
                self.heard.append(message)
            else:
                super()._take(message)

    raw = Deaf(tool("think"))
    with audited() as events:
        async with guarded(raw, MgpKernel()) as connection:
            with pytest.raises(RequestTimeoutError):
                await connection.with_options(timeout=0.01).mcp.tools_call(name="think")
            with anyio.move_on_after(0.01):
                await by_stub(connection, "think")
    found = [one["details"] for one in events.of("TOOL_EXECUTED")]
    assert [one.get("error") or one["reason"] for one in found] == [
        "RequestTimeoutError",
        "cancelled",
    ]


async def test_what_ends_while_a_person_is_asked_counts_for_the_call() -> None:
    ends: list[tuple[Callable[[MgpKernel], Awaitable[Any]], int]] = [
        (lambda kernel: kernel.access.grant("host", "s", "deny", tool="think"), 1001),
        (lambda kernel: kernel.permissions.revoke("s", "memory.read"), 1000),
        (lambda kernel: kernel.tools.disable("s", "think"), 4002),
    ]
    security = {"risk_level": "safe", "permissions_required": ["memory.read"]}
    policy = ServerPolicy(tools={"think": ToolPolicy(confirm=True, rate=CallLimit(1, 60))})
    for lasts in (None, 0.0):  # approved from now on, or for the call
        for end, code in ends:
            kernels: list[MgpKernel] = []

            async def approve(question: PermissionQuestion, lasts: Any = lasts) -> PermissionAnswer:
                return PermissionAnswer("approved", lasts=lasts)

            async def confirm(
                request: ConfirmationRequest, end: Any = end, kernels: Any = kernels
            ) -> bool:
                await end(kernels[0])
                return True

            kernels += [
                MgpKernel(
                    servers={"s": policy},
                    permissions=Permissions(ask=approve),
                    confirmations=Confirmations(confirm=confirm),
                )
            ]
            raw = RawServer(tool("think", security=security), mgp=MGP)
            async with guarded(raw, kernels[0]) as connection:
                assert await outcome(by_raw(connection, "think")) == code
            assert raw.calls == []


async def test_a_call_is_asked_about_once_however_often_it_is_judged() -> None:
    asked: list[str] = []

    async def approve(question: PermissionQuestion) -> PermissionAnswer:
        asked.append(question.permission)
        return PermissionAnswer("approved", lasts=0.0)

    async def confirm(request: ConfirmationRequest) -> bool:
        asked.append("confirm")
        return True

    def fail_first(params: Json) -> Json:
        busy = {"code": 5002, "message": "busy", "data": {"_mgp": {"retry_after_ms": 1}}}
        return busy if len(raw.calls) == 1 else {"content": []}

    kernel = MgpKernel(
        servers={"s": ServerPolicy(tools={"think": ToolPolicy(confirm=True)})},
        permissions=Permissions(ask=approve),
        confirmations=Confirmations(confirm=confirm),
    )
    security = {"risk_level": "safe", "permissions_required": ["memory.read"]}
    raw = RawServer(tool("think", security=security), mgp=MGP, tools_call=fail_first)
    async with guarded(raw, kernel) as connection:
        assert await by_raw(connection, "think") == {"content": []}
    assert asked == ["memory.read", "confirm"]
    assert len(raw.calls) == 2


async def test_a_sandboxed_server_gets_no_audit_events() -> None:
    for trust, sent in (("standard", True), ("sandboxed", False)):
        raw = RawServer(tool("think"), mgp=MGP | {"trust_level": trust})
        async with guarded(raw, MgpKernel()) as connection:
            await outcome(by_raw(connection, "think"))
            await raw.settle()
        assert bool(raw.of("notifications/mgp.audit")) is sent


async def test_a_server_may_ask_the_kernel_while_it_is_called_and_be_called_meanwhile() -> None:
    class Asking(RawServer):
        """It asks before it answers a call of `think`, and lists its tools again."""

        waiting: object = None

        def _take(self, message: Json) -> None:
            if message.get("method") == "tools/call" and message["params"]["name"] == "think":
                self.heard.append(message)
                self.waiting = message["id"]
                self.say(method="notifications/tools/list_changed")
                asked = {"agent_id": "host", "server_id": "s", "tool_name": "think"}
                self.say(id="q", method="mgp/access/query", params=asked)
                return
            super()._take(message)
            if message.get("id") == "q" and "result" in message:
                text = {"type": "text", "text": message["result"]["permission"]}
                self.say(id=self.waiting, result={"content": [text]})

    raw, kernel = Asking(tool("think"), tool("other"), mgp=MGP), MgpKernel()
    with anyio.fail_after(20):
        async with guarded(raw, kernel) as connection, anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(by_stub, connection, "other")
            result = await by_stub(connection, "think")
            assert result.content[0].text == "allow"
    assert len(raw.calls) == 6
