"""One connection, over memory with real frames, the same on every driver."""

from __future__ import annotations

from asyncio import CancelledError
from contextvars import ContextVar
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire.rpc.codec import EncodedObject
from kinwire.rpc.errors import (
    InvalidResponseError,
    RequestCancelledError,
    RequestTimeoutError,
    RpcError,
    ShapeError,
)
from kinwire.rpc.limits import Limits
from kinwire.rpc.request import Request
from kinwire_protocols import mcp
from kinwire_protocols.jsonrpc.errors import InternalError, MethodNotFoundError
from kinwire_protocols.mcp import methods
from tests.runtime.rpc.fixtures_sessions import (
    EVERY_DRIVER,
    TOOL,
    Gate,
    connected,
    echo,
    for_ever,
    routes_of,
    tool,
    tool_text,
)

pytestmark = EVERY_DRIVER


async def test_a_stub_gets_its_typed_result() -> None:
    async with connected(tool(echo)) as peers:
        text = "é漢😀\u2028—\u0085"
        result = await mcp.ServerStub(peers.client).tools_call(
            name="echo", arguments={"text": text}
        )
        assert result == tool_text(text)


async def test_both_ends_call_each_other() -> None:
    async def roots(params: Any, request: Request) -> mcp.ListRootsResult:
        return mcp.ListRootsResult(roots=[mcp.Root(uri="file:///x")])

    async def ask_back(params: Any, request: Request) -> mcp.CallToolResult:
        listed = await mcp.ClientStub(request.session).roots_list()
        return tool_text(listed.roots[0].uri)

    async with connected(tool(ask_back), routes_of((methods.ROOTS_LIST, roots))) as peers:
        result = await peers.client.call(methods.TOOLS_CALL, TOOL)
        assert result == tool_text("file:///x")


async def test_a_raw_call_returns_what_came() -> None:
    async def lookup(params: Any, request: Request) -> dict[str, Any]:
        return {"answer": 42, "nothing": None}

    async with connected(tool(lookup)) as peers:
        answer = await peers.client.raw("tools/call", {"name": "x"})
        assert answer == {"answer": 42, "nothing": None}
        with pytest.raises(MethodNotFoundError, match="x/lookup"):
            await peers.client.raw("x/lookup")


async def test_a_notification_that_need_not_wait_is_sent_at_once_or_not_at_all() -> None:
    async def around(params: Any, method: Any, go_on: Any) -> Any:
        return await go_on(params)

    row, shared = methods.NOTIFICATIONS_MESSAGE, EncodedObject({"level": "info", "data": "é"})
    async with connected(routes_of(), limits=Limits(unsent=150)) as peers:
        sent = [
            peers.server.notify_now(row, EncodedObject({"logger": name}), shared) for name in "abc"
        ]
        await peers.server.wait_for_room()
        sent.append(peers.server.notify_now(row, EncodedObject({"logger": "d"}), shared))
        await peers.client.call(methods.PING, mcp.RequestParams())
        peers.server.intercept_outbound(around, row)
        sent.append(peers.server.notify_now(row, EncodedObject({"logger": "intercepted"}), shared))
    sent.append(peers.server.notify_now(row, EncodedObject({"logger": "late"}), shared))
    assert sent == [True, True, False, True, False, False]
    assert [one["params"] for end, one in peers.frames if one.get("method") == row.name] == [
        {"logger": name, "level": "info", "data": "é"} for name in "abd"
    ]


async def test_what_belongs_to_a_request_is_left_out_where_it_would_have_to_wait() -> None:
    row, reports = methods.NOTIFICATIONS_MESSAGE, list[float]()

    async def work(params: Any, request: Request) -> dict[str, Any]:
        session = request.session
        for number in (1, 2):
            session.progress_if_room(request, number, 3, None)
            sent.append(session.notify_if_room(row, {"level": "info", "data": "x" * 100}))
        session.progress_if_room(request, 3, 3, None)  # too much waits now
        return {}

    sent: list[bool] = []
    async with connected(tool(work), limits=Limits(unsent=250)) as peers:
        await peers.client.raw(
            "tools/call", {"name": "x"}, on_progress=lambda report: reports.append(report.progress)
        )
    assert (sent, reports) == ([True, False], [1])
    assert peers.sent_by(1).count(row.name) == 1
    assert not peers.server.notify_if_room(row, {"level": "info", "data": "late"})


