"""What a message of MCPL says, in a few words: the middle of it, for people who read along."""

from __future__ import annotations

__all__ = ("params_in_words", "result_in_words", "text_of")

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from pydantic import MISSING

from kinwire.mcp.result_text import result_text
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcp import TextContent
from kinwire_protocols.mcpl import (
    Content,
    ContextInjection,
    FeatureSetsUpdateParams,
    IncomingMessage,
)
from kinwire_protocols.mcpl.augments import TOOLS_CALL_PARAMS_STATE, TOOLS_CALL_RESULT_STATE

Words = Mapping[str, Callable[[Any], str]]


def params_in_words(method: str, params: Any) -> str:
    """Return what the params of a message say; nothing where there is nothing to say."""
    return _PARAMS[method](params) if method in _PARAMS else ""


def result_in_words(method: str, result: Any) -> str:
    """Return what the result of a request says; nothing where there is nothing to say."""
    return _RESULTS[method](result) if method in _RESULTS else ""


def text_of(content: Content) -> str:
    """Return the text of content, on one line."""
    if not isinstance(content, str):
        content = "".join(one.text for one in content if isinstance(one, TextContent))
    return " ".join(content.split())


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _update(params: FeatureSetsUpdateParams) -> str:
    parts = [
        f"{word} {', '.join(names)}"
        for word, names in (("on:", params.enabled), ("off:", params.disabled))
        if names
    ]
    for name, rules in (params.scopes or {}).items():
        places = ", ".join(rules.whitelist or ()), ", ".join(rules.blacklist or ())
        parts.append(f"{name} in {places[0]} but {places[1]}")
    return "; ".join(parts)


def _call(params: mcp.CallToolRequestParams) -> str:
    arguments = ", ".join(f"{name}={_json(one)}" for name, one in (params.arguments or {}).items())
    state = TOOLS_CALL_PARAMS_STATE.read(params)
    return f"{params.name}({arguments})" + ("" if state is MISSING else f", state {_json(state)}")


def _called(result: mcp.CallToolResult) -> str:
    said = result_text(result).replace("\n", "; ")
    text = f"error: {said}" if result.is_error else said
    update = TOOLS_CALL_RESULT_STATE.read(result)
    if update is None:
        return text
    if update.patch is None:
        return f"{text} {update.checkpoint}: {_json(update.data)}"
    changes = ", ".join(f"{one.op} {one.path}" for one in update.patch)
    return f"{text} {update.checkpoint}: {update.parent} and {changes}"


def _object(one: Any) -> JsonObject:
    """Return an entry of a list, which a host may read later than the list, as JSON."""
    return cast("JsonObject", one) if isinstance(one, dict) else to_wire(one)


def _incoming(params: Any) -> str:
    messages = [from_wire(IncomingMessage, _object(one)) for one in params.messages]
    return "; ".join(
        f"{one.author.name if one.author else ''} in {one.channel_id}: {text_of(one.content)}"
        for one in messages
    )


def _taken(result: Any) -> str:
    return "; ".join(
        f"taken into {one.conversation_id}" if one.accepted else f"refused: {one.reason}"
        for one in result.results
    )


def _injected(result: Any) -> str:
    listed = [from_wire(ContextInjection, _object(one)) for one in result.context_injections or ()]
    return "; ".join(f"at {one.position}: {text_of(one.content)}" for one in listed)


def _redacted(result: Any) -> str:
    changed = result.modified_response
    return "leaves it as it is" if changed is None else f"changes it to: {changed}"


def _pushed(result: Any) -> str:
    return f"accepted, for {result.inference_id}" if result.accepted else f"no: {result.reason}"


_PARAMS: Words = {
    "tools/call": _call,
    "featureSets/update": _update,
    "context/beforeInference": lambda params: text_of(params.user_message),
    "context/afterInference": lambda params: params.assistant_message,
    "push/event": lambda params: f"{params.event_id}: {text_of(params.payload.content)}",
    "inference/request": lambda params: text_of(params.messages[-1].content),
    "inference/chunk": lambda params: _json(params.delta),
    "state/rollback": lambda params: f"{params.feature_set} to {params.checkpoint}",
    "channels/register": lambda params: ", ".join(_object(one)["id"] for one in params.channels),
    "channels/open": lambda params: f"{params.type} {_json(params.address)}",
    "channels/close": lambda params: params.channel_id,
    "channels/incoming": _incoming,
    "channels/publish": lambda params: f"{params.channel_id}: {text_of(params.content)}",
    "channels/outgoing/complete": lambda params: f"{params.channel_id}: {text_of(params.content)}",
}
_RESULTS: Words = {
    "tools/call": _called,
    "context/beforeInference": _injected,
    "context/afterInference": _redacted,
    "push/event": _pushed,
    "inference/request": lambda result: f"{result.content} ({result.model})",
    "state/rollback": lambda result: "done" if result.success else f"no: {result.reason}",
    "channels/open": lambda result: result.channel.id,
    "channels/close": lambda result: "closed" if result.closed else "still open",
    "channels/incoming": _taken,
    "channels/publish": lambda result: f"delivered as {result.message_id}",
}
