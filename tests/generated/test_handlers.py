"""Handler classes and registration points: dispatch, refusals, and mistakes caught early."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest
from pydantic import ValidationError

from kinwire_protocols import jsonrpc, mcp, mcplite, mgp
from kinwire_protocols.base import RpcError
from kinwire_protocols.peer import Handlers, Method
from tests.each import each
from tests.generated.messages import EXAMPLES

BOTH = [mcp.ServerHandlers, mcp.ClientHandlers]
ROWS = [(kind, name) for kind in BOTH for name in kind.rows]
NOTIFICATIONS = [(kind, name) for kind, name in ROWS if kind.rows[name].kind == "notification"]
REQUESTS = [(kind, name) for kind, name in ROWS if kind.rows[name].kind == "request"]


def example(row: Method[Any, Any]) -> Any:
    """Return params that fit the method: the first example of their type."""
    protocol = row.params.__module__.split(".")[1]
    named = (protocol, row.params.__name__)
    return next(value for home, name, value in EXAMPLES if (home, name) == named)


class Notes(mcp.ServerHandlers):
    """Serves tools, badly."""

    async def tools_list(self, params: mcp.PaginatedRequestParams) -> mcp.ListToolsResult:
        return mcp.ListToolsResult(tools=[], next_cursor=params.cursor)

    async def tools_call(self, params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
        raise mcp.ResourceNotFoundError(data={"uri": params.name})

    def _helper(self) -> None: ...


@pytest.mark.anyio
async def test_a_request_is_handled() -> None:
    assert await Notes().dispatch("tools/list", {"cursor": "c"}) == {
        "tools": [],
        "nextCursor": "c",
    }


@pytest.mark.anyio
@pytest.mark.parametrize("params", [None, {}])
async def test_params_that_are_absent_are_an_empty_object(params: Any) -> None:
    assert await Notes().dispatch("tools/list", params) == {"tools": []}


@pytest.mark.anyio
async def test_an_error_that_a_handler_raises_is_passed_on() -> None:
    with pytest.raises(mcp.ResourceNotFoundError) as caught:
        await Notes().dispatch("tools/call", {"name": "a"})
    assert caught.value.data == {"uri": "a"}


@pytest.mark.anyio
@each(("kind", "name"), REQUESTS)
async def test_a_request_that_nobody_overrides_is_not_found(
    kind: type[Handlers], name: str
) -> None:
    with pytest.raises(jsonrpc.MethodNotFoundError, match=name):
        await kind().dispatch(name, example(kind.rows[name]))


@pytest.mark.anyio
@each(("kind", "name"), NOTIFICATIONS)
async def test_a_notification_that_nobody_overrides_is_ignored(
    kind: type[Handlers], name: str
) -> None:
    assert await kind().dispatch(name, example(kind.rows[name])) is None


@pytest.mark.anyio
@pytest.mark.parametrize(
    "name", ["tools/lst", "", "tools_list", "dispatch", "rows", "roots/list", "__init__"]
)
async def test_what_the_side_does_not_receive_is_not_found(name: str) -> None:
    with pytest.raises(jsonrpc.MethodNotFoundError, match="Method not found") as caught:
        await Notes().dispatch(name, {})
    assert caught.value.code == -32601


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("params", "problems"),
    [
        ({}, [{"pointer": "/name", "expected": "a value", "got": "nothing"}]),
        ([], [{"pointer": "", "expected": "an object", "got": "an array"}]),
        (
            {"name": 5, "arguments": []},
            [
                {"pointer": "/name", "expected": "a valid string", "got": "5"},
                {"pointer": "/arguments", "expected": "an object", "got": "an array"},
            ],
        ),
    ],
)
async def test_params_that_do_not_fit_are_answered_with_every_problem(
    params: Any, problems: list[dict[str, str]]
) -> None:
    with pytest.raises(jsonrpc.InvalidParamsError) as caught:
        await Notes().dispatch("tools/call", params)
    assert caught.value.data == {"problems": problems}
    first = problems[0]
    where = f"tools/call#{first['pointer']}"
    assert caught.value.message == f"{where}: expected {first['expected']}, got {first['got']}"


@each(
    ("name", "hint"),
    [
        ("tool_call", "Did you mean 'tools_call'?"),
        ("resource_read", "Did you mean 'resources_read'?"),
        ("logging_setlevel", "Did you mean 'logging_set_level'?"),
        ("look_up", "Begin helpers of your own with an underscore."),
    ],
)
def test_a_handler_under_a_wrong_name_is_refused_when_its_class_is_made(
    name: str, hint: str
) -> None:
    async def handler(self: Any, params: Any) -> None: ...

    with pytest.raises(TypeError) as caught:
        type("Mine", (mcp.ServerHandlers,), {name: handler})
    assert str(caught.value) == f"Mine.{name}: no method of this side has that name. {hint}"


def test_a_handler_that_is_not_a_coroutine_function_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Mine\.tools_call: a handler is an `async def`\."):

        class Mine(mcp.ServerHandlers):
            def tools_call(self, params: Any) -> Any: ...


def test_a_handler_that_takes_something_else_is_refused() -> None:
    with pytest.raises(TypeError) as caught:

        class Mine(mcp.ServerHandlers):
            async def ping(self) -> mcp.EmptyResult: ...  # type: ignore[override, empty-body]

    assert str(caught.value).endswith("Mine.ping: expected parameters (self, params), got (self).")


@each("more", ["", ", extra=None", ", *rest", ", **options"])
def test_a_handler_may_take_more_than_it_is_given(more: str) -> None:
    space: dict[str, Any] = {}
    exec(f"async def ping(self, whatever{more}): ...", space)
    type("Mine", (mcp.ServerHandlers,), {"ping": space["ping"]})


def test_a_handler_is_asked_what_it_takes_and_not_what_it_wraps() -> None:
    async def inner(self: Any, params: Any, more: str) -> None: ...

    @wraps(inner)
    async def outer(self: Any, params: Any) -> None: ...

    mine = type("Mine", (mcp.ServerHandlers,), {"ping": outer})

    async def plain(self: Any, params: Any) -> None: ...

    type("Other", (mine,), {"ping": plain})


def test_names_of_other_attributes_than_handlers_are_free() -> None:
    class Mine(mcp.ServerHandlers):
        tools = ("a", "b")

        def look_up(self) -> str:
            return "found"

        async def _look_up(self) -> None: ...

    assert Mine().look_up() == "found"


PAIRS = [(mcp.ServerOn, mcp.ServerHandlers), (mcp.ClientOn, mcp.ClientHandlers)]


@pytest.mark.parametrize(("on", "handlers"), PAIRS)
def test_a_registration_point_registers_the_row_of_its_name(on: Any, handlers: Any) -> None:
    added: list[tuple[Method[Any, Any], Callable[..., Any]]] = []

    async def handler(params: Any) -> Any: ...

    point = on(lambda row, function: added.append((row, function)))
    for row in handlers.rows.values():
        assert getattr(point, row.attribute)(handler) is handler
        assert added.pop() == (row, handler)
    with pytest.raises(AttributeError):
        point.tools_lst  # noqa: B018


def test_a_row_of_your_own_is_registered_by_a_call() -> None:
    added: list[str] = []
    mine = Method[mcp.RequestParams, mcp.EmptyResult](
        name="x/lookup",
        protocol="x",
        attribute="x_lookup",
        kind="request",
        sender="client",
        params=mcp.RequestParams,
        result=mcp.EmptyResult,
        section="mine",
    )
    on = mcp.ServerOn(lambda row, _: added.append(row.name))

    @on(mine)
    async def look_up(params: mcp.RequestParams) -> mcp.EmptyResult:
        return mcp.EmptyResult()

    assert added == ["x/lookup"]
    assert look_up.__name__ == "look_up"


@each(("kind", "name"), ROWS)
def test_a_row_reads_params_and_results_of_its_types(kind: type[Handlers], name: str) -> None:
    row = kind.rows[name]
    assert type(row.decode_params(example(row))) is row.params
    if row.result is None:
        with pytest.raises(TypeError, match="it has no result"):
            row.decode_result({})
    else:
        with pytest.raises(ValidationError):
            row.decode_result([5])


def test_an_error_of_dispatch_is_an_rpc_error() -> None:
    assert issubclass(jsonrpc.MethodNotFoundError, RpcError)
    assert issubclass(jsonrpc.InvalidParamsError, RpcError)


def test_a_considered_method_has_a_row_but_no_stub_and_no_handler() -> None:
    row = mcplite.methods.PROMPTS_LIST
    assert row.status == "considered"
    assert mcplite.PROTOCOL.methods[row.name] is row
    assert not hasattr(mcplite.ServerStub, row.attribute)
    assert not hasattr(mcplite.ServerHandlers, row.attribute)
    assert row.name not in mcplite.ServerHandlers.rows


@pytest.mark.anyio
@pytest.mark.parametrize("name", mgp.methods.MGP_PERMISSION_REQUEST.names)
async def test_a_handler_is_reached_by_each_name_of_its_method(name: str) -> None:
    class Kernel(mgp.ServerHandlers):
        async def mgp_permission_request(self, params: Any) -> Any:
            return None

    assert await Kernel().dispatch(name, EXAMPLE) is None


EXAMPLE = {"request_id": "p", "permissions": ["shell.execute"], "policy": "interactive"}
