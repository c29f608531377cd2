"""What the client needs of a binding: calls and streams of calls, as JSON that both have alike.

Results are those of HTTP, whatever carries them: `_meta` is a field of the result, its `timestamp`
is a date-time, its `response_type` a word, and whole numbers are whole (sections 4 and 5.2).
"""

from __future__ import annotations

__all__ = (
    "NOT_ACCEPTED",
    "SAY_WHO",
    "LiteTransport",
    "OutgoingCall",
    "PartStream",
    "StreamMessage",
    "TransportOptions",
    "trusting",
)

import ssl
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol

from kinwire.transports.http_client.credentials import Auth
from kinwire.transports.http_client.fields import Fields
from kinwire_protocols.base import JsonObject

SAY_WHO = " It has to know who calls. Pass token=... or auth=..."
"""How the message of a 401 ends: advice for programs, of no use in a command line."""
NOT_ACCEPTED = " It does not accept the token that was sent."
_SIZE = 4 * 1024 * 1024  # bytes, as `Limits.frame_size`


class OutgoingCall(NamedTuple):
    """A call of a tool, as it leaves."""

    name: str
    arguments: JsonObject
    meta: JsonObject
    """The fields of `RequestMeta`; empty means that `_meta` is left out."""

    @property
    def repeatable(self) -> bool:
        """Whether the server does the work once, even if it gets the call twice."""
        return self.name == "redeem" or "idempotency_key" in self.meta


class StreamMessage(NamedTuple):
    """One message of a stream of a call."""

    value: JsonObject
    """A part, `{"partial": ...}`, or the result."""
    final: bool
    """Whether it is the result, which ends the stream."""


class TransportOptions(NamedTuple):
    """How a server is reached, whatever the binding."""

    fields: Fields = ()
    """Headers, or metadata of gRPC, that are sent with every call."""
    auth: Auth | None = None
    """Asked for the `Authorization` header; see `UrlOptions.auth`."""
    tls: ssl.SSLContext | None = None
    """The certificates to trust and to show; None: those of the system."""
    certificates: bytes | None = None
    """The same for gRPC, which takes no `SSLContext`: authorities to trust, as PEM."""
    insecure: bool = False
    """Whether plain text may go to another machine."""
    proxy: str | None = None
    """The URL of a proxy, for HTTP."""
    trust_env: bool = True
    """Whether `HTTP_PROXY` and the like count."""
    size: int = _SIZE
    """The bytes that an answer may have, or one message of a stream."""


class PartStream(Protocol):
    """The messages of one call, in their order."""

    async def receive(self, timeout: float) -> StreamMessage:
        """Return the next message; after the final one this is not called again.

        Anything that the server sends, a heartbeat too, begins the time again.

        Raises:
            RequestTimeoutError: nothing came for `timeout` seconds.
            RpcError, KinwireError: see `LiteTransport.call`.
        """
        ...

    def close(self) -> None:
        """Give the call up if it is not over: the server cancels it. It may be called twice."""


class LiteTransport(Protocol):
    """A binding: carries calls to one server. Calls may run at the same time."""

    def opened(self) -> AbstractAsyncContextManager[object]:
        """Return a block in which calls can be made; connections are closed at its end."""
        ...

    async def list_tools(self, timeout: float) -> list[JsonObject]:
        """Return the tools, as the server describes them.

        Raises:
            RpcError, KinwireError: see `call`.
        """
        ...

    async def call(self, call: OutgoingCall, timeout: float) -> JsonObject:
        """Return the result, a `ToolResult` as JSON that is not checked yet.

        Raises:
            RpcError: the server refused the call; made by `errors.error_from`.
            RequestTimeoutError: no answer came within `timeout` seconds. The call was cancelled.
            ConnectionClosedError: there is no connection, or it was lost before the answer.
            InvalidResponseError: what came does not answer the call, as another status of HTTP.
        """
        ...

    async def stream(self, call: OutgoingCall, timeout: float) -> PartStream:
        """Begin a call whose result may come in parts.

        Raises:
            RpcError, KinwireError: see `call`.
        """
        ...


def trusting(certificates: bytes) -> ssl.SSLContext:
    """Return what trusts these authorities, given as PEM.

    Raises:
        ValueError: they are not certificates.
    """
    try:
        return ssl.create_default_context(cadata=certificates.decode("ascii"))
    except (ValueError, ssl.SSLError):
        raise ValueError(
            "LiteClient.certificates: expected certificates as PEM, got other bytes. "
            'Write Path("authorities.pem").read_bytes().'
        ) from None
