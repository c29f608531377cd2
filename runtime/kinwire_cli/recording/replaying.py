"""Carries a replay: frames to and from the peer, and how long it is waited for."""

from __future__ import annotations

__all__ = ("described", "replayed")

from collections import deque

import anyio

from kinwire.rpc.codec import FrameError, OutgoingFrame, decode, is_object
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.limits import Limits
from kinwire.rpc.transport import SessionCallbacks, Transport
from kinwire_cli.recording.playback import Playback
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import NOTIFICATIONS_CANCELLED

_CANCELLED = NOTIFICATIONS_CANCELLED.name
_MOST_MISSING = 3  # then the rest is not waited for
_LAST_WORDS = 1.0  # seconds for notifications that were recorded behind the last answer


async def replayed(
    playback: Playback, transport: Transport, limits: Limits, *, stays: bool
) -> Exception | None:
    """Play to the end, waiting `limits.request_timeout` for each step; return why it ended early.

    That is the end of the connection, or a refusal before anything was answered.

    With `stays` the peer ends the session, or is silent for that long.
    """
    timeout = limits.request_timeout
    assert timeout is not None
    session = _Session(playback, transport, limits.frame_size)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(transport.run, session.callbacks)
            await session.play(timeout)
            await session.listen(timeout if stays else min(timeout, _LAST_WORDS), stays=stays)
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await transport.aclose()
    playback.end(_told(session.ended))
    return session.ended


def described(data: bytes) -> OutgoingFrame:
    """Return a recorded frame with what a transport has to know of it."""
    try:
        message = decode(data)
    except FrameError:
        return OutgoingFrame(data, "error")
    identifier, method = message.get("id"), message.get("method", "")
    if method and identifier is None:
        cancelled = _cancelled_id(message) if method == _CANCELLED else None
        return OutgoingFrame(data, "notification", cancelled, method)
    if method and type(identifier) is int:
        return OutgoingFrame(data, "request", identifier, method)
    return OutgoingFrame(data, "error" if "error" in message else "result", None, method)


def _cancelled_id(message: JsonObject) -> int | None:
    params = message.get("params")
    identifier = params.get("requestId") if is_object(params) else None
    return identifier if type(identifier) is int else None


def _told(ended: Exception | None) -> str:
    if ended is None:
        return "nothing"
    # The last words on stderr are this command's already.
    reason = ended.reason if isinstance(ended, ConnectionClosedError) else str(ended)
    return f"nothing: {reason}"


class _Session:
    """What is under way."""

    def __init__(self, playback: Playback, transport: Transport, frame_size: int) -> None:
        self._playback = playback
        self._transport = transport
        self._outbox: deque[bytes] = deque()
        self._news = anyio.Event()
        self.ended: Exception | None = None
        self.callbacks = SessionCallbacks(
            feed=self._feed,
            waiting=self._outbox,
            take=self._take,
            take_frames=lambda: [described(data) for data in self._take()],
            write_with=lambda _, __: None,
            hold_back=lambda _: None,
            overlong=self._feed,  # the start of a frame is reported as invalid
            answer=lambda frame, _: self._feed(frame),
            waits=lambda _: False,
            fail=lambda _, error: self._fail(error),
            end=self._end,
            ask_to_end=self._end,
            frame_size=frame_size,
            loop=None,
        )

    async def play(self, timeout: float) -> None:
        """Send and wait until all is there, or too much is missing."""
        playback = self._playback
        self._send(playback.frames())
        while playback.waits and self.ended is None and playback.missing < _MOST_MISSING:
            before = playback.position
            with anyio.move_on_after(timeout) as patience:
                while playback.position == before and self.ended is None:
                    await self._next_news()
                    self._send(playback.frames())
            if patience.cancelled_caught:
                playback.give_up(f"nothing within {timeout:g} s")
                self._send(playback.frames())

    async def listen(self, seconds: float, *, stays: bool) -> None:
        """Take what comes behind the last step, until `seconds` have passed without anything."""
        while self.ended is None and (stays or not self._playback.notified):
            with anyio.move_on_after(seconds) as patience:
                await self._next_news()
            if patience.cancelled_caught:
                return

    async def _next_news(self) -> None:
        self._news = anyio.Event()
        await self._news.wait()

    def _send(self, frames: list[bytes]) -> None:
        self._outbox += frames
        self._transport.wake()

    def _take(self) -> list[bytes]:
        frames = list(self._outbox)
        self._outbox.clear()
        return frames

    def _feed(self, frame: bytes) -> None:
        self._send(self._playback.receive(frame))
        self._news.set()

    def _fail(self, error: Exception) -> None:
        # A server that has answered may refuse one request, and answer the next.
        if not self._playback.heard or isinstance(error, ConnectionClosedError):
            self._end(error)

    def _end(self, error: Exception) -> None:
        self.ended = self.ended or error
        self._news.set()
