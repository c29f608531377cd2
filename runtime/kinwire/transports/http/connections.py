"""Bounds of connections under uvicorn, which has none of its own: for the head of a request, for
the time until it is complete, and for peers that do not read.

Sessions and their answers have other bounds; these are for what is below them. A connection that
is given up here still holds a descriptor and what was written to it, whatever became of its
session.
"""

from __future__ import annotations

__all__ = ("BoundedProtocol", "ConnectionWatch")

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as HttpProtocol
else:
    from uvicorn.protocols.http.auto import AutoHTTPProtocol as HttpProtocol

_HEAD_SIZE = 64 * 1024  # bytes that may come before the head of a request is complete
_HEAD_TIME = 10.0  # seconds for it
_UNREAD_TIME = 30.0  # seconds in which a peer reads nothing of what waits for it


class BoundedProtocol(HttpProtocol):
    """A connection that does not keep a head without end."""

    _unfinished = 0  # bytes of a head

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        before = self.scope
        super().data_received(data)
        if _has_head(self) or self.scope is not before:  # it may have begun anywhere in `data`
            self._unfinished = 0
            return
        self._unfinished += len(data)
        if self._unfinished > _HEAD_SIZE and not self.transport.is_closing():
            self.send_400_response(f"The head of the request exceeds {_HEAD_SIZE} bytes.")


class ConnectionWatch:
    """Gives up connections on which nothing moves; the time is handed in."""

    def __init__(self) -> None:
        self._still: dict[Any, _Still] = {}

    def tick(self, connections: Iterable[Any], now: float) -> None:
        """Look at all connections of a server, as often as you like."""
        before, self._still = self._still, {}
        for connection in list(connections):
            unread = connection.transport.get_write_buffer_size()
            if not (unread or _awaits_head(connection)):
                continue
            still = before.get(connection)
            scope = getattr(connection, "scope", None)
            if still is None or still.has_moved(unread, scope):
                still = _Still(now, unread, scope)
            still.unread = unread
            if now - still.since >= (_UNREAD_TIME if unread else _HEAD_TIME):
                connection.transport.abort()
            else:
                self._still[connection] = still


@dataclass(slots=True)
class _Still:
    """How a connection was at the last look, and since when it has not moved."""

    since: float
    unread: int
    """Bytes that the peer has not read."""
    scope: object
    """Of the request that has come last, or is coming."""

    def has_moved(self, unread: int, scope: object) -> bool:
        """Return whether the peer has read something since then, or begun another request."""
        return unread < self.unread or (not self.unread and unread > 0) or scope is not self.scope


def _awaits_head(connection: Any) -> bool:
    """Return whether a request, or the rest of its head, should come next."""
    try:
        cycle = connection.cycle
    except AttributeError:  # a WebSocket, whose handshake is over
        return False
    return cycle is None or cycle.response_complete or not _has_head(connection)


def _has_head(connection: Any) -> bool:
    """Return whether the head of the last request is complete."""
    scope = connection.scope
    return scope is not None and "path" in scope
