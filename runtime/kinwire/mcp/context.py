"""The context of a request, for tools, resources, prompts and handlers."""

from __future__ import annotations

__all__ = ("Context",)

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

import anyio

from kinwire.mcp.log_messages import LEVELS
from kinwire.rpc.calls import TIMEOUT_KIND
from kinwire.rpc.errors import RequestCancelledError, SessionStateError
from kinwire.support.arguments import (
    COUNT,
    FUNCTION,
    NUMBER,
    OBJECT,
    SECONDS,
    TEXT,
    TEXTS,
    ArgumentCheck,
    instance_of,
    list_of,
    one_of,
)
from kinwire.support.background import background
from kinwire_protocols import mcp

if TYPE_CHECKING:
    from kinwire.mcp.server_session import ServerSession
    from kinwire.rpc.codec import Id
    from kinwire.rpc.request import Request
    from kinwire.rpc.session import Session
    from kinwire_protocols.base import JsonObject, Message


_REPORTED_EVERY = 5.0  # seconds

T = TypeVar("T")

_PROGRESS = ArgumentCheck(
    "Context.progress",
    "await context.progress(3, 10)",
    {"progress": NUMBER, "total": NUMBER.or_none},
    message=TEXT.or_none,
)
_REPORTING_TIME = ArgumentCheck(
    "Context.reporting_time",
    "await context.reporting_time(work)",
    {"work": FUNCTION},
    estimated_seconds=SECONDS.or_none,
)
_LOG = ArgumentCheck(
    "Context.log",
    'await context.log("info", "...")',
    {"level": one_of(*LEVELS)},
    logger=TEXT.or_none,
)
_SAMPLE = ArgumentCheck(
    "Context.sample",
    'await context.sample("...", max_tokens=100)',
    {
        "messages": list_of(
            instance_of(mcp.SamplingMessage, "mcp.SamplingMessage", "mcp.SamplingMessage(...)"),
            "several messages",
        ).or_text,
        "max_tokens": COUNT,
    },
    system_prompt=TEXT.or_none,
    model_preferences=instance_of(
        mcp.ModelPreferences, "mcp.ModelPreferences", "mcp.ModelPreferences()"
    ).or_none,
    include_context=one_of("none", "thisServer", "allServers").or_none,
    temperature=NUMBER.or_none,
    stop_sequences=TEXTS.or_none,
    metadata=OBJECT.or_none,
    timeout=TIMEOUT_KIND,
)


