"""What is answered without a session: refusals and empty replies, as ASGI sends them."""

from __future__ import annotations

__all__ = (
    "AsgiMessage",
    "HttpResponse",
    "Receive",
    "Scope",
    "Send",
    "refusal",
    "send_response",
    "too_many",
)

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple

from kinwire.rpc.codec import Id, encode
from kinwire.rpc.errors import RpcError
from kinwire_protocols.base import error_to_wire
from kinwire_protocols.jsonrpc.errors import InvalidRequestError

Scope = MutableMapping[str, Any]
AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]

JSON: tuple[bytes, bytes] = (b"content-type", b"application/json")


class HttpResponse(NamedTuple):
    """A whole response."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()


def refusal(
    status: int,
    why: str | RpcError,
    *,
    id: Id | None = None,
    headers: tuple[tuple[bytes, bytes], ...] = (),
) -> HttpResponse:
    """Return a response that says why nothing was done, as a JSON-RPC error."""
    error = InvalidRequestError(why) if isinstance(why, str) else why
    body = encode({"jsonrpc": "2.0", "id": id, "error": error_to_wire(error)})
    return HttpResponse(status, body, (JSON, *headers))


def too_many() -> HttpResponse:
    """Return the refusal of a session beyond `HttpLimits.sessions`."""
    retry = ((b"retry-after", b"10"),)
    return refusal(503, "No more sessions at the moment. Come back later.", headers=retry)


async def send_response(send: Send, reply: HttpResponse) -> None:
    """Send a whole response."""
    headers = [*reply.headers, (b"content-length", b"%d" % len(reply.body))]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})
