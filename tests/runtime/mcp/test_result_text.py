"""The text of a result."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Server, pair, result_text
from kinwire_protocols import mcp
from tests.each import each

IMAGE = mcp.ImageContent(data="", mime_type="image/png")
PAGE = mcp.TextResourceContents(uri="a:b", text="page")
BLOB = mcp.BlobResourceContents(uri="a:c", blob="")


@each(
    ("result", "text"),
    [
        (mcp.CallToolResult(content=[]), ""),
        (mcp.CallToolResult(content=[IMAGE]), ""),
        (
            mcp.CallToolResult(
                content=[
                    mcp.TextContent(text="a\n"),
                    IMAGE,
                    mcp.EmbeddedResource(resource=PAGE),
                    mcp.EmbeddedResource(resource=BLOB),
                    mcp.TextContent(text="b"),
                ]
            ),
            "a\n\npage\nb",
        ),
        (mcp.ReadResourceResult(contents=[PAGE, BLOB, PAGE]), "page\npage"),
    ],
)
def test_texts_are_joined_and_other_parts_are_left_out(result: Any, text: str) -> None:
    assert result_text(result) == text


@each("wrong", [None, "text", {"content": []}, mcp.EmptyResult()])
def test_another_result_is_refused_with_the_right_call(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"result: expected .*Write result_text\(await"):
        result_text(wrong)


@pytest.mark.anyio
async def test_the_text_of_a_tool_and_of_a_resource_is_found() -> None:
    server = Server("s", "1")

    @server.tool
    async def add(a: int, b: int) -> int:
        return a + b

    @server.resource("notes:all")
    async def notes() -> str:
        return "Buy milk"

    async with pair(server) as client:
        added = await client.mcp.tools_call(name="add", arguments={"a": 1, "b": 2})
        assert result_text(added) == "3"
        assert result_text(await client.mcp.resources_read(uri="notes:all")) == "Buy milk"
