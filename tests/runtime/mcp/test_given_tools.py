"""Tools that are given by definition and handler: their schema binds before they run."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.managers.tool_outcomes import ToolError
from kinwire.mcp.context import Context
from kinwire.mcp.server import Server
from kinwire.rpc.errors import HandlerDefinitionError, ToolDefinitionError
from kinwire.testing import pair
from kinwire_protocols import mcp
from kinwire_protocols.base import from_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError

pytestmark = pytest.mark.anyio

WIRE: dict[str, Any] = {
    "name": "resize",
    "description": "Resize.",
    "inputSchema": {
        "type": "object",
        "properties": {"size": {"$ref": "#/$defs/size"}, "unit": {"enum": ["px", "cm"]}},
        "required": ["size"],
        "additionalProperties": False,
        "$defs": {"size": {"type": "integer", "minimum": 1}},
    },
    "annotations": {"audience": ["user"]},
}
RESIZE = from_wire(mcp.Tool, WIRE)


async def resize(params: mcp.CallToolRequestParams) -> Any:
    return (params.arguments or {})["size"]


@pytest.mark.spec("mcp-tools-specification-1", "mcp-tools-call-request-1")
async def test_a_given_tool_is_listed_as_it_is_and_called() -> None:
    server = Server("s", "1")
    server.add_tool(RESIZE, resize)
    async with pair(server) as client:
        assert (await client.session.raw("tools/list"))["tools"] == [WIRE]
        result = await client.mcp.tools_call(name="resize", arguments={"size": 3, "unit": "px"})
    assert result.content == [mcp.TextContent(text="3")]


async def test_a_tool_can_be_called_by_names_that_are_not_listed() -> None:
    async def named(params: mcp.CallToolRequestParams) -> Any:
        return params.name

    server = Server("s", "1")
    server.add_tool(RESIZE, named, aliases=["re/size", "other"])
    server.add_tool(RESIZE.model_copy(update={"name": "other"}), resize)
    async with pair(server) as client:
        assert [one.name async for one in client.tools()] == ["resize", "other"]
        for name, text in (("resize", "resize"), ("re/size", "re/size"), ("other", "3")):
            result = await client.mcp.tools_call(name=name, arguments={"size": 3})
            assert result.content == [mcp.TextContent(text=text)]
        server.remove_tool("resize")
        with pytest.raises(InvalidParamsError, match="Unknown tool"):
            await client.mcp.tools_call(name="re/size", arguments={"size": 3})


@pytest.mark.parametrize(
    ("arguments", "pointer", "expected"),
    [
        (None, "/arguments/size", "a value"),
        ({"size": "3"}, "/arguments/size", "integer"),
        ({"size": 0}, "/arguments/size", "at least 1"),
        ({"size": 3, "unit": "in"}, "/arguments/unit", 'one of "px", "cm"'),
        (
            {"size": 3, "siez": 3},
            "/arguments/siez",
            "no property of this name (did you mean 'size'?)",
        ),
        ({"size": 3, "zzz": 3}, "/arguments/zzz", "no property of this name (known: size, unit)"),
    ],
)
async def test_arguments_that_break_the_schema_do_not_reach_the_handler(
    arguments: dict[str, Any] | None, pointer: str, expected: str
) -> None:
    server, calls = Server("s", "1"), list[str]()

    async def handler(params: mcp.CallToolRequestParams) -> None:
        calls.append(params.name)

    server.add_tool(RESIZE, handler)
    async with pair(server) as client:
        with pytest.raises(InvalidParamsError) as caught:
            await client.mcp.tools_call(name="resize", arguments=arguments)
    (problem,) = caught.value.data["problems"]
    assert (problem["pointer"], problem["expected"]) == (pointer, expected)
    assert calls == []


async def test_a_given_tool_reports_every_problem_of_its_arguments_in_the_text() -> None:
    server = Server("s", "1")
    server.add_tool(RESIZE, resize)
    async with pair(server) as client:
        with pytest.raises(InvalidParamsError) as caught:
            await client.mcp.tools_call(name="resize", arguments={"siez": 3})
    assert "/arguments/size: expected a value, got nothing" in caught.value.message
    assert "/arguments/siez: expected no property of this name (did you mean 'size'?)" in (
        caught.value.message
    )


async def test_a_handler_may_take_the_context_and_fail_as_a_tool_may() -> None:
    server = Server("s", "1")

    async def handler(params: mcp.CallToolRequestParams, context: Context) -> mcp.CallToolResult:
        if not params.arguments:
            raise ToolError(f"nothing to do in {context.request_id}")
        return mcp.CallToolResult(content=[], meta={"a": 1})

    server.add_tool(mcp.Tool(name="t", input_schema=mcp.ToolInputSchema()), handler)
    async with pair(server) as client:
        failed = await client.mcp.tools_call(name="t")
        assert failed.is_error
        done = await client.mcp.tools_call(name="t", arguments={"any": None})
        assert done.meta == {"a": 1}


def test_what_cannot_be_served_is_refused_when_it_is_given() -> None:
    server = Server("s", "1")

    def plain(params: Any) -> None: ...

    with pytest.raises(HandlerDefinitionError, match=r"tools/call: .*plain: expected an async"):
        server.add_tool(RESIZE, plain)
    schema = from_wire(mcp.ToolInputSchema, {"type": "object", "unevaluatedProperties": False})
    with pytest.raises(
        ToolDefinitionError,
        match=r"Tool 't': inputSchema#/unevaluatedProperties: this keyword cannot be checked",
    ):
        server.add_tool(mcp.Tool(name="t", input_schema=schema), resize)
    server.add_tool(RESIZE, resize)
    with pytest.raises(ToolDefinitionError, match="'resize': expected a name that is free"):
        server.add_tool(RESIZE, resize)
