"""Reading the body of a request: no more than may come, for no longer than it may take."""

from __future__ import annotations

__all__ = ("coding_refusal", "read_body")

import asyncio
import time

import anyio

from kinwire.rpc.codec import longer_than
from kinwire.transports.http.head import Head
from kinwire.transports.http.listener import Listener
from kinwire.transports.http.replies import AsgiMessage, HttpResponse, Receive, refusal

_DIGITS = 18
_ONLY_PLAIN = (b"accept-encoding", b"identity")


def coding_refusal(head: Head) -> HttpResponse | None:
    """Return what a compressed body earns; None if the body comes as it is."""
    if b"content-encoding" not in head.values:
        return None
    if (head.text(b"content-encoding") or "").lower() == "identity":
        return None
    return refusal(415, "Content-Encoding: send the body as it is.", headers=(_ONLY_PLAIN,))


async def read_body(
    head: Head, receive: Receive, listener: Listener, limit: int
) -> bytes | HttpResponse:
    """Return the body, or the refusal that it earns."""
    declared = head.values.get(b"content-length", b"0").strip()
    number = declared if declared.isdigit() else b"0"
    if len(number) > _DIGITS or int(number) > limit:
        return _too_large(limit)
    if listener.loop is None:
        with anyio.move_on_after(listener.limits.body_time):
            return await _rest(await receive(), receive, limit)
        return _too_slow()
    task = asyncio.current_task(listener.loop)
    assert task is not None
    # A timer a request would cost more than all the rest here.
    listener.readers[task] = time.monotonic()
    if not listener.ticking:
        listener.tick_on()
    try:
        message = await receive()
        body: bytes = message.get("body", b"")
        if body and len(body) <= limit and not message.get("more_body", False):
            return body  # almost always
        return await _rest(message, receive, limit)
    except asyncio.CancelledError:
        if task in listener.readers:  # it was somebody else who cancelled
            raise
        task.uncancel()
        return refusal(503, "The server is stopping.") if listener.stopping else _too_slow()
    finally:
        listener.readers.pop(task, None)


async def _rest(message: AsgiMessage, receive: Receive, limit: int) -> bytes | HttpResponse:
    parts: list[bytes] = []
    size = 0
    while True:
        if message["type"] == "http.disconnect":
            return refusal(400, "The body ends too early.")
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > limit:
            return _too_large(limit)
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)
        message = await receive()


def _too_large(limit: int) -> HttpResponse:
    return refusal(413, f"The body is {longer_than(limit)}.")


def _too_slow() -> HttpResponse:
    return refusal(408, "The body took too long to arrive.")
