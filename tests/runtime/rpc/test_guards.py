"""Guards and filters of results: they act as interceptors that only check or only replace."""

from __future__ import annotations

from collections.abc import Awaitable
from itertools import product
from typing import Any, Literal

import anyio
import pytest

from kinwire.rpc.codec import EncodedObject
from kinwire.rpc.errors import HandlerDefinitionError, RpcError
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp import methods
from kinwire_protocols.peer import Method
from tests.runtime.rpc.fixtures_sessions import connected, routes_of, tool

pytestmark = pytest.mark.anyio

Kind = Literal["guard", "filter", "interceptor"]
PARAMS = mcp.CallToolRequestParams(name="echo")


def text_of(result: mcp.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, mcp.TextContent)
    return block.text


def marked(result: mcp.CallToolResult, mark: str) -> mcp.CallToolResult:
    text = mcp.TextContent(text=text_of(result) + mark)
    return result.model_copy(update={"content": [text]})


def put(session: Session, kind: Kind, name: str, log: list[str], *, outbound: bool) -> None:
    """Add a layer of a kind, which writes into `log` and marks the result."""

    def check(params: mcp.CallToolRequestParams, about: Any) -> None:
        log.append(f"{name} before")

    def change(result: mcp.CallToolResult, about: Any) -> mcp.CallToolResult:
        return marked(result, name)

    if kind == "guard":
        session.guard(methods.TOOLS_CALL, check, outbound=outbound)
    elif kind == "filter":
        session.filter_result(methods.TOOLS_CALL, change, outbound=outbound)
    else:
        around(session, check, change, outbound=outbound)


def around(session: Session, check: Any, change: Any, *, outbound: bool) -> None:
    """Add an interceptor that runs `check` before and `change` after."""

    async def both(params: mcp.CallToolRequestParams, about: Any, go_on: Any) -> Any:
        check(params, about)
        return change(await go_on(params), about)

    add = session.intercept_outbound if outbound else session.intercept_inbound
    add(both, methods.TOOLS_CALL)


async def echo(params: mcp.CallToolRequestParams, request: Request) -> JsonObject:
    return {"content": [{"type": "text", "text": ""}]}


def expected(kinds: tuple[Kind, ...], *, outbound: bool) -> tuple[list[str], str]:
    """Return log and marks of an onion; the first layer is next to the program."""
    named = list(zip("abc", kinds, strict=True))
    inwards = named if outbound else named[::-1]
    before = [f"{name} before" for name, kind in inwards if kind != "filter"]
    return before, "".join(name for name, kind in inwards[::-1] if kind != "guard")


KINDS: tuple[Kind, ...] = ("guard", "filter", "interceptor")
MIXTURES = list(product(KINDS, repeat=3))


@pytest.mark.parametrize("outbound", [False, True], ids=["inbound", "outbound"])
@pytest.mark.parametrize("kinds", MIXTURES, ids="-".join)
async def test_guards_and_filters_keep_their_place(kinds: tuple[Kind, ...], outbound: bool) -> None:
    log: list[str] = []
    async with connected(tool(echo)) as peers:
        session = peers.client if outbound else peers.server
        for name, kind in zip("abc", kinds, strict=True):
            put(session, kind, name, log, outbound=outbound)
        result = await peers.client.call(methods.TOOLS_CALL, PARAMS)
    assert (log, text_of(result)) == expected(kinds, outbound=outbound)


def refuse(params: Any, about: Any) -> None:
    raise RpcError("not here", code=-32001)


async def refuse_later(params: Any, about: Any) -> None:
    await anyio.lowlevel.checkpoint()
    raise RpcError("not here", code=-32001)


def wait_to_refuse(params: Any, about: Any) -> Awaitable[None]:
    return refuse_later(params, about)


@pytest.mark.parametrize("outbound", [False, True], ids=["inbound", "outbound"])
@pytest.mark.parametrize("guard", [refuse, refuse_later, wait_to_refuse])
async def test_what_a_guard_refuses_reaches_nobody(guard: Any, outbound: bool) -> None:
    reached = 0

    async def count(params: mcp.CallToolRequestParams, request: Request) -> JsonObject:
        nonlocal reached
        reached += 1
        return {"content": []}

    async with connected(tool(count)) as peers:
        session = peers.client if outbound else peers.server
        session.guard(methods.TOOLS_CALL, guard, outbound=outbound)
        with pytest.raises(RpcError, match="not here") as caught:
            await peers.client.call(methods.TOOLS_CALL, PARAMS)
    assert (caught.value.code, reached) == (-32001, 0)


async def test_a_guard_gets_the_request_or_the_method() -> None:
    seen: list[object] = []

    def note(params: Any, about: object) -> None:
        seen.append(about)

    async with connected(tool(echo)) as peers:
        peers.client.guard(methods.TOOLS_CALL, note, outbound=True)
        peers.server.guard(methods.TOOLS_CALL, note)
        await peers.client.call(methods.TOOLS_CALL, PARAMS)
    method, request = seen
    assert method is methods.TOOLS_CALL
    assert isinstance(request, Request)
    assert request.id is not None


