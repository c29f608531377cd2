"""Notifications that go out often, and to many peers: most of each is encoded once."""

from __future__ import annotations

__all__ = ("PreparedNotification",)

from typing import TYPE_CHECKING, Any

from kinwire.rpc.codec import EncodedObject
from kinwire_protocols.peer import Method

if TYPE_CHECKING:
    from kinwire.rpc.session import Session


class PreparedNotification:
    """The notifications of one method to one peer that have some params in common.

    Where the transport can write immediately, as to a pipe, they are written in the caller's turn.
    """

    __slots__ = ("_begun", "_hindrances", "_method", "_outbox", "_own", "_session")

    def __init__(self, session: Session, method: Method[Any, None], own: EncodedObject) -> None:
        """Begin with the params that all have in common. The session is open."""
        self._session = session
        self._outbox = session.outbox
        self._method = method
        self._own = own
        self._begun = own.begun[method.name]
        self._hindrances = -1  # as many as there were when one could be sent last

    def send(self, shared: EncodedObject, /) -> bool:
        """Send one if it need not wait; return whether it was sent, as `Session.notify_now` does.

        The params in `shared`, which are not empty, follow those that all have in common.
        """
        outbox = self._outbox
        write = outbox.write
        if write is not None and self._hindrances == outbox.hindrances and not outbox.waiting:
            line = self._begun + shared.line_ending
            try:
                written = write(line)
            except OSError:  # there is no room, or the transport will find out what it is
                return self._queue(shared)
            if written < len(line):
                outbox.keep(line[written:])
            return True
        return self._queue(shared)

    def _queue(self, shared: EncodedObject) -> bool:
        if not self._session.notify_now(self._method, self._own, shared):
            return False
        self._hindrances = self._outbox.hindrances
        return True
