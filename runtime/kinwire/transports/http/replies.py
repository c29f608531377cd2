"""What is answered without a session: refusals and empty replies, as ASGI sends them."""

from __future__ import annotations

__all__ = ("Receive", "Reply", "Scope", "Send", "refusal", "send_reply")

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NamedTuple

from kinwire.errors import RpcError
from kinwire.jsonrpc import Id, encode
from kinwire_protocols.base import error_to_wire
from kinwire_protocols.jsonrpc.errors import InvalidRequestError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

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


async def send_reply(send: Send, reply: Reply) -> None:
    """Send a whole response."""
    headers = [*reply.headers, (b"content-length", b"%d" % len(reply.body))]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})