class Context:
    """The request that a function serves.

    A parameter annotated with this class, or with one of an extension that is based on it, gets it;
    clients do not see this parameter. A plain function runs in a worker thread: there, call an
    `async` method by `anyio.from_thread.run(context.progress, 1)`.
    """

    __slots__ = ("_request",)

    def __init__(self, request: Request) -> None:
        self._request = request

    @classmethod
    def of(cls, context: Context) -> Self:
        """Return the context of the same request in this class: `MgpContext.of(context)`."""
        return cls(context._request)

    @property
    def meta(self) -> Any:
        """The `_meta` of the params, None if absent."""
        return getattr(self._request.params, "meta", None)

    @property
    def params(self) -> Message:
        """The params of the request as they came, of the type of its method."""
        return self._request.params

    @property
    def message(self) -> JsonObject:
        """The whole JSON-RPC message as it came; it must not be changed."""
        return self._request.message

    @property
    def answers(self) -> Mapping[str, Any] | None:
        """The answers to the questions of the tool, by their ids; None without any.

        They come with a call that repeats one which the tool has answered by `NeedsAnswers`, over
        MCP-lite. A client can answer anything.
        """
        return getattr(self._request, "answers", None)

    @property
    def asked_with(self) -> Any:
        """The `state` of the `NeedsAnswers` that `answers` belong to, None without it."""
        return getattr(self._request, "state", None)

    @property
    def session(self) -> Session:
        """The session of the request; calls on it go to the peer."""
        return self._request.session

    @property
    def request_id(self) -> Id | None:
        """The id of the request, None for a notification."""
        return self._request.id

    @property
    def in_reply_to(self) -> int | None:
        """The id of the request of this side in whose reply it came; None if it came by itself.

        Over HTTP replies come apart from each other. Over stdio it is always None.
        """
        return self._request.in_reply_to

    @property
    def cancelled(self) -> bool:
        """Whether the peer no longer waits for the result. Any thread may read this."""
        request = self._request
        return request.cancelled or request.ended or request.interruption is not None

    def raise_if_cancelled(self) -> None:
        """Raise if the peer no longer waits for the result: for threads, which cannot be stopped.

        Raises:
            RequestCancelledError: the peer cancelled the request, or the session has ended.
        """
        request = self._request  # once for each piece of a stream: the property costs more
        if request.cancelled or request.ended or request.interruption is not None:
            raise RequestCancelledError(f"{request.method.name}: nobody waits for the result")

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Send a progress report to the peer, if it asked for reports.

        `progress` must increase with each report; `total` is in the same unit, None if unknown.
        """
        _PROGRESS.check(progress=progress, total=total, message=message)
        await self._request.progress(progress, total, message)

    async def reporting_time(
        self, work: Callable[[], Awaitable[T]], estimated_seconds: float | None = None
    ) -> T:
        """Return what the async function `work` returns; report the seconds that it has taken.

        A report is sent every few seconds, if the peer asked for reports, and not after `work` has
        reported by itself. `estimated_seconds` is the total; None if nobody knows.
        """
        _REPORTING_TIME.check(work=work, estimated_seconds=estimated_seconds)
        if self._request.progress_token is None:
            return await work()
        async with background() as tasks:
            tasks.start_soon(_report_time, self._request, estimated_seconds)
            made = await work()
            tasks.cancel_scope.cancel()
        return made

    async def log(self, level: mcp.LoggingLevel, data: Any, logger: str | None = None) -> None:
        """Send a log message to the client, unless it is less severe than the client's level.

        `data` is a sentence or any other JSON; `logger` names a part of the server. A client sets
        its level by `logging/setLevel`; until then `Server(log_level=...)` applies.

        Raises:
            ValueError: unknown level.
            UnsendableError: JSON cannot hold `data`.
            ConnectionClosedError: the connection has ended.
            SessionStateError: this is a client's context; only servers send log messages.
        """
        from kinwire.mcp.sessionless import SessionlessPeer

        _LOG.check(level=level, logger=logger)
        if not isinstance(self._request.session, SessionlessPeer):
            await self._server_session("log").log(level, data, logger)

    async def sample(  # noqa: PLR0913 - one for each field of the request
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
        """Return a message of the client's model that continues `messages`.

        A string is one message of the user. `timeout` is in seconds, None for no limit; the default
        leaves time for people who have to approve.

        Raises:
            CapabilityNotNegotiatedError: the client does not offer sampling.
            SamplingRejectedError: the user rejected the request or the result.
            SessionStateError: the client has not finished the handshake, or the peer is a server.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
        """
        _SAMPLE.check(
            messages=messages,
            max_tokens=max_tokens,
            system_prompt=system_prompt,
            model_preferences=model_preferences,
            include_context=include_context,
            temperature=temperature,
            stop_sequences=stop_sequences,
            metadata=metadata,
            timeout=timeout,
        )
        if isinstance(messages, str):
            text = mcp.TextContent(text=messages)
            messages = [mcp.SamplingMessage(role="user", content=text)]
        return await mcp.ClientStub(
            self._server_session("sample").with_options(timeout=timeout)
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
            CapabilityNotNegotiatedError: the client does not offer roots.
            SessionStateError: the client has not finished the handshake, or the peer is a server.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
        """
        return (await mcp.ClientStub(self._server_session("roots")).roots_list()).roots

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            from kinwire.mcp.habits import CONTEXT_NAMES, no_attribute  # only after a mistake

            raise no_attribute(self, name, CONTEXT_NAMES)

    def _server_session(self, name: str) -> ServerSession:
        from kinwire.mcp.server_session import ServerSession
        from kinwire.mcp.sessionless import SessionlessPeer

        session: object = self._request.session
        if isinstance(session, SessionlessPeer):
            raise session.refusal(f"Context.{name}")
        if not isinstance(session, ServerSession):
            raise SessionStateError(
                "The context of a client's handler: expected a server's. "
                "Call the server through context.session."
            )
        return session


async def _report_time(request: Request, estimated: float | None) -> None:
    passed, before = 0.0, request.reported
    while request.reported == before:
        await anyio.sleep(_REPORTED_EVERY)
        if request.reported == before:
            passed += _REPORTED_EVERY
            await request.progress(passed, estimated)
            before = request.reported
