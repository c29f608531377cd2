"""A request of a client that a server works on, and the way back for what belongs to it."""

from __future__ import annotations

__all__ = ("ForwardedRequest",)

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import anyio

from kinwire.mcp.context import Context
from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import SessionStateError
from kinwire.rpc.request import Request
from kinwire.rpc.response_stream import current_stream
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidRequestError, MethodNotFoundError
from kinwire_protocols.mcp.models import ProgressNotificationParams
from kinwire_protocols.peer import Method

_ASK_TIMEOUT = 600.0  # seconds: people may have to approve


class ForwardedRequest(Context):
    """The context of a request that is forwarded: `ForwardedRequest.of(context)`.

    What belongs to it may be sent from any task: it leaves where the handler of the request would
    send it, over HTTP on the stream of that request.
    """

    __slots__ = ("_questions", "_stream", "ids")

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self._stream = current_stream.get()
        self._questions = set[anyio.CancelScope]()
        self.ids = list[int]()
        """The ids that it was sent to a server with; several if it was repeated."""

    @property
    def raw_params(self) -> JsonObject:
        """The params for the other side, as they came: without what is for the gateway alone.

        That is the token of progress, and what is said in the words of MGP.
        """
        params: Any = self.message.get("params")
        found: JsonObject = dict(params) if is_object(params) else {}
        found.pop("_mgp", None)
        meta = found.get("_meta")
        if is_object(meta) and "progressToken" in meta:
            found["_meta"] = {key: one for key, one in meta.items() if key != "progressToken"}
        return found

    @property
    def wants_progress(self) -> bool:
        """Whether the client asks for reports of progress."""
        return self._request.progress_token is not None

    def report(self, report: ProgressNotificationParams) -> None:
        """Pass a report of progress on; one that would have to wait is left out."""
        message = getattr(report, "message", None)
        with self._on_its_stream():
            self.session.progress_if_room(
                self._request,
                report.progress,
                report.total if isinstance(report.total, (int, float)) else None,
                message if isinstance(message, str) else None,
            )

    def notify(self, method: Method[Any, Any], params: JsonObject) -> bool:
        """Send a notification that belongs to the request; return whether it was sent."""
        with self._on_its_stream():
            return self.session.notify_if_room(method, params)

    async def ask(self, method: Method[Any, Any], question: ForwardedRequest) -> Any:
        """Ask the client, and return its answer as JSON. The end of the request ends the question.

        `question` is the request of the server; reports of progress on it go to the server.

        Raises:
            RpcError: the client cannot be asked this, it answered with an error, or its request
                has ended.
            ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
        """
        self._must_answer(method)
        with anyio.CancelScope() as scope:
            self._questions.add(scope)
            try:
                with self._on_its_stream():
                    return await self.session.raw(
                        method.name,
                        question.raw_params,
                        timeout=_ASK_TIMEOUT,
                        on_progress=question.report if question.wants_progress else None,
                    )
            finally:
                self._questions.discard(scope)
        raise InvalidRequestError(f"{method.name}: the call that it belongs to has ended.")

    def end(self) -> None:
        """End the questions that are not answered: the request has ended."""
        for scope in self._questions:
            scope.cancel()

    def _must_answer(self, method: Method[Any, Any]) -> None:
        try:
            ready = self._server_session("ask").handshake.initialized
        except SessionStateError:
            ready = False
        reason = self.session.denial_reason(method) if ready else "it is not initialized"
        if reason is not None:
            raise MethodNotFoundError(f"{method.name}: the client cannot be asked: {reason}.")

    @contextmanager
    def _on_its_stream(self) -> Generator[None]:
        token = current_stream.set(self._stream)
        try:
            yield
        finally:
            current_stream.reset(token)
