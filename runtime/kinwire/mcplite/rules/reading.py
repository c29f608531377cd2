"""What a client reads: the forms that servers write in place of the specification's (section 3.3).

A result has no `_meta` or one with another case of letters; NLWeb has `results`, `promise.token`
and `promise.estimated_time`; the last event of a stream has `_meta` alone (section A.4).
"""

from __future__ import annotations

__all__ = (
    "Answered",
    "answer_in",
    "is_error",
    "joined_result",
    "normal_result",
    "response_type_of",
    "tools_in",
)

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeGuard, cast

from kinwire.rpc.codec import is_object, same_id
from kinwire_protocols.base import JsonObject

_LONGEST = 100  # characters of a response type
_EMPTY_TOOL: JsonObject = {"description": "", "inputSchema": {"type": "object"}}


class Answered(NamedTuple):
    """What a body says: a result, an error, or neither, with the reason as a clause."""

    result: object = None
    error: JsonObject | None = None
    fault: str | None = None


def answer_in(body: object, identifier: object) -> Answered:
    """Return what `body`, decoded JSON, answers to the request of that id.

    An object with `_meta` or `content` but nothing of JSON-RPC is a result that has no envelope.
    """
    if not is_object(body):
        return Answered(fault="it is not a JSON object")
    error = body.get("error")
    if is_error(error):
        if body.get("id") is not None and not same_id(body["id"], identifier):
            return Answered(fault="its id is that of another request")
        return Answered(error=error)
    if "result" not in body:
        if "jsonrpc" not in body and ("_meta" in body or "content" in body):
            return Answered(body)
        return Answered(fault="it has neither a result nor an error")
    if not same_id(body.get("id"), identifier):
        return Answered(fault="its id is that of another request")
    return Answered(body["result"])


def is_error(value: object) -> TypeGuard[JsonObject]:
    """Return whether `value` is an error object of JSON-RPC; a failure has a word as its code."""
    if not is_object(value):
        return False
    return type(value.get("code")) is int and isinstance(value.get("message"), str)


def tools_in(listed: object) -> list[JsonObject] | None:
    """Return the tools of a list, an array or an object with one (4.2.1, A.1); None for others.

    A tool without a description or a schema has an empty one.
    """
    found = listed.get("tools") if is_object(listed) else listed
    if not isinstance(found, list):
        return None
    given = cast("list[object]", found)
    tools = [{**_EMPTY_TOOL, **one} for one in given if is_object(one)]
    return tools if len(tools) == len(given) else None


def response_type_of(result: JsonObject) -> str:
    """Return the kind of a result, in small letters: `answer` if it does not say (section 3.3).

    Without one, `isError`, as in MCP, means `failure`.
    """
    meta = result.get("_meta")
    said = meta.get("response_type") if is_object(meta) else None
    if isinstance(said, str) and said.strip():
        return said[:_LONGEST].strip().lower().replace("_", "-")
    return "failure" if result.get("isError") is True else "answer"


def normal_result(result: JsonObject) -> JsonObject:
    """Return a result with the fields that the specification has, in place of those of NLWeb.

    A promise that says in how many seconds it may be kept has `_meta.estimated_seconds`.
    """
    given = result.get("_meta")
    meta: JsonObject = {**given} if is_object(given) else {}
    made: JsonObject = {**result, "_meta": meta}
    if "content" not in made and isinstance(made.get("results"), list):
        made["content"] = made.pop("results")
    promise = made.get("promise")
    if is_object(promise):
        _add(meta, "promise_token", promise.get("token"), str)
        _add(meta, "estimated_seconds", promise.get("estimated_time"), (int, float))
    meta["response_type"] = response_type_of(result)
    return made


def _add(meta: JsonObject, name: str, value: Any, kinds: type | tuple[type, ...]) -> None:
    if name not in meta and isinstance(value, kinds) and not isinstance(value, bool):
        meta[name] = value


def joined_result(end: JsonObject, pieces: Sequence[str]) -> JsonObject:
    """Return the result at the end of a stream; one without content is that of the pieces."""
    bare = not any(name in end for name in ("content", "results", "elicitation", "error"))
    if not bare or not pieces or response_type_of(end) != "answer":
        return end
    return {**end, "content": [{"type": "text", "text": "".join(pieces)}]}
