"""The text in a result, for programs that show it or compare it."""

from __future__ import annotations

__all__ = ("result_text",)

from collections.abc import Iterator, Sequence

from kinwire_protocols import mcp


def result_text(result: mcp.CallToolResult | mcp.ReadResourceResult) -> str:
    """Return the text in the result of a tool or of a read resource, a line break between parts.

    Images, audio and other binary parts are left out. `is_error` of a tool's result says whether
    the text is an error message.

    Raises:
        TypeError: `result` is not such a result.
    """
    return "\n".join(_texts(result))


def _texts(result: object) -> Iterator[str]:
    for part in _parts(result):
        held = part.resource if isinstance(part, mcp.EmbeddedResource) else part
        if isinstance(held, mcp.TextContent | mcp.TextResourceContents):
            yield held.text


def _parts(result: object) -> Sequence[mcp.ContentBlock | mcp.ResourceContents]:
    if isinstance(result, mcp.CallToolResult):
        return result.content
    if isinstance(result, mcp.ReadResourceResult):
        return result.contents
    raise TypeError(
        f"result: expected the result of a tool, got {type(result).__name__}. "
        "Write result_text(await connection.mcp.tools_call(name=...))."
    )
