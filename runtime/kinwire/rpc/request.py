"""A request or notification of the peer, from its arrival until its handler has ended."""

from __future__ import annotations

__all__ = ("Request",)

from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any

from kinwire.rpc.codec import Id, is_id, is_object
from kinwire.rpc.errors import RequestCancelledError
from kinwire.rpc.interceptors import handle_through
from kinwire.rpc.routes import Route
from kinwire_protocols.base import JsonObject, Message

if TYPE_CHECKING:
    from kinwire.rpc.session import Session


class Request:
    """What a handler works on beside its params, and the way back to the sender."""

    __slots__ = (
        "_raw",
        "cancelled",
        "ended",
        "handler",
        "id",
        "method",
        "params",
        "reported",
        "session",
        "task",
    )

    def __init__(
        self, session: Session, id: Id | None, route: Route, params: Message, raw: JsonObject
    ) -> None:
        self.session = session
        """The connection it came on: call and notify the sender through it."""
        self.id = id
        """As the peer wrote it; None for a notification."""
        self.method, self.handler, _ = route
        plan = session.inbound[self.method.name]
        if plan is not None:
            self.handler = partial(handle_through, plan, route)
        self.params = params
        self._raw = raw
        self.cancelled = False
        """Whether the peer took the request back. Threads may look, too."""
        self.ended = False
        self.reported: float | None = None  # the last progress value
        self.task: Any = None  # the driver's

    @property
    def progress_token(self) -> Id | None:
        """What the sender wants progress reports under; None if it wants none."""
        profile = self.session.profile
        meta = self._raw.get(profile.meta_field)
        if profile.progress is None or not is_object(meta):
            return None
        token = meta.get(profile.progress.token_field)
        return token if is_id(token) else None

    def run(self, route: Route, params: Message) -> Awaitable[Any]:
        """Run the handler of `route`, with what runs around it, in place of this request's own."""
        plan = self.session.inbound[route.method.name]
        if plan is None:
            return route.handler(params, self)
        return handle_through(plan, route, params, self)

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
