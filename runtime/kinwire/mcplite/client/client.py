"""The client of a server of MCP-lite, over HTTP or gRPC."""

from __future__ import annotations

__all__ = ("LiteClient",)

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Final, Self, Unpack

from kinwire.mcplite.client.joined_parts import JoinedParts
from kinwire.mcplite.client.made import outcome_of, tools_of
from kinwire.mcplite.client.options import (
    LiteOptions,
    check_arguments,
    transport_options,
    transport_to,
)
from kinwire.mcplite.client.outcomes import LiteOutcome, LitePart
from kinwire.mcplite.client.promise import LitePromise
from kinwire.mcplite.client.transport import (
    OutgoingCall,
)
from kinwire.rpc.errors import SessionStateError
from kinwire.support.arguments import (
    OBJECT,
    SECONDS,
    SECRET,
    TEXT,
    ArgumentCheck,
)
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcplite.models import ResponseMeta, Tool

_TIMEOUT = 60.0  # seconds
_SIZE = 4 * 1024 * 1024  # bytes
_UNSAID: Final = object()


_CALL = ArgumentCheck(
    "LiteClient.call",
    'client.call("search", {"query": "bread"})',
    {"name": TEXT, "arguments": OBJECT.or_none},
    timeout=SECONDS.or_none,
    idempotency_key=TEXT.or_none,
)
_STREAM = _CALL.showing("call", "stream")
_TOOLS = ArgumentCheck("LiteClient.list_tools", "client.list_tools()", {}, timeout=SECONDS.or_none)
_PROMISE = ArgumentCheck("LiteClient.promise", "client.promise(token)", {"token": SECRET})


class LiteClient:
    """Calls the tools of one server: `async with LiteClient(url) as client`.

    Each call is a request of its own: the server keeps nothing between them but promises. Nothing
    is sent twice, except lists, `redeem` and calls with an `idempotency_key` over a connection that
    the server has closed before it answered anything. Over HTTP it works on asyncio and trio, over
    gRPC on asyncio. The block ends in the task that began it.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = _TIMEOUT,
        answer_size: int = _SIZE,
        **options: Unpack[LiteOptions],
    ) -> None:
        """Prepare a client of the server at `url`; connections are made when they are needed.

        Args:
            url: the base of a server, as `https://example.com/mcp-lite/v1/` or
                `grpcs://example.com:50051`. Without a path the base is `/mcp-lite/v1/`.
            token: sent as `Authorization: Bearer ...` with every call.
            timeout: seconds for each answer; for a stream, until something comes.
            answer_size: bytes that an answer may have, or one part of a stream.
            options: how the server is reached, see `LiteOptions`.

        Raises:
            TypeError: an argument is not of its type.
            ValueError: the URL or a header cannot be used, or two options say who is calling.
            InsecureAddressError: others could read what is sent there.
            ImportError: the extra `http`, or `grpc`, is not installed.
        """
        check_arguments(url, options, token=token, timeout=timeout, answer_size=answer_size)
        self._transport = transport_to(url, transport_options(options, token, answer_size))
        self._timeout = timeout
        self._size = answer_size
        self._open: AsyncExitStack | None = None

    async def __aenter__(self) -> Self:
        if self._open is not None:
            raise SessionStateError("The client is open already.")
        stack = AsyncExitStack()
        await stack.enter_async_context(self._transport.opened())
        self._open = stack
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._open is not None
        stack, self._open = self._open, None
        await stack.__aexit__(kind, error, traceback)

    async def list_tools(self, *, timeout: float | None = None) -> list[Tool]:
        """Return the tools that the server has for this caller (section 3.1).

        Args:
            timeout: seconds; None is that of the client.

        Raises:
            ShapeError: one of them does not define a tool.
            RpcError, KinwireError: see `call`.
        """
        _TOOLS.check(timeout=timeout)
        return tools_of(await self._transport.list_tools(timeout or self._timeout))

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        idempotency_key: str | None = None,
        session_context: Any = _UNSAID,
    ) -> LiteOutcome:
        """Call a tool and return what that comes to, to be matched by its class (section 3.2).

        Args:
            name: the name of the tool.
            arguments: its arguments by name.
            timeout: seconds for the answer; None is that of the client. The server cancels the call
                then, unless it has given a promise.
            idempotency_key: a call with the same key is the same call: the server joins it to the
                work that the first one began, and does not work twice.
            session_context: any JSON value that the server has handed out (section 2.2).

        Raises:
            TypeError, ValueError: an argument is not of its type.
            UnknownToolError: the server has no such tool.
            RpcError: the server refused the call; the tool did not run.
            RequestTimeoutError: no answer came in time.
            ConnectionClosedError: there is no connection, or it was lost: the tool may have run.
            InvalidResponseError: what came does not answer the call.
            UnsendableError: JSON cannot hold the arguments.
            SessionStateError: the client is not open.
        """
        _CALL.check(
            name=name, arguments=arguments, timeout=timeout, idempotency_key=idempotency_key
        )
        return await self.send(
            _outgoing(name, arguments, idempotency_key, session_context), timeout
        )

    def stream(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        idempotency_key: str | None = None,
        session_context: Any = _UNSAID,
    ) -> AsyncGenerator[LitePart | LiteOutcome]:
        """Call a tool and yield parts of its result as they come, then the outcome (section 3.7).

        A server that does not stream gives the outcome alone. A loop that ends early gives the call
        up when its generator is closed: `async with contextlib.aclosing(client.stream(...))`.

        Args:
            name: see `call`, as for the others.
            arguments: see `call`.
            timeout: seconds without any sign of the server, a heartbeat too.
            idempotency_key: see `call`.
            session_context: see `call`.

        Raises:
            RpcError, KinwireError: see `call`.
        """
        _STREAM.check(
            name=name, arguments=arguments, timeout=timeout, idempotency_key=idempotency_key
        )
        return self.follow(_outgoing(name, arguments, idempotency_key, session_context), timeout)

    def promise(self, token: str) -> LitePromise:
        """Return the promise of a token that was stored, to be awaited or cancelled.

        Raises:
            TypeError: `token` is not a string.
        """
        _PROMISE.check(token=token)
        meta: JsonObject = {"response_type": "promise", "promise_token": token}
        given = ResponseMeta(response_type="promise", promise_token=token)
        return LitePromise(token, caller=self, meta=given, result={"_meta": meta})

    async def send(self, call: OutgoingCall, timeout: float | None) -> LiteOutcome:
        """See `CallsTools.send`."""
        result = await self._transport.call(call, timeout or self._timeout)
        return outcome_of(result, call, self)

    async def follow(
        self, call: OutgoingCall, timeout: float | None
    ) -> AsyncGenerator[LitePart | LiteOutcome]:
        """See `FollowsPromises.follow`."""
        seconds = timeout or self._timeout
        parts = await self._transport.stream(call, seconds)
        joined = JoinedParts(self._size)
        try:
            while not (message := await parts.receive(seconds)).final:
                yield joined.part(message)
            yield outcome_of(joined.result(message.value), call, self)
        finally:
            parts.close()


def _outgoing(
    name: str,
    arguments: Mapping[str, Any] | None,
    idempotency_key: str | None,
    session_context: Any,
) -> OutgoingCall:
    meta: JsonObject = {}
    if idempotency_key is not None:
        meta["idempotency_key"] = idempotency_key
    if session_context is not _UNSAID:
        meta["session_context"] = session_context
    return OutgoingCall(name, dict(arguments or {}), meta)
