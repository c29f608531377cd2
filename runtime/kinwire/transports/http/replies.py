"""What is answered without a session: refusals and empty replies, as ASGI sends them."""

from __future__ import annotations

__all__ = ("Message", "Receive", "Reply", "Scope", "Send", "refusal", "send_reply", "too_many")

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple

from kinwire.rpc.codec import Id, encode
from kinwire.rpc.errors import RpcError
from kinwire_protocols.base import error_to_wire
from kinwire_protocols.jsonrpc.errors import InvalidRequestError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

JSON: tuple[bytes, bytes] = (b"content-type", b"application/json")


class Reply(NamedTuple):
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
) -> Reply:
    """Return a response that says why nothing was done, as a JSON-RPC error."""
    error = InvalidRequestError(why) if isinstance(why, str) else why
    body = encode({"jsonrpc": "2.0", "id": id, "error": error_to_wire(error)})
    return Reply(status, body, (JSON, *headers))


def too_many() -> Reply:
    """Return the refusal of a session beyond `HttpLimits.sessions`."""
    retry = ((b"retry-after", b"10"),)
    return refusal(503, "No more sessions at the moment. Come back later.", headers=retry)


async def send_reply(send: Send, reply: Reply) -> None:
    """Send a whole response."""
    headers = [*reply.headers, (b"content-length", b"%d" % len(reply.body))]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})
