"""The client of a server of MCP-lite, over HTTP or gRPC."""

from __future__ import annotations

__all__ = ("LiteClient", "LiteOptions")

from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack
from ssl import SSLContext
from types import TracebackType
from typing import Any, Final, Self, TypedDict, Unpack

from kinwire.mcplite.client.made import outcome_of, tools_of
from kinwire.mcplite.client.outcomes import LiteOutcome, LitePart
from kinwire.mcplite.client.promise import LitePromise
from kinwire.mcplite.client.transport import (
    LiteTransport,
    OutgoingCall,
    StreamMessage,
    TransportOptions,
)
from kinwire.mcplite.rules.reading import joined_result
from kinwire.rpc.errors import InvalidResponseError, SessionStateError
from kinwire.support.arguments import (
    OBJECT,
    SECONDS,
    SECRET,
    TEXT,
    ArgumentCheck,
    ValueKind,
    count_from,
)
from kinwire.transports.grpc.needed import need_grpc
from kinwire.transports.http_client.credentials import Auth
from kinwire.transports.http_client.fields import checked_headers
from kinwire.transports.url_options import OPTION_KINDS
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcplite.models import ResponseMeta, Tool
from kinwire_protocols.nearest import nearest

_TIMEOUT = 60.0  # seconds
_SIZE = 4 * 1024 * 1024  # bytes
_SCHEMES = ("http", "https", "grpc", "grpcs")
_UNSAID: Final = object()


class LiteOptions(TypedDict, total=False):
    """How a server of MCP-lite is reached. The values are never shown or logged."""

    headers: Mapping[str, str]
    """Sent with every call; over gRPC they are metadata."""

    auth: Auth | None
    """Asked for the `Authorization` header before the first call, with None, and once more when the
    server answers 401, with its `WWW-Authenticate` header."""

    tls: SSLContext | None
    """The certificates to trust and to show over HTTP."""

    certificates: bytes | None
    """Authorities to trust, as PEM, over HTTP and gRPC."""

    insecure: bool
    """Whether plain text may go to another machine: over a network of your own."""

    proxy: str | None
    """The URL of a proxy, over HTTP."""

    trust_env: bool
    """Whether HTTP_PROXY and the like count where no `proxy` is passed: True unless you say
    otherwise."""


_PEM = ValueKind(
    "certificates as PEM, bytes",
    'Path("ca.pem").read_bytes()',
    lambda value: isinstance(value, bytes),
)
_OPTIONS: dict[str, ValueKind] = {
    **{name: kind for name, kind in OPTION_KINDS.items() if name != "http"},
    "certificates": _PEM.or_none,
}
_LITE_CLIENT = ArgumentCheck(
    "LiteClient",
    'LiteClient("http://127.0.0.1:8000/mcp-lite/v1/")',
    {"url": TEXT},
    token=SECRET.or_none,
    timeout=SECONDS,
    answer_size=count_from(1),
    **_OPTIONS,
)
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
        _check(url, options, token=token, timeout=timeout, answer_size=answer_size)
        self._transport = _transport_to(url, _reached(options, token, answer_size))
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
        joined = _JoinedParts(self._size)
        try:
            while not (message := await parts.receive(seconds)).final:
                yield joined.part(message)
            yield outcome_of(joined.result(message.value), call, self)
        finally:
            parts.close()


class _JoinedParts:
    """The text of the parts of a stream, for a server whose last message does not repeat it."""

    def __init__(self, most: int) -> None:
        self._pieces: list[str] = []
        self._left = most

    def part(self, message: StreamMessage) -> LitePart:
        """Return a part.

        Raises:
            InvalidResponseError: it has no text.
        """
        text = message.value.get("partial")
        if not isinstance(text, str):
            raise InvalidResponseError("tools/call: a part of the stream has no text `partial`")
        self._left -= len(text)
        if self._left >= 0:
            self._pieces.append(text)
        return LitePart(text, message.value)

    def result(self, end: JsonObject) -> JsonObject:
        """Return the result at the end of the stream.

        Raises:
            InvalidResponseError: it would be longer than an answer may be.
        """
        joined = joined_result(end, self._pieces)
        if joined is not end and self._left < 0:
            raise InvalidResponseError("tools/call: the parts are longer than `answer_size` allows")
        return joined


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


def _check(url: str, options: LiteOptions, **others: object) -> None:
    known = sorted({*_OPTIONS, *others})
    for name in options:
        if name not in _OPTIONS:
            near = nearest(name, known)
            hint = "" if near is None else f" Did you mean {near}?"
            raise TypeError(f"LiteClient.{name}: expected one of {', '.join(known)}.{hint}")
    _LITE_CLIENT.check(url=url, **others, **options)


def _reached(options: LiteOptions, token: str | None, size: int) -> TransportOptions:
    headers = {**options.get("headers", {})}
    if token is not None:
        if options.get("auth") is not None or any(_says_who(name) for name in headers):
            raise ValueError(
                "LiteClient.token: expected one way to authenticate, got two of: token, "
                "headers={'Authorization': ...}, auth. Keep one."
            )
        headers["Authorization"] = f"Bearer {token}"
    return TransportOptions(
        checked_headers(headers),
        options.get("auth"),
        options.get("tls"),
        options.get("certificates"),
        options.get("insecure", False),
        options.get("proxy"),
        options.get("trust_env", True),
        size,
    )


def _says_who(header: str) -> bool:
    return header.lower() == "authorization"


def _transport_to(url: str, options: TransportOptions) -> LiteTransport:
    scheme = url.lower().partition("://")
    if scheme[0] not in _SCHEMES or not scheme[1]:
        got = f"one with {scheme[0]!r:.20}" if scheme[1] else "none"
        raise ValueError(
            f"LiteClient.url: expected a URL with http, https, grpc or grpcs, got {got}. Write "
            "http://127.0.0.1:8000/mcp-lite/v1/ or grpcs://example.com:50051."
        )
    if scheme[0].startswith("grpc"):
        need_grpc()
        from kinwire.mcplite.client.grpc_transport import GrpcTransport

        return GrpcTransport(url, options)
    from kinwire.mcplite.client.http_transport import http_lite_transport

    return http_lite_transport(url, options)
