"""Calls of tools that were sent and are not answered: what a server's messages refer to by id."""

from __future__ import annotations

__all__ = ("OpenCall", "OpenCalls")

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from kinwire.rpc.codec import Id


class OpenCalls(set["OpenCall"]):
    """The open calls of one server, and those that are about to be sent."""

    def find(self, request_id: Id | None) -> OpenCall | None:
        """Return the call whose request has this id; None if no call has it.

        A message without an id belongs to the only call, if there is only one.
        """
        if request_id is None:
            sent = [one for one in self if one.ids]
            return sent[0] if len(sent) == 1 else None
        return next((one for one in self if one.has_id(request_id)), None)


class OpenCall:
    """One call from the moment in which it is sent until its last answer.

    The class that is based on it fills the attributes: each call of a tool has one.
    """

    __slots__ = ("agent", "among", "ended", "ids", "tool_name", "trace_id", "work")

    agent: str
    """Who calls."""
    tool_name: str | None
    """Which tool; it is set before the call is sent."""
    trace_id: str
    ids: list[int]
    """The ids of its requests: one for each try."""
    ended: bool
    among: OpenCalls
    work: set[anyio.CancelScope] | None
    """What is done for it while it is open; few calls have any."""

    def has_id(self, request_id: Id) -> bool:
        """Return whether this is the id of the request that is not answered yet."""
        return type(request_id) is int and self.ids[-1:] == [request_id]

    @contextmanager
    def must_stay_open(self) -> Generator[anyio.CancelScope]:
        """Cancel the block when the request is answered: nobody needs what it does then."""
        with anyio.CancelScope() as scope:
            self.work = work = self.work or set()
            work.add(scope)
            try:
                yield scope
            finally:
                work.discard(scope)

    def stop(self) -> None:
        """Cancel what is done for a try that has failed; another one may follow."""
        for scope in self.work or ():
            scope.cancel()

    def end(self) -> None:
        """End the call, and what is done for it."""
        self.ended = True
        self.among.discard(self)
        if self.work:
            self.stop()
