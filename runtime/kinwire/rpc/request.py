"""A request or notification of the peer, from its arrival until its handler has ended."""

from __future__ import annotations

__all__ = ("Request",)

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from kinwire.rpc.codec import Id, is_id, is_object
from kinwire.rpc.errors import RequestCancelledError
from kinwire.rpc.interceptors import handle_through
from kinwire.rpc.routes import Route
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import JsonObject, Message

if TYPE_CHECKING:
    from kinwire.rpc.session import Session


class Request:
    """The context of one message that is being handled, and the way back to its sender."""

    __slots__ = (
        "cancelled",
        "ended",
        "handler",
        "id",
        "in_reply_to",
        "interruption",
        "message",
        "method",
        "params",
        "reported",
        "session",
        "task",
    )

    def __init__(
        self, session: Session, id: Id | None, route: Route, params: Message, message: JsonObject
    ) -> None:
        self.session = session
        """The connection it came on: call and notify the sender through it."""
        self.id = id
        """The id that the peer gave it; None for a notification."""
        self.in_reply_to: int | None = None
        """The id of the request of this side in whose reply it came; None if it came by itself."""
        self.method, self.handler = route.method, route.handler
        plan = session.inbound[self.method.name]
        if plan is not None:
            self.handler = partial(handle_through, plan, route)
        self.params = params
        self.message = message
        """The whole message as it came, of which `params` are a part."""
        self.cancelled = False
        """Whether the peer cancelled the request. Threads may read this."""
        self.ended = False
        self.interruption: Callable[[], JsonObject] | None = None
        """Makes the answer of a request that was interrupted."""
        self.reported: float | None = None  # the last progress value
        self.task: Any = None  # the driver's

    @property
    def label(self) -> str:
        """Return what logs call it: the method, and the name in its params, if there is one."""
        return sanitize_for_log(f"{self.method.name} {getattr(self.params, 'name', '')}".strip())

    @property
    def progress_token(self) -> Id | None:
        """Return the token for progress reports; None if the sender did not ask for them."""
        profile = self.session.profile
        params = self.message.get("params")
        meta = params.get(profile.meta_field) if is_object(params) else None
        if profile.progress is None or not is_object(meta):
            return None
        token = meta.get(profile.progress.token_field)
        return token if is_id(token) else None

    def run(self, route: Route, params: Message) -> Awaitable[Any]:
        """Run the handler of `route` with its interceptors, instead of this request's own."""
        plan = self.session.inbound[route.method.name]
        if plan is None:
            return route.handler(params, self)
        return handle_through(plan, route, params, self)

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Report progress to the sender, if it asked for reports.

        Values must rise: a value that does not is not sent, and none is sent after the answer.

        Raises:
            UnsendableError: `message` holds what JSON cannot.
        """
        await self.session.report_progress(self, progress, total, message)

    def interrupt(self, answer: Callable[[], JsonObject]) -> None:
        """Stop the handler of a request, and answer with what `answer` returns.

        It is called when the handler has ended. If that returns a result all the same, this is the
        answer. What the sender takes back is not answered.
        """
        self.interruption = answer
        self.session.stop(self)

    def raise_if_cancelled(self) -> None:
        """Raise if the sender cancelled the request. For threads, which cannot be cancelled.

        Raises:
            RequestCancelledError: the answer would be dropped.
        """
        if self.cancelled:
            raise RequestCancelledError(f"{self.method.name}: the peer took the request back")
