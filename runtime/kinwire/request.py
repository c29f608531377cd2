"""What a handler is given beside its params."""

from __future__ import annotations

__all__ = ("Request",)

from typing import TYPE_CHECKING

from kinwire.calls import Inbound, Route
from kinwire.errors import RequestCancelledError
from kinwire.jsonrpc import Id
from kinwire_protocols.base import JsonObject, Message

if TYPE_CHECKING:
    from kinwire.session import Session


class Request(Inbound):
    """The request or notification that a handler works on, and the way back to its sender."""

    __slots__ = ("session",)

    def __init__(
        self, session: Session, id: Id | None, route: Route, params: Message, raw: JsonObject
    ) -> None:
        super().__init__(id, route, params, raw)
        self.session = session
        """The connection it came on: call and notify the sender through it."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Tell the sender how far the work is, if it asked to be told.

        Values have to rise: one that does not is not sent, nor is any after the answer.

        Raises:
            UnsendableError: `message` holds what JSON cannot.
        """
        await self.session.report_progress(self, progress, total, message)

    def raise_if_cancelled(self) -> None:
        """Raise if the sender took the request back: for threads, which nobody can stop.

        Raises:
            RequestCancelledError: nobody waits for the answer.
        """
        if self.cancelled:
            raise RequestCancelledError(f"{self.method.name}: the peer took the request back")
