"""What a function becomes as a tool: its definition, the check of arguments, its results."""

from __future__ import annotations

import datetime
import enum
import functools
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, field_serializer

from kinwire.managers.tool_outcomes import ToolError
from kinwire.mcp.context import Context
from kinwire.mcp.server import Server
from kinwire.mcp.tools import tool_from_function
from kinwire.rpc.errors import ToolDefinitionError
from kinwire.testing import pair
from kinwire_protocols import mcp
from kinwire_protocols.base import from_wire
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidParamsError
from tests.each import each

pytestmark = pytest.mark.anyio


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: int
    y: int = 0


@dataclass
class Size:
    width: float


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    return tool_from_function(function).arguments.schema


# -- definition --


@pytest.mark.spec("mcp-tool-definition-schema-1", "mcp-tool-definition-schema-2")
def test_name_description_and_schema_come_from_the_function() -> None:
    def add_note(text: str, *, times: int = 1) -> None:
        """Add a note.

        Args:
            text: what to write down
        """

    assert tool_from_function(add_note).definition == {
        "name": "add_note",
        "description": "Add a note.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "what to write down"},
                "times": {"type": "integer", "default": 1},
            },
            "required": ["text"],
            "additionalProperties": False,
        },
    }


def test_a_description_in_the_annotation_wins_over_the_docstring() -> None:
    def f(a: Annotated[int, Field(description="annotation", ge=1)]) -> None:
        """Do it.

        :param a: docstring
        """

    assert schema_of(f)["properties"]["a"] == {
        "type": "integer",
        "description": "annotation",
        "minimum": 1,
    }


def test_the_context_is_not_an_argument() -> None:
    async def f(a: int, context: Context) -> None: ...

    tool = tool_from_function(f)
    assert list(tool.arguments.schema["properties"]) == ["a"]
    assert tool.arguments.context_name == "context"


@each("name", ["schema", "model_config", "json", "_hidden", "self", "copy"])
def test_a_parameter_may_have_any_name(name: str) -> None:
    names: dict[str, Any] = {}
    exec(f"def f({name}: int) -> int: return {name}", names)
    tool = tool_from_function(names["f"])
    assert list(tool.arguments.schema["properties"]) == [name]
    assert tool.arguments.check("f", {name: 3}) == {name: 3}


def test_a_default_that_json_cannot_hold_is_used_and_not_shown() -> None:
    missing = object()

    def f(a: Any = missing) -> None: ...

    tool = tool_from_function(f)
    assert "default" not in tool.arguments.schema["properties"]["a"]
    assert tool.arguments.check("f", {}) == {"a": missing}


def test_equal_functions_share_no_schema_and_similar_ones_keep_their_own() -> None:
    def made(hint: Any, default: Any) -> dict[str, Any]:
        def tool(a: int) -> None: ...

        tool.__annotations__["a"], tool.__defaults__ = hint, (default,)
        return schema_of(tool)

    made(int, 1)["properties"]["a"]["default"] = 7
    for hint, default in ((int, 1), (bool, True), (object, 1), (object, True), (object, 1.0)):
        assert repr(made(hint, default)["properties"]["a"]["default"]) == repr(default)
    marked = {made(Literal[one], 1)["properties"]["a"]["const"].__class__ for one in (1, True)}
    assert marked == {int, bool}


def positional(a: int, /) -> None: ...
def starred(*numbers: int) -> None: ...
def keywords(**options: int) -> None: ...
def bare(a) -> None: ...  # type: ignore[no-untyped-def]  # the fault under test
def of_a_call(a: int, b: Callable[[], None]) -> None: ...
def unknown(a: Nowhere) -> None: ...  # type: ignore[name-defined]  # noqa: F821


