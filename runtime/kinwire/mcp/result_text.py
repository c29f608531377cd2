"""The text in a result, for programs that show it or compare it."""

from __future__ import annotations

__all__ = ("result_text",)

from collections.abc import Iterator, Sequence

from kinwire.support.arguments import ArgumentCheck, instance_of
from kinwire_protocols import mcp

_RESULT_TEXT = ArgumentCheck(
    "result_text",
    "result_text(await connection.mcp.tools_call(name=...))",
    {
        "result": instance_of(
            (mcp.CallToolResult, mcp.ReadResourceResult), "the result of a tool", "result"
        )
    },
)


def result_text(result: mcp.CallToolResult | mcp.ReadResourceResult) -> str:
    """Return the text in the result of a tool or of a read resource, a line break between parts.

    Images, audio and other binary parts are left out. `is_error` of a tool's result says whether
    the text is an error message.

    Raises:
        TypeError: `result` is not such a result.
    """
    _RESULT_TEXT.check(result=result)
    parts = result.content if isinstance(result, mcp.CallToolResult) else result.contents
    return "\n".join(_texts(parts))


def _texts(parts: Sequence[mcp.ContentBlock | mcp.ResourceContents]) -> Iterator[str]:
    for part in parts:
        held = part.resource if isinstance(part, mcp.EmbeddedResource) else part
        if isinstance(held, mcp.TextContent | mcp.TextResourceContents):
            yield held.text
