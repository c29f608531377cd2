"""A transport that also keeps what a session drops: stray lines, and answers to nothing."""

from __future__ import annotations

__all__ = ("Listening",)

from collections.abc import Callable
from functools import partial

from kinwire.messages.jsonrpc import FrameError, decode
from kinwire.transports import Link, Transport
from kinwire_protocols.base import JsonObject

_KEPT = 100  # messages, and lines: a server may write without end
_SHOWN = 200  # bytes of a line


class Listening:
    """A transport whose server is listened to."""

    quiet = True

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.strays: list[str] = []
        """The first of the lines that are no messages, shortened."""
        self.stray_count = 0
        self.overlong_count = 0
        self.unasked: list[JsonObject] = []
        """The first requests and notifications of the server."""
        self.foreign_ids: list[object] = []
        """The first ids of answers that no session of ours gives: it counts from 1."""

    async def run(self, link: Link, /) -> None:
        """See `Transport.run`."""
        overlong, answer = link.overlong, link.answer

        def too_long(head: bytes) -> None:
            self.overlong_count += 1
            overlong(head)

        def hear_answer(frame: bytes, reply_to: int) -> None:
            self._hear(lambda heard: answer(heard, reply_to), frame)

        link.feed, link.overlong = partial(self._hear, link.feed), too_long
        link.answer = hear_answer
        await self._transport.run(link)

    def wake(self) -> None:
        """See `Transport.wake`."""
        self._transport.wake()

    def resume(self) -> None:
        """See `Transport.resume`."""
        self._transport.resume()

    async def aclose(self) -> None:
        """See `Transport.aclose`."""
        await self._transport.aclose()

    def _hear(self, feed: Callable[[bytes], None], frame: bytes) -> None:
        try:
            message = decode(frame)
        except FrameError as refused:
            if refused.id is None:
                self._keep_stray(frame)  # for the session it is noise, which it would log
                return
        else:
            self._keep(message)
        feed(frame)

    def _keep_stray(self, frame: bytes) -> None:
        if not frame.strip():
            return
        self.stray_count += 1
        if len(self.strays) < _KEPT:
            self.strays.append(frame[:_SHOWN].decode(errors="replace").rstrip("\r"))

    def _keep(self, message: JsonObject) -> None:
        if "method" in message:
            if len(self.unasked) < _KEPT:
                self.unasked.append(message)
            return
        identifier = message.get("id")
        if type(identifier) is not int and len(self.foreign_ids) < _KEPT:
            self.foreign_ids.append(identifier)