@each(
    ("function", "message"),
    [
        (positional, r"positional#a: expected .* by name, got .*\. Remove the slash"),
        (starred, r"starred#numbers: expected a named parameter, got \*numbers"),
        (keywords, r"keywords#options: expected a named parameter, got \*\*options"),
        (bare, r"bare#a: expected a type annotation, got none\. Write `a: str`"),
        (of_a_call, r"of_a_call#b: expected a type that JSON can hold"),
        (unknown, r"unknown: expected annotations .* got name 'Nowhere'.*\. Define or import"),
        (functools.partial(of_a_call, 1), r"expected a function or a method, got functools"),
        (len, r"expected a function or a method, got len"),
    ],
)
def test_an_invalid_tool_function_is_refused_with_a_hint(
    function: Callable[..., Any], message: str
) -> None:
    with pytest.raises(ToolDefinitionError, match=message):
        tool_from_function(function)


# -- the check of arguments --


def everything(  # noqa: PLR0913 - one of each kind
    text: str = "",
    count: int = 0,
    share: float = 0.0,
    flag: bool = False,
    colour: Colour = Colour.RED,
    day: datetime.date = datetime.date(2024, 11, 5),
    pair: tuple[int, str] = (0, ""),
    unique: frozenset[int] = frozenset(),
    price: Decimal = Decimal(0),
    raw: bytes = b"",
    point: Point | None = None,
    size: Size | None = None,
    choice: Literal["a", 1] = "a",
    loose: Any = None,
    either: int | str = 0,
    shape: Point | dict[str, Any] | None = None,
) -> None: ...


EVERYTHING = tool_from_function(everything).arguments


@each(
    ("name", "given", "taken"),
    [
        ("text", "5", "5"),
        ("count", 2**70, 2**70),
        ("share", 1, 1.0),
        ("flag", True, True),
        ("colour", "blue", Colour.BLUE),
        ("day", "2024-01-31", datetime.date(2024, 1, 31)),
        ("pair", [1, "a"], (1, "a")),
        ("unique", [1, 1, 2], frozenset({1, 2})),
        ("price", "1.10", Decimal("1.10")),
        ("raw", "é", "é".encode()),
        ("point", {"x": 1}, Point(x=1)),
        ("size", {"width": 3}, Size(3)),
        ("choice", 1, 1),
        ("loose", {"a": [None, 2**70]}, {"a": [None, 2**70]}),
        ("either", "5", "5"),
        ("either", 5, 5),
        ("shape", {"x": 1}, Point(x=1)),
        ("shape", {"z": 1}, {"z": 1}),
    ],
)
def test_json_becomes_what_the_function_takes(name: str, given: object, taken: object) -> None:
    value = EVERYTHING.check("everything", {name: given})[name]
    assert (value, type(value)) == (taken, type(taken))


