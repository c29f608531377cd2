"""What a user's function returns, as the result on the wire (MCP, Tools, Prompts and Resources)."""

from __future__ import annotations

__all__ = ("content_of", "error_result", "prompt_result", "resource_result", "tool_result")

from base64 import b64encode
from collections.abc import Sequence
from typing import cast

from pydantic_core import to_json

from kinwire.support.json_values import must_be_finite
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message, UnknownVariant, to_wire

_BLOCKS = (mcp.TextContent, mcp.ImageContent, mcp.AudioContent, mcp.EmbeddedResource)
"""The classes of `mcp.ContentBlock`."""

_CONTENTS = (mcp.TextResourceContents, mcp.BlobResourceContents)


def tool_result(value: object, tool: str) -> JsonObject:
    """Return the result of `tools/call` for `value`, which the function of `tool` returned.

    Text becomes one text block and None no block. Content blocks, lists of them and whole results
    are sent unchanged. Anything else becomes its JSON in a text block.

    Raises:
        ValueError: JSON cannot hold the value, or it is a block that was read as unknown.
    """
    if isinstance(value, str):
        return {"content": [_text_block(value)]}
    if isinstance(value, mcp.CallToolResult):
        return to_wire(value)
    return {"content": content_of(value, tool)}


def content_of(value: object, tool: str) -> list[JsonObject]:
    """Return the content blocks for `value`, which the function of `tool` returned or yielded.

    Raises:
        ValueError: JSON cannot hold the value, or it is a block that was read as unknown.
    """
    if value is None:
        return []
    items = _items_of(value)
    if any(isinstance(item, _BLOCKS) for item in items):
        return [_block(item, tool) for item in items]
    return [_block(value, tool)]


def error_result(text: str) -> JsonObject:
    """Return the result of `tools/call` for a tool that ran and failed."""
    return {"content": [_text_block(text)], "isError": True}


def prompt_result(value: object, definition: JsonObject) -> JsonObject:
    """Return the result of `prompts/get` for `value`, from the prompt with that definition.

    Text and content blocks become messages of the user. Messages, lists with any of them and
    whole results are sent unchanged.

    Raises:
        TypeError: the value cannot become a message.
    """
    if isinstance(value, mcp.GetPromptResult):
        return to_wire(value)
    messages = [_message(item) for item in _items_of(value)]
    if "description" in definition:
        return {"description": definition["description"], "messages": messages}
    return {"messages": messages}


def resource_result(value: object, uri: str, mime_type: str | None) -> JsonObject:
    """Return the result of `resources/read` for `value`, which was read at `uri`.

    Text and bytes become one part of the type that the resource declares, and None no part.
    Contents, lists with any of them and whole results are sent unchanged. Anything else becomes
    its JSON.

    Raises:
        ValueError: JSON cannot hold the value.
    """
    if isinstance(value, mcp.ReadResourceResult):
        return to_wire(value)
    if value is None:
        return {"contents": []}
    items = _items_of(value)
    if any(isinstance(item, _CONTENTS) for item in items):
        return {"contents": [_part(item, uri, mime_type) for item in items]}
    return {"contents": [_part(value, uri, mime_type)]}


def _text_block(text: str) -> JsonObject:
    # A plain dict: a model would cost as much as all the rest of a small call.
    return {"type": "text", "text": text}


def _items_of(value: object) -> Sequence[object]:
    """Return the items of a list or a tuple; anything else is one item."""
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)


def _block(value: object, tool: str) -> JsonObject:
    if isinstance(value, _BLOCKS):
        return to_wire(cast(Message, value))
    if isinstance(value, str):
        return _text_block(value)
    if isinstance(value, UnknownVariant):
        raise ValueError(f"Tool {tool!r}: expected a known content block, got an UnknownVariant.")
    return _text_block(_json_text(value, "Tool", tool))


def _message(value: object) -> JsonObject:
    if isinstance(value, mcp.PromptMessage):
        return to_wire(value)
    if isinstance(value, str):
        return {"role": "user", "content": _text_block(value)}
    if isinstance(value, _BLOCKS):
        return {"role": "user", "content": to_wire(value)}
    raise TypeError(
        f"a prompt: expected text, messages or content, got {type(value).__name__}. "
        "Return mcp.PromptMessage for messages of other kinds."
    )


def _part(value: object, uri: str, mime_type: str | None) -> JsonObject:
    if isinstance(value, _CONTENTS):
        return to_wire(value)
    part: JsonObject = {"uri": uri}
    if mime_type is not None:
        part["mimeType"] = mime_type
    if isinstance(value, str):
        return {**part, "text": value}
    if isinstance(value, bytes | bytearray):
        return {**part, "blob": b64encode(value).decode()}
    return {
        "mimeType": "application/json",
        **part,
        "text": _json_text(value, "Resource", uri),
    }


def _json_text(value: object, kind: str, name: str) -> str:
    try:
        written = to_json(value, inf_nan_mode="constants")
        must_be_finite(value, written)
    except ValueError as error:
        raise ValueError(
            f"{kind} {name!r:.200}: its result cannot be written as JSON: {error}"
        ) from None
    return written.decode()
