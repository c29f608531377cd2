"""The request that a tool, resource, prompt or handler serves."""

from __future__ import annotations

__all__ = ("Context",)

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kinwire.rpc.errors import RequestCancelledError, SessionStateError
from kinwire_protocols import mcp

if TYPE_CHECKING:
    from kinwire.mcp.server_session import ServerSession
    from kinwire.rpc.codec import Id
    from kinwire.rpc.request import Request
    from kinwire.rpc.session import Session


class Context:
    """The request under way. A parameter annotated with this class receives it.

    A plain function runs in a worker thread: there, call the `async` methods of this class by
    `anyio.from_thread.run(context.progress, 1)`.
    """

    __slots__ = ("_request",)

    def __init__(self, request: Request) -> None:
        self._request = request

    @property
    def meta(self) -> Any:
        """The `_meta` of the params, None if they have none."""
        return getattr(self._request.params, "meta", None)

    @property
    def session(self) -> Session:
        """The session of the request; calls on it go to the peer."""
        return self._request.session

    @property
    def request_id(self) -> Id | None:
        """The id of the request, None in a handler of a notification."""
        return self._request.id

    @property
    def cancelled(self) -> bool:
        """Whether the request was cancelled or has ended. Threads may read this."""
        return self._request.cancelled or self._request.ended

    def raise_if_cancelled(self) -> None:
        """Raise if the request was cancelled. For threads, which cannot be cancelled.

        Raises:
            RequestCancelledError: the peer cancelled the request, or the session has ended.
        """
        if self.cancelled:
            raise RequestCancelledError(f"{self._request.method.name}: nobody waits for the result")

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Report progress to the peer, if it asked for reports.

        `progress` must rise from report to report; `total` is in the same unit, None if unknown.
        """
        await self._request.progress(progress, total, message)

    async def log(self, level: mcp.LoggingLevel, data: Any, logger: str | None = None) -> None:
        """Send a log message to the client, if it wants those of that level.

        `data` is a sentence or any other JSON; `logger` names a part of the server. A client sets
        its level by `logging/setLevel`; until then `Server(log_level=...)` holds.

        Raises:
            ValueError: there is no such level.
            UnsendableError: JSON cannot hold `data`.
            ConnectionClosedError: the connection has ended.
            SessionStateError: this is a client's context; only servers send log messages.
        """
        await self._serving().log(level, data, logger)

    async def sample(  # noqa: PLR0913 - one a member of the request
        self,
        messages: str | Sequence[mcp.SamplingMessage],
        *,
        max_tokens: int,
        system_prompt: str | None = None,
        model_preferences: mcp.ModelPreferences | None = None,
        include_context: mcp.IncludeContext | None = None,
        temperature: float | None = None,
        stop_sequences: Sequence[str] | None = None,
        metadata: dict[str, Any] | None = None,
        timeout: float | None = 600.0,
    ) -> mcp.CreateMessageResult:
        """Have the client's model continue a conversation, and return what it wrote.

        `messages` as text is one message of the user. `timeout` is in seconds, None for no limit;
        it leaves time for people who have to approve.

        Raises:
            CapabilityNotNegotiatedError: the client has no model to ask.
            SamplingRejectedError: the user said no.
            SessionStateError: the client has not finished the handshake, or is no client.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
        """
        if isinstance(messages, str):
            text = mcp.TextContent(text=messages)
            messages = [mcp.SamplingMessage(role="user", content=text)]
        return await mcp.ClientStub(
            self._serving().with_options(timeout=timeout)
        ).sampling_create_message(
            messages=list(messages),
            max_tokens=max_tokens,
            system_prompt=system_prompt,
            model_preferences=model_preferences,
            include_context=include_context,
            temperature=temperature,
            stop_sequences=None if stop_sequences is None else list(stop_sequences),
            metadata=metadata,
        )

    async def roots(self) -> list[mcp.Root]:
        """Return the folders and files that the client lets the server work on.

        Raises:
            CapabilityNotNegotiatedError: the client does not say.
            SessionStateError: the client has not finished the handshake, or is no client.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
        """
        return (await mcp.ClientStub(self._serving()).roots_list()).roots

    def _serving(self) -> ServerSession:
        from kinwire.mcp.server_session import ServerSession

        session = self._request.session
        if not isinstance(session, ServerSession):
            raise SessionStateError(
                "The context of a client's handler: expected a server's. "
                "Call the server through context.session."
            )
        return session
