"""What is said when a request fails: never a header, a token, or a path of the user's."""

from __future__ import annotations

__all__ = ("hint_for", "holds_answer", "no_connection", "not_an_answer")

import json
import ssl
from typing import Any

from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import ConnectionClosedError, InvalidResponseError
from kinwire.transports.http_client.address import ServerAddress, origin_of
from kinwire.transports.http_client.exchange import RefusedResponse

_HINTS = {
    301: "It has moved{to}. Connect to that address.",
    302: "It has moved{to}. Connect to that address.",
    303: "It has moved{to}. Connect to that address.",
    307: "It has moved{to}. Connect to that address: what is sent here is not for another.",
    308: "It has moved{to}. Connect to that address: what is sent here is not for another.",
    401: 'It has to know who calls. Pass headers={"Authorization": ...} or auth=...',
    403: "It knows who calls and refuses, or does not accept this host or origin.",
    404: "It has no MCP there. Look at the path of the URL.",
    405: "It has no MCP there. Look at the path of the URL.",
    413: "The message is larger than it accepts.",
    429: "It wants fewer calls.",
}
_NO_TLS = "WRONG_VERSION_NUMBER"  # what OpenSSL makes of plain text
_SHOWN = 300  # characters that a server says about it


def not_an_answer(
    method: str, address: ServerAddress, refusal: RefusedResponse
) -> InvalidResponseError:
    """Return what a call raises whose request was refused."""
    what = method or "a response"
    said = _said(refusal.body)
    text = f"{what}: {address.origin} answered HTTP {refusal.status}"
    text += f": {said}" if said else "."
    hint = hint_for(address, refusal.status, refusal.headers.get("location"))
    error = InvalidResponseError(text + hint)
    error.status = refusal.status
    return error


def hint_for(address: ServerAddress, status: int, location: str | None) -> str:
    """Return what to do about a refusal, behind a space; nothing if that is not known."""
    hint = _HINTS.get(status)
    return "" if hint is None else " " + hint.replace("{to}", _moved_to(address, location or ""))


def no_connection(address: ServerAddress, error: Exception) -> ConnectionClosedError:
    """Return what a call raises whose connection never stood, or ended before the answer."""
    if isinstance(error, ssl.SSLCertVerificationError):
        reason = f"its certificate is not to be trusted: {error.verify_message}"
    elif isinstance(error, ssl.SSLError) and error.reason == _NO_TLS:
        reason = "it does not speak TLS. Begin the URL with http or ws, if it is on this machine"
    elif isinstance(error, TimeoutError):
        reason = "it does not answer"
    elif isinstance(error, OSError) and error.strerror:
        reason = error.strerror
    else:
        reason = str(error) or type(error).__name__
    return ConnectionClosedError(f"No answer from {address.origin}: {reason.rstrip('.')}.")


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


def _moved_to(address: ServerAddress, location: str) -> str:
    origin = origin_of(location)
    return "" if origin in (None, address.origin) else f" to {origin}"
