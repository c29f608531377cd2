"""Outcomes made of results: checked, of the forms that servers write (`rules/reading.py`)."""

from __future__ import annotations

__all__ = ("outcome_of", "shape_error", "tools_of")

from collections.abc import Sequence

from pydantic import ValidationError

from kinwire.mcplite.client.outcomes import (
    LiteAnswer,
    LiteElicitation,
    LiteFailure,
    LiteOutcome,
    LiteQuestion,
    LiteResourceRequest,
    LiteUnknown,
    text_in,
)
from kinwire.mcplite.client.promise import FollowsPromises, LitePromise
from kinwire.mcplite.client.transport import OutgoingCall
from kinwire.mcplite.rules.reading import normal_result
from kinwire.rpc.errors import ShapeError
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.mcplite.methods import TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.mcplite.models import (
    Elicitation,
    ListToolsResult,
    ResponseMeta,
    Tool,
    ToolResult,
)
from kinwire_protocols.problems import problems


def tools_of(tools: Sequence[JsonObject]) -> list[Tool]:
    """Return the tools of a list.

    Raises:
        ShapeError: one of them does not define a tool.
    """
    listed: JsonObject = {"tools": list(tools)}
    try:
        return from_wire(ListToolsResult, listed).tools
    except ValidationError as error:
        failure = shape_error(TOOLS_LIST.name, error, listed)
    raise failure


def outcome_of(result: JsonObject, call: OutgoingCall, caller: FollowsPromises) -> LiteOutcome:
    """Return what `call` comes to by its result.

    Raises:
        ShapeError: the result does not fit its kind.
    """
    normal = normal_result(result)
    try:
        checked = from_wire(ToolResult, normal)
    except ValidationError as error:
        failure = shape_error(TOOLS_CALL.name, error, normal)
    else:
        assert checked.meta is not None
        return _made(normal, checked, checked.meta, call, caller)
    raise failure


def _made(
    normal: JsonObject,
    checked: ToolResult,
    meta: ResponseMeta,
    call: OutgoingCall,
    caller: FollowsPromises,
) -> LiteOutcome:
    content = checked.content or []
    match meta.response_type:
        case "answer":
            return LiteAnswer(content, meta=meta, result=normal)
        case "promise":
            return _promise(normal, meta, call, caller)
        case "elicitation":
            return _elicitation(normal, checked.elicitation, meta, call, caller)
        case "failure":
            return _failure(normal, checked, meta)
        case "request-for-more-resource":
            return LiteResourceRequest(content, meta=meta, result=normal)
        case other:
            return LiteUnknown(str(other), meta=meta, result=normal)


def _promise(
    normal: JsonObject, meta: ResponseMeta, call: OutgoingCall, caller: FollowsPromises
) -> LitePromise:
    if not meta.promise_token:
        raise ShapeError(TOOLS_CALL.name, "/_meta/promise_token", "a token", "nothing")
    both: JsonObject = {**call.meta, **normal["_meta"]}
    context = {name: both[name] for name in ("session_context",) if name in both}
    return LitePromise(meta.promise_token, caller=caller, context=context, meta=meta, result=normal)


def _elicitation(
    normal: JsonObject,
    asked: Elicitation | None,
    meta: ResponseMeta,
    call: OutgoingCall,
    caller: FollowsPromises,
) -> LiteElicitation:
    if asked is None:
        raise ShapeError(TOOLS_CALL.name, "/elicitation", "questions", "nothing")
    questions = tuple(
        LiteQuestion(one.id, one.text, one.type or "text", tuple(one.options or ()))
        for one in asked.questions or ()
    )
    return LiteElicitation(
        asked.text, questions, call=call, caller=caller, meta=meta, result=normal
    )


def _failure(normal: JsonObject, checked: ToolResult, meta: ResponseMeta) -> LiteFailure:
    """Return the failure; without an error object its message is the text of its content."""
    if checked.error is None:
        message = text_in(checked.content or []) or "The tool failed."
        return LiteFailure(None, message, meta=meta, result=normal)
    error: JsonObject = normal["error"]
    return LiteFailure(
        checked.error.code, checked.error.message, error.get("data"), meta=meta, result=normal
    )


def shape_error(where: str, error: ValidationError, value: object) -> ShapeError:
    """Return the error to raise for `error`, which refused `value` as a result of `where`."""
    first = problems(error, value)[0]
    return ShapeError(where, first.pointer, first.expected, first.got)
