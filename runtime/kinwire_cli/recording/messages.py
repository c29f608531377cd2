"""What a message is about, what its sender numbers as it likes, and the message without that."""

from __future__ import annotations

__all__ = ("is_request", "key_of", "reported_token", "subject_of", "token_of", "unnumbered")

import json

from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject

_SUBJECTS = ("name", "uri", "ref")  # of tools and prompts, of resources, of what is completed


def is_request(message: JsonObject) -> bool:
    """Return whether `message` asks for an answer."""
    return "method" in message and "id" in message


def key_of(message: JsonObject) -> str:
    """Return the id as a key: the number 1 is not the text "1"."""
    return json.dumps(message.get("id"))


def reported_token(message: JsonObject) -> str | None:
    """Return the token of the request whose progress `message` reports."""
    match message:
        case {"method": "notifications/progress", "params": {"progressToken": token}}:
            return json.dumps(token)
        case _:
            return None


def token_of(message: JsonObject) -> str | None:
    """Return the token that a request brings."""
    match message:
        case {"params": {"_meta": {"progressToken": token}}}:
            return json.dumps(token)
        case _:
            return None


def subject_of(message: JsonObject) -> JsonObject:
    """Return which tool, prompt or resource a request is about, as its params say it."""
    params = message.get("params")
    return {name: params[name] for name in _SUBJECTS if name in params} if is_object(params) else {}


def unnumbered(message: JsonObject) -> JsonObject:
    """Return `message` without them."""
    plain = _without(message, "id")
    if token_of(message) is not None:
        meta = _without(message["params"]["_meta"], "progressToken")
        plain["params"] = _without(message["params"], "_meta") | ({"_meta": meta} if meta else {})
    return plain if plain.get("params") else _without(plain, "params")


def _without(value: JsonObject, name: str) -> JsonObject:
    return {one: value[one] for one in value if one != name}