@pytest.mark.parametrize("outbound", [False, True], ids=["sent", "received"])
async def test_a_notification_has_no_result_to_filter(outbound: bool) -> None:
    handled = anyio.Event()

    async def handle(params: Any, request: Request) -> None:
        handled.set()

    def fail(result: Any, about: object) -> Any:
        raise AssertionError("there is no result")

    row: Method[Any, Any] = methods.NOTIFICATIONS_ROOTS_LIST_CHANGED
    async with connected(routes_of((row, handle))) as peers:
        session = peers.client if outbound else peers.server
        session.filter_result(row, fail, outbound=outbound)
        await peers.client.notify(row, mcp.NotificationParams())
        with anyio.fail_after(5):
            await handled.wait()


async def filter_later(result: Any, about: object) -> Any:
    return result


@pytest.mark.parametrize(
    ("add", "function", "named"),
    [
        ("guard", lambda params: None, "expected a function of (params, request or method)"),
        ("filter_result", lambda result: result, "expected a plain function of (result, request"),
        ("filter_result", filter_later, "filter_later: expected a plain function"),
    ],
)
async def test_what_cannot_be_called_is_refused_when_it_is_added(
    add: str, function: Any, named: str
) -> None:
    async with connected(tool(echo)) as peers:
        with pytest.raises(HandlerDefinitionError) as caught:
            getattr(peers.server, add)(methods.TOOLS_CALL, function)
    assert named in str(caught.value)


async def bogus(params: mcp.CallToolRequestParams, request: Request) -> JsonObject:
    return {"bogus": 1}


async def nothing(params: mcp.CallToolRequestParams, request: Request) -> None:
    return None


@pytest.mark.parametrize("answer", [bogus, nothing])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_result_that_does_not_fit_is_an_internal_error(kind: Kind, answer: Any) -> None:
    async with connected(tool(answer)) as peers:
        put(peers.server, kind, "a", [], outbound=False)
        with pytest.raises(RpcError) as caught:
            await peers.client.call(methods.TOOLS_CALL, PARAMS)
    assert caught.value.code == -32603


@pytest.mark.parametrize("where", ["first", "after a guard", "after an interceptor", "twice"])
async def test_errors_are_replaced_by_errors_or_results(where: str) -> None:
    async def fail(params: mcp.CallToolRequestParams, request: Request) -> JsonObject:
        raise RpcError("first", code=7)

    def other(error: RpcError, request: Request) -> RpcError:
        assert request.method is methods.TOOLS_CALL
        return RpcError(f"{error.message}, second", code=8) if error.code == 7 else error

    def as_result(error: RpcError, request: Request) -> mcp.CallToolResult:
        return mcp.CallToolResult(content=[mcp.TextContent(text=error.message)])

    async with connected(tool(fail)) as (near, far, *_):
        log: list[str] = []
        if where == "after a guard":
            put(far, "guard", "a", log, outbound=False)
        elif where == "after an interceptor":
            put(far, "interceptor", "a", log, outbound=False)
        far.filter_error(methods.TOOLS_CALL, other)
        if where == "twice":
            far.filter_error(methods.TOOLS_CALL, as_result)
            put(far, "filter", "!", log, outbound=False)
            assert text_of(await near.call(methods.TOOLS_CALL, PARAMS)) == "first, second!"
            return
        with pytest.raises(RpcError, match="first, second") as caught:
            await near.call(methods.TOOLS_CALL, PARAMS)
        assert caught.value.code == 8
        assert log == ([] if where == "first" else ["a before"])


async def test_a_filter_of_errors_sees_what_guards_before_it_raise_and_not_later_ones() -> None:
    def refuse(params: mcp.CallToolRequestParams, request: Any) -> None:
        raise RpcError("guarded", code=7)

    def as_result(error: RpcError, request: Request) -> mcp.CallToolResult:
        return mcp.CallToolResult(content=[mcp.TextContent(text=error.message)])

    async with connected(tool(echo)) as (near, far, *_):
        far.guard(methods.TOOLS_CALL, refuse)
        far.filter_error(methods.TOOLS_CALL, as_result)
        assert text_of(await near.call(methods.TOOLS_CALL, PARAMS)) == "guarded"
    async with connected(tool(echo)) as (near, far, *_):
        far.filter_error(methods.TOOLS_CALL, as_result)
        far.guard(methods.TOOLS_CALL, refuse)
        with pytest.raises(RpcError, match="guarded"):
            await near.call(methods.TOOLS_CALL, PARAMS)


async def test_a_filter_of_errors_must_be_a_plain_function() -> None:
    async def late(error: RpcError, request: Request) -> RpcError:
        return error

    async with connected(tool(echo)) as (near, *_):
        with pytest.raises(HandlerDefinitionError, match="a plain function of"):
            near.filter_error(methods.TOOLS_CALL, late)


async def test_results_that_no_layer_looks_at_are_passed_as_they_are() -> None:
    written = EncodedObject({"content": [{"type": "text", "text": ""}]})

    async def serve(params: mcp.CallToolRequestParams, request: Request) -> EncodedObject:
        return written

    async def around(params: mcp.CallToolRequestParams, request: Request, go_on: Any) -> Any:
        found.append(await go_on(params))
        return found[-1]

    for passes_result in (True, False):
        found: list[Any] = []
        async with connected(tool(serve)) as peers:
            peers.server.guard(methods.TOOLS_CALL, lambda params, request: None)
            peers.server.intercept_inbound(around, methods.TOOLS_CALL, passes_result=passes_result)
            assert text_of(await peers.client.call(methods.TOOLS_CALL, PARAMS)) == ""
        assert (found[0] is written) is passes_result