@each(
    ("arguments", "pointer"),
    [
        pytest.param({"count": "5"}, "/arguments/count", id="text is not a number"),
        pytest.param({"count": 5.5}, "/arguments/count", id="a fraction is not an integer"),
        pytest.param({"count": True}, "/arguments/count", id="a boolean is not a number"),
        pytest.param({"flag": 1}, "/arguments/flag", id="a number is not a boolean"),
        pytest.param({"text": 5}, "/arguments/text", id="a number is not text"),
        pytest.param({"text": None}, "/arguments/text", id="null is not text"),
        pytest.param({"share": float("inf")}, "/arguments/share", id="infinity is not a number"),
        pytest.param({"colour": "green"}, "/arguments/colour", id="not in the enum"),
        pytest.param({"day": 0}, "/arguments/day", id="a number is not a date"),
        pytest.param({"pair": [1]}, "/arguments/pair/1", id="too short"),
        pytest.param({"point": {"x": "1"}}, "/arguments/point/x", id="inside a model"),
    ],
)
def test_what_breaks_the_schema_is_refused_with_a_pointer(
    arguments: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(InvalidParamsError) as caught:
        EVERYTHING.check("everything", arguments)
    assert caught.value.data["problems"][0]["pointer"] == pointer
    assert pointer in caught.value.message


def test_every_problem_is_reported_and_a_misspelt_name_gets_a_hint() -> None:
    def f(message: str, times: int) -> None: ...

    with pytest.raises(InvalidParamsError) as caught:
        tool_from_function(f).arguments.check("f", {"mesage": "hi", "times": "2"})
    found = {problem["pointer"]: problem["expected"] for problem in caught.value.data["problems"]}
    assert set(found) == {"/arguments/message", "/arguments/mesage", "/arguments/times"}
    assert found["/arguments/mesage"] == "no argument of this name (did you mean 'message'?)"


def test_every_problem_of_the_arguments_is_in_the_text() -> None:
    def greet(name: str, times: int = 1) -> None: ...

    with pytest.raises(InvalidParamsError) as caught:
        tool_from_function(greet).arguments.check("greet", {"nme": "Ann", "times": "2"})
    assert caught.value.message == (
        "Tool 'greet': /arguments/name: expected a value, got nothing; "
        '/arguments/times: expected a valid integer, got "2"; '
        "/arguments/nme: expected no argument of this name (did you mean 'name'?), got \"Ann\""
    )


def test_of_very_many_problems_the_text_has_the_first_and_their_number() -> None:
    def f(name: str) -> None: ...

    given = {f"{'x' * 1000}{number}": 1 for number in range(50)}
    with pytest.raises(InvalidParamsError) as caught:
        tool_from_function(f).arguments.check("f", given)
    assert caught.value.message.endswith("; and 46 more")
    assert len(caught.value.message) < 2000
    assert len(caught.value.data["problems"]) == 20


def test_an_argument_that_fits_no_branch_of_its_union_is_one_problem() -> None:
    def f(size: int | list[int]) -> None: ...

    with pytest.raises(InvalidParamsError) as caught:
        tool_from_function(f).arguments.check("f", {"size": "large"})
    (problem,) = caught.value.data["problems"]
    assert problem["pointer"] == "/arguments/size"


# -- results --

TEXT = mcp.TextContent(text="a")
IMAGE = mcp.ImageContent(data="AA==", mime_type="image/png")


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


@each(
    ("returned", "result"),
    [
        ("hi", text("hi")),
        ("", text("")),
        (None, {"content": []}),
        (TEXT, text("a")),
        (
            [TEXT, IMAGE],
            {
                "content": [
                    {"type": "text", "text": "a"},
                    {"type": "image", "data": "AA==", "mimeType": "image/png"},
                ]
            },
        ),
        (["b", TEXT], {"content": [*text("b")["content"], *text("a")["content"]]}),
        ([], text("[]")),
        (["a", "b"], text('["a","b"]')),
        ({"é": 1}, text('{"é":1}')),
        (3, text("3")),
        (True, text("true")),
        (Point(x=1), text('{"x":1,"y":0}')),
        (Size(2), text('{"width":2}')),
        ([Size(2)], text('[{"width":2}]')),
        (datetime.date(2024, 1, 31), text('"2024-01-31"')),
        (mcp.CallToolResult(content=[TEXT], is_error=True), {**text("a"), "isError": True}),
    ],
)
@pytest.mark.spec("mcp-tools-call-response-1", "mcp-tools-call-response-2")
async def test_what_a_tool_returns_goes_out_as_content(
    returned: object, result: dict[str, Any]
) -> None:
    server = Server("s", "1")

    @server.tool
    async def f() -> Any:
        return returned

    async with pair(server) as client:
        assert await client.session.raw("tools/call", {"name": "f"}) == result


class Measured(BaseModel):
    mean: float
    note: str | None = None


class Named(Measured):
    model_config = ConfigDict(ser_json_inf_nan="strings")


class Own(Measured):
    @field_serializer("mean")
    def finite(self, mean: float) -> float | None:
        return mean if math.isfinite(mean) else None


@pytest.mark.parametrize(
    ("returned", "place"),
    [
        (math.nan, "/"),
        ({"a": [1, -math.inf]}, "/a/1"),
        ([Size(math.nan)], "/0/width"),
        (Measured(mean=math.inf), "/mean"),
        ([TEXT, {"mean": math.nan}], "/mean"),
        ([Measured(mean=1), Measured(mean=math.nan)], "/1/mean"),
        (from_wire(mcp.CallToolResult, {"content": [], "more": math.nan}), "/more"),
    ],
)
async def test_a_number_that_json_does_not_have_is_an_error_with_its_place(
    returned: object, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server("s", "1")

    @server.tool
    async def measure() -> Any:
        return returned

    async def given(params: mcp.CallToolRequestParams) -> Any:
        return returned

    server.add_tool(mcp.Tool(name="given", input_schema=mcp.ToolInputSchema()), given)
    async with pair(server) as client:
        for tool in ("measure", "given"):
            caplog.clear()
            with pytest.raises(InternalError, match="The reason is in the log of the server"):
                await client.mcp.tools_call(name=tool)
            assert f"{place}: expected a number that JSON has, got" in caplog.text
            assert tool in caplog.text or isinstance(returned, mcp.CallToolResult)


async def test_numbers_that_a_model_writes_in_its_own_way_are_sent() -> None:
    server = Server("s", "1")

    @server.tool
    async def measure() -> Any:
        return [Named(mean=math.nan), Own(mean=math.nan)]

    async with pair(server) as client:
        result = await client.session.raw("tools/call", {"name": "measure"})
    assert result == text('[{"mean":"NaN","note":null},{"mean":null,"note":null}]')


@pytest.mark.parametrize("default", [math.nan, [math.inf], Measured(mean=math.nan), object()])
async def test_a_default_that_json_does_not_have_is_not_listed(default: Any) -> None:
    server = Server("s", "1")

    @server.tool
    async def f(share: Any = default) -> str:
        return type(share).__name__

    async with pair(server) as client:
        (listed,) = [tool async for tool in client.tools()]
        assert listed.input_schema.properties == {"share": {}}
        called = await client.session.raw("tools/call", {"name": "f"})
    assert called == text(type(default).__name__)


def test_a_schema_that_json_does_not_have_is_refused_where_the_tool_is_defined() -> None:
    async def handler(params: mcp.CallToolRequestParams) -> None: ...

    schema = mcp.ToolInputSchema(properties={"a": {"default": math.nan}})
    with pytest.raises(ToolDefinitionError) as caught:
        Server("s", "1").add_tool(mcp.Tool(name="given", input_schema=schema), handler)
    assert "Tool 'given': " in str(caught.value)
    assert "/inputSchema/properties/a/default: expected a number that JSON has" in str(caught.value)


@pytest.mark.spec("mcp-tool-error-vs-json-rpc-error-1")
async def test_a_tool_error_is_a_result_and_other_faults_are_not() -> None:
    server = Server("s", "1")

    @server.tool
    async def known() -> None:
        raise ToolError("no such file")

    async with pair(server) as client:
        result = await client.mcp.tools_call(name="known")
        assert result.is_error
        assert result.content == [mcp.TextContent(text="no such file")]


async def test_a_plain_function_runs_in_a_thread_and_an_async_one_does_not() -> None:
    server = Server("s", "1")

    @server.tool
    def plain() -> bool:
        return threading.current_thread() is threading.main_thread()

    @server.tool
    async def coroutine() -> bool:
        return threading.current_thread() is threading.main_thread()

    @server.tool(name="wrapped")
    @functools.wraps(coroutine)
    def wrapped() -> Any:
        return coroutine()

    async with pair(server) as client:
        for name, on_main in (("plain", "false"), ("coroutine", "true"), ("wrapped", "true")):
            result = await client.mcp.tools_call(name=name)
            assert result.content == [mcp.TextContent(text=on_main)]
