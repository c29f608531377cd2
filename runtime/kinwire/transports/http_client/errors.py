"""What is said when a request fails: never a header, a token, or a path of the user's."""

from __future__ import annotations

__all__ = ("hint_for", "no_connection")

import ssl

from kinwire.rpc.errors import ConnectionClosedError
from kinwire.transports.http_client.address import ServerAddress, origin_of

_HINTS = {
    301: "It has moved{to}. Connect to that address.",
    302: "It has moved{to}. Connect to that address.",
    303: "It has moved{to}. Connect to that address.",
    307: "It has moved{to}. Connect to that address: what is sent here is not for another.",
    308: "It has moved{to}. Connect to that address: what is sent here is not for another.",
    401: 'It has to know who calls. Pass headers={"Authorization": ...} or auth=...',
    403: "It knows who calls and refuses, or does not accept this host or origin.",
    404: "Nothing is served there. Look at the path of the URL.",
    405: "Nothing is served there. Look at the path of the URL.",
    413: "The message is larger than it accepts.",
    429: "It wants fewer calls.",
}
_NO_TLS = "WRONG_VERSION_NUMBER"  # what OpenSSL makes of plain text


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


def _moved_to(address: ServerAddress, location: str) -> str:
    origin = origin_of(location)
    return "" if origin in (None, address.origin) else f" to {origin}"
