"""What a frame that leaves is, as far as HTTP has to know."""

from __future__ import annotations

__all__ = ("Outgoing", "outgoing")

import re
from typing import Literal, NamedTuple

from kinwire.rpc.codec import FrameError, decode, is_object

Kind = Literal["request", "notification", "response"]

# As `Session` writes them; whatever looks otherwise is decoded.
_REQUEST = re.compile(rb'\{"jsonrpc":"2\.0","id":(\d+),"method":"([a-zA-Z0-9_/.$-]+)"')
_NOTIFICATION = re.compile(rb'\{"jsonrpc":"2\.0","method":"([a-zA-Z0-9_/.$-]+)"')


class Outgoing(NamedTuple):
    """A frame of this side."""

    frame: bytes
    kind: Kind
    method: str
    """Empty for a response."""
    id: int | None
    """Of a request."""

    @property
    def in_order(self) -> bool:
        """Whether what follows must not overtake it."""
        return self.kind == "notification" and self.method not in _UNORDERED


_UNORDERED = {"notifications/cancelled", "notifications/progress"}


def outgoing(frame: bytes) -> Outgoing:
    """Return what `frame` is."""
    found = _REQUEST.match(frame)
    if found is not None:
        return Outgoing(frame, "request", found[2].decode(), int(found[1]))
    found = _NOTIFICATION.match(frame)
    if found is not None:
        return Outgoing(frame, "notification", found[1].decode(), None)
    try:
        message = decode(frame)
    except FrameError:
        return Outgoing(frame, "response", "", None)
    identifier = message.get("id")
    method = message.get("method", "")
    if method and type(identifier) is int:
        return Outgoing(frame, "request", method, identifier)
    kind: Kind = "notification" if method and identifier is None else "response"
    return Outgoing(frame, kind, method, None)


def cancelled_id(frame: bytes) -> int | None:
    """Return which request `notifications/cancelled` takes back."""
    params = decode(frame).get("params")
    identifier = params.get("requestId") if is_object(params) else None
    return identifier if type(identifier) is int else None
