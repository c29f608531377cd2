"""Results of MCP-lite: what came of a call, with its `_meta` (MCP-lite 0.042 section 3.3)."""

from __future__ import annotations

__all__ = (
    "content_from",
    "elicitation_body",
    "failure_body",
    "finished",
    "questions_json",
    "text_content",
)

from collections.abc import Mapping
from typing import Any, cast

from pydantic_core import from_json, to_json

from kinwire.managers.tool_outcomes import NeedsAnswers, ToolError, ToolQuestion
from kinwire.support.json_values import must_be_finite
from kinwire.support.timestamps import timestamp_of
from kinwire_protocols.base import JsonObject

_WHOLE = {"response_type", "timestamp", "processing_time_ms"}


def content_from(value: object, tool: str) -> list[JsonObject]:
    """Return the content for `value`, which the function of `tool` returned.

    Objects stay as they are (section A.2); text becomes a text block, None nothing, and any other
    value a text block with its JSON. A list has one item for each of its values.

    Raises:
        ValueError: JSON cannot hold the value.
    """
    if value is None:
        return []
    if isinstance(value, str):
        return text_content(value)
    made = _json_value(value, tool)
    items = cast("list[object]", made) if isinstance(made, list) else [made]
    return [_item(one) for one in items]


def text_content(text: str) -> list[JsonObject]:
    """Return one text block."""
    return [{"type": "text", "text": text}]


def _item(value: object) -> JsonObject:
    if isinstance(value, dict):
        return cast(JsonObject, value)
    text = value if isinstance(value, str) else to_json(value).decode()
    return {"type": "text", "text": text}


def _json_value(value: object, tool: str) -> object:
    try:
        written = to_json(value, inf_nan_mode="constants", by_alias=True)
        must_be_finite(value, written)
    except ValueError as error:
        raise ValueError(
            f"Tool {tool!r:.200}: its result cannot be written as JSON: {error}"
        ) from None
    return from_json(written)


def failure_body(error: ToolError) -> JsonObject:
    """Return the result of a tool that ran and failed, without `_meta.timestamp` and the like."""
    detail: JsonObject = {"code": error.code, "message": str(error)}
    if error.data is not None:
        detail["data"] = error.data
    return {
        "content": text_content(str(error)),
        "error": detail,
        "isError": True,
        "_meta": {"response_type": "failure"},
    }


def elicitation_body(asked: NeedsAnswers, context: str) -> JsonObject:
    """Return questions as a result; `context` has to come back with the answers."""
    return {
        "elicitation": {
            "text": asked.text,
            "questions": questions_json(asked),
            "context": context,
        },
        "_meta": {"response_type": "elicitation"},
    }


def questions_json(asked: NeedsAnswers) -> list[JsonObject]:
    """Return the questions as the client gets them (the shape of NLWeb)."""
    return [_question(one) for one in asked.questions]


def _question(one: ToolQuestion) -> JsonObject:
    kind = one.type or ("single_select" if one.options else "text")
    options = {"options": list(one.options)} if one.options else {}
    return {"id": one.id, "text": one.text, "type": kind, **options}


def finished(
    body: JsonObject, now: float, took: float, version: str | None, asked: Mapping[str, Any]
) -> JsonObject:
    """Return `body` with its whole `_meta`; it stays as it is if it has been finished before.

    `now` is in seconds since 1970, `took` in seconds; `asked` is the `_meta` of the request, whose
    `session_context` goes back unless the tool has given another one.
    """
    given: JsonObject = body.get("_meta") or {}
    if given and given.keys() >= _WHOLE:
        return body
    meta: JsonObject = {
        "response_type": "answer",
        **given,
        "timestamp": timestamp_of(now),
        "processing_time_ms": int(took * 1000),
    }
    if version is not None:
        meta["server_version"] = version
    if "session_context" in asked and "session_context" not in meta:
        meta["session_context"] = asked["session_context"]
    return {**body, "_meta": meta}