async def test_a_result_of_a_wrong_shape_names_the_place() -> None:
    async def wrong(params: Any, request: Request) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": 2}]}

    async with connected(tool(wrong)) as peers:
        with pytest.raises(ShapeError, match="tools/call#/content/1/text: expected") as caught:
            await peers.client.call(methods.TOOLS_CALL, TOOL)
        assert isinstance(caught.value, InvalidResponseError)
        assert await peers.client.raw("ping") == {}


async def test_concurrent_calls_get_their_own_answers() -> None:
    async def slow_first(params: mcp.CallToolRequestParams, request: Request) -> Any:
        number = int((params.arguments or {})["n"])
        for _ in range(50 - number):
            await checkpoint()
        return tool_text(str(number))

    async with connected(tool(slow_first)) as peers, anyio.create_task_group() as tasks:

        async def one(number: int) -> None:
            params = mcp.CallToolRequestParams(name="x", arguments={"n": number})
            assert await peers.client.call(methods.TOOLS_CALL, params) == tool_text(str(number))

        for number in range(50):
            tasks.start_soon(one, number)


async def test_options_belong_to_the_call_and_meta_to_the_params() -> None:
    seen: list[float] = []

    async def report(params: Any, request: Request) -> mcp.CallToolResult:
        for value in (1, 2, 2, 3):
            await request.progress(value, 3)
        return tool_text(str(params.meta.model_extra["trace"]))

    async with connected(tool(report)) as peers:
        peer = peers.client.with_options(
            timeout=5, on_progress=lambda one: seen.append(one.progress), meta={"trace": "t1"}
        )
        result = await mcp.ServerStub(peer).tools_call(name="x", meta=mcp.RequestMeta())
        assert (result, seen) == (tool_text("t1"), [1, 2, 3])


async def test_an_asynchronous_progress_callback_is_refused() -> None:
    async def too_late(report: object) -> None: ...

    async with connected(tool(echo)) as peers:
        with pytest.raises(TypeError, match="plain function"):
            await peers.client.call(methods.PING, mcp.RequestParams(), on_progress=too_late)
        assert peers.frames == []


async def test_a_timeout_raises_and_cancels_the_request() -> None:
    gate = Gate()
    async with connected(tool(gate)) as peers:
        with pytest.raises(RequestTimeoutError, match=r"tools/call: no answer within 0\.01 s"):
            await peers.client.call(methods.TOOLS_CALL, TOOL, timeout=0.01)
        await gate.ended.wait()
        assert gate.outcome != "finished"
        assert peers.sent_by(0) == ["tools/call", "notifications/cancelled"]
        assert peers.sent_by(1) == []


async def test_the_default_timeout_is_that_of_the_limits() -> None:
    async with connected(tool(for_ever), limits=Limits(request_timeout=0.01)) as peers:
        with pytest.raises(RequestTimeoutError):
            await peers.client.call(methods.TOOLS_CALL, TOOL)


@pytest.mark.spec("mcp-ping-2")
async def test_reading_goes_on_while_handlers_run() -> None:
    gate = Gate()
    async with connected(tool(gate)) as peers, anyio.create_task_group() as tasks:
        tasks.start_soon(peers.client.call, methods.TOOLS_CALL, TOOL)
        await gate.begun.wait()
        assert await peers.client.raw("ping") == {}
        gate.let_go.set()


async def test_handlers_that_call_back_never_block_each_other() -> None:
    outcomes: list[int] = []

    async def call_back(params: Any, request: Request) -> mcp.CallToolResult:
        await request.session.raw("ping")
        return tool_text("x")

    async with connected(tool(call_back), limits=Limits(in_flight=4)) as peers:

        async def one() -> None:
            try:
                await peers.client.call(methods.TOOLS_CALL, TOOL)
            except RpcError as error:
                outcomes.append(error.code)
            else:
                outcomes.append(0)

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(one)
    assert len(outcomes) == 10
    assert outcomes.count(0) >= 4
    assert set(outcomes) <= {0, -32000}


async def test_a_notification_handler_may_ask_the_peer() -> None:
    asked = anyio.Event()

    async def changed(params: Any, request: Request) -> None:
        await request.session.raw("ping")
        asked.set()

    async def notify(params: Any, request: Request) -> mcp.CallToolResult:
        await request.session.notify(
            methods.NOTIFICATIONS_TOOLS_LIST_CHANGED, mcp.NotificationParams()
        )
        await asked.wait()
        return tool_text("x")

    routes = routes_of((methods.NOTIFICATIONS_TOOLS_LIST_CHANGED, changed))
    async with connected(tool(notify), routes) as peers:
        assert await peers.client.call(methods.TOOLS_CALL, TOOL) == tool_text("x")


