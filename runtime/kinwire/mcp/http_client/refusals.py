"""A refusal of a frame: whether it is an answer all the same, and what is raised if not."""

from __future__ import annotations

__all__ = ("NOT_STICKY", "RefusedResponse", "holds_answer", "not_an_answer")

import json
from typing import Any, NamedTuple

from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import InvalidResponseError
from kinwire.transports.http_client.address import ServerAddress
from kinwire.transports.http_client.errors import hint_for
from kinwire.transports.http_client.response import Headers

NOT_STICKY = (
    "If several server processes are behind this address, the proxy in front of them must route "
    "each session to one process (sticky sessions), or the servers must be stateless."
)
"""What to do when a server does not know a session that it has begun."""

_SHOWN = 300  # characters that a server says about it


class RefusedResponse(NamedTuple):
    """A response that is not an answer."""

    status: int
    headers: Headers
    body: bytes


def not_an_answer(
    method: str, address: ServerAddress, refusal: RefusedResponse, *, hint: str = ""
) -> InvalidResponseError:
    """Return what a call raises whose request was refused; `hint` replaces the usual hint."""
    what = method or "a response"
    said = _said(refusal.body)
    text = f"{what}: {address.origin} answered HTTP {refusal.status}"
    text += f": {said}" if said else "."
    usual = hint_for(address, refusal.status, refusal.headers.get("location"))
    error = InvalidResponseError(f"{text} {hint}" if hint else text + usual)
    error.status = refusal.status
    return error


def holds_answer(refusal: RefusedResponse, identifier: int) -> bool:
    """Return whether the body of a refusal is the response to that request, despite the status."""
    message = _message_in(refusal.body)
    return is_object(message) and message.get("id") == identifier and "error" in message


def _message_in(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _said(body: bytes) -> str:
    """Return the message of the error response in `body`, if that is what it is."""
    try:
        message: Any = _message_in(body)["error"]["message"]
    except (KeyError, TypeError):
        return ""
    if not isinstance(message, str):
        return ""
    printable = "".join(sign if sign.isprintable() else " " for sign in message)
    return printable[:_SHOWN]