async def test_scopes_task_groups_and_timeouts_work_in_handlers() -> None:
    async def busy(params: Any, request: Request) -> mcp.CallToolResult:
        done: list[str] = []

        async def child(name: str) -> None:
            await checkpoint()
            done.append(name)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(child, "a")
            tasks.start_soon(child, "b")
        with anyio.move_on_after(0.001):
            await anyio.sleep_forever()
        try:
            with anyio.fail_after(0.001):
                await anyio.sleep_forever()
        except TimeoutError:
            done.append("timeout")
        done.append(await anyio.to_thread.run_sync(lambda: "thread"))
        return tool_text(" ".join(sorted(done)))

    async with connected(tool(busy)) as peers:
        result = await peers.client.call(methods.TOOLS_CALL, TOOL)
        assert result == tool_text("a b thread timeout")


async def test_a_cancellation_waits_outside_a_shield() -> None:
    begun, let_go, seen = anyio.Event(), anyio.Event(), list[str]()

    async def shielded(params: Any, request: Request) -> Any:
        with anyio.CancelScope(shield=True):
            begun.set()
            await let_go.wait()
            seen.append("shield held")
        try:
            await anyio.sleep_forever()
        finally:
            seen.append("stopped")

    async with connected(tool(shielded)) as peers:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peers.client.call, methods.TOOLS_CALL, TOOL)
            await begun.wait()
            tasks.cancel_scope.cancel()
        assert await peers.client.raw("ping") == {}
        assert seen == []
        let_go.set()
        while len(seen) < 2:
            await checkpoint()
        assert seen == ["shield held", "stopped"]


async def test_a_handler_sees_that_it_was_cancelled() -> None:
    outcome: list[str] = []
    begun, told = anyio.Event(), anyio.Event()

    async def patient(params: Any, request: Request) -> Any:
        with anyio.CancelScope(shield=True):
            request.raise_if_cancelled()
            begun.set()
            await told.wait()
            try:
                request.raise_if_cancelled()
            except RequestCancelledError as error:
                outcome.append(str(error))

    async with connected(tool(patient)) as peers:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(peers.client.call, methods.TOOLS_CALL, TOOL)
            await begun.wait()
            tasks.cancel_scope.cancel()
        assert await peers.client.raw("ping") == {}
        told.set()
        while not outcome:
            await checkpoint()
        assert "tools/call" in outcome[0]


@pytest.mark.parametrize(
    "error",
    [
        ValueError("secret"),
        SystemExit(3),
        GeneratorExit(),
        CancelledError(),
        BaseException("odd"),
        ExceptionGroup("g", [KeyError()]),
        BaseExceptionGroup("g", [SystemExit(3)]),
    ],
)
@pytest.mark.spec("mcp-error-codes-5")
async def test_a_handler_that_fails_is_an_internal_error(error: BaseException) -> None:
    async def fail(params: Any, request: Request) -> Any:
        raise error

    async with connected(tool(fail)) as peers:
        with pytest.raises(InternalError) as caught:
            await peers.client.call(methods.TOOLS_CALL, TOOL)
        assert set(caught.value.data) == {"correlationId", "protocol", "name"}
        assert await peers.client.raw("ping") == {}


async def test_the_callers_context_does_not_reach_the_handler() -> None:
    user: ContextVar[str] = ContextVar("user", default="nobody")

    async def whoami(params: Any, request: Request) -> mcp.CallToolResult:
        return tool_text(user.get())

    async with connected(tool(whoami)) as peers:
        user.set("caller")
        assert await peers.client.call(methods.TOOLS_CALL, TOOL) == tool_text("nobody")


async def test_a_request_knows_what_it_is() -> None:
    seen: list[Request] = []

    async def look(params: Any, request: Request) -> mcp.CallToolResult:
        seen.append(request)
        return tool_text("x")

    async with connected(tool(look)) as peers:
        await peers.client.call(methods.TOOLS_CALL, TOOL)
        (request,) = seen
        assert request.session is peers.server
        assert (request.id, request.method) == (1, methods.TOOLS_CALL)
        assert (request.progress_token, request.cancelled) == (None, False)


async def test_progress_after_the_answer_is_not_sent() -> None:
    kept: list[Request] = []

    async def keep(params: Any, request: Request) -> mcp.CallToolResult:
        kept.append(request)
        return tool_text("x")

    async with connected(tool(keep)) as peers:
        await peers.client.call(methods.TOOLS_CALL, TOOL, on_progress=lambda _: None)
        await kept[0].progress(1)
        assert await peers.client.raw("ping") == {}
        assert peers.sent_by(1) == ["reply", "reply"]
