"""What carries frames between a session and its peer. A transport knows nothing of protocols.

There is no queue between the two: a transport hands each frame that arrives to
`SessionCallbacks.feed`, and fetches the frames that leave with `SessionCallbacks.take` when it can
write them.
"""

from __future__ import annotations

__all__ = (
    "TRANSPORT_KIND",
    "ListeningTransport",
    "MultiStreamTransport",
    "SessionCallbacks",
    "Transport",
    "Write",
)

from abc import ABC, abstractmethod
from asyncio import AbstractEventLoop
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from kinwire.rpc.codec import OutgoingFrame
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.support.arguments import having

Write = Callable[[bytes], int]
"""Writes what can be written of some bytes without waiting, and returns how many those were.

It raises `OSError`, such as `BlockingIOError`, if that is nothing.
"""


@dataclass(slots=True, kw_only=True)
class SessionCallbacks:
    """A session as its transport sees it. The functions return immediately and never raise."""

    feed: Callable[[bytes], None]
    """Hand over one frame that arrived, without the newline."""

    waiting: Collection[object]
    """Is true while there is something to take."""

    take: Callable[[], list[bytes]]
    """Return the next frames to write, about 256 KiB; call again while more are waiting."""

    take_frames: Callable[[], list[OutgoingFrame]]
    """The same for a transport that has to know what it writes."""

    write_with: Callable[[Write | None, Callable[[bytes], None]], None]
    """Say what writes a frame, with a newline behind it, in the turn in which it is sent: nothing
    while something that was taken has not left. The second function gets what could not be written
    of a frame. An event for many peers then costs a fraction: no session has to be woken."""

    hold_back: Callable[[int], None]
    """Say how many more bytes, or fewer, were taken and cannot leave yet: they are unsent still."""

    overlong: Callable[[bytes], None]
    """Hand over the ends of a frame beyond `frame_size` (`codec.ends_of`): the rest is skipped."""

    answer: Callable[[bytes, int], None]
    """Hand over a frame that came in the reply to the request of this id, where each request has a
    reply of its own: a response to another request is dropped."""

    waits: Callable[[int], bool]
    """Whether a call waits for the answer to the request of this id."""

    fail: Callable[[int, Exception], None]
    """Say that the request of this id will not be answered, and why; the connection goes on."""

    end: Callable[[ConnectionClosedError], None]
    """Say that nothing will arrive any more, and why. What is waiting is written."""

    ask_to_end: Callable[[ConnectionClosedError], None]
    """Say that this side is asked to end the connection, and why, as by a signal. It does so as
    `end`, but a protocol may see to it that what is under way is finished first."""

    frame_size: int
    """The largest frame to hand over, in bytes."""

    loop: AbstractEventLoop | None
    """The loop to hang callbacks on where the asyncio driver runs; None: use anyio."""

    paused: bool = False
    """Whether to stop reading until `Transport.resume()`."""

    repeatable: bool = True
    """Whether a transport may repeat the handshake with a server that has forgotten the session. If
    not, the connection ends: a protocol has sent more than a new session would know."""


class MultiStreamTransport(ABC):
    """Base of transports with several streams, which get a `MultiStreamCallbacks`.

    Others carry the frames, such as the requests of HTTP, so nothing is waited for here.
    """

    peer_may_emit_noise = False
    address: str | None
    has_ended = False
    """Whether nothing that arrives is handled any more; the session sets it."""

    @abstractmethod
    def begin(self, callbacks: SessionCallbacks, /) -> None:
        """Let the streams reach the session."""

    @abstractmethod
    def close_streams(self) -> None:
        """Let go of the session. What is queued on its streams can still be taken."""

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """See `Transport.run`."""
        import anyio  # sessions on asyncio call `begin` alone

        self.begin(callbacks)
        await anyio.sleep_forever()

    @abstractmethod
    def wake(self) -> None:
        """See `Transport.wake`: each stream wakes its own consumer."""

    @abstractmethod
    def resume(self) -> None:
        """See `Transport.resume`: who brings frames looks at `paused`."""

    async def aclose(self) -> None:
        """See `Transport.aclose`."""
        self.close_streams()


class Transport(Protocol):
    """One connection's way to carry frames, used once."""

    peer_may_emit_noise: bool
    """Whether the peer may write text that is not JSON-RPC, and must not be answered for it."""

    address: str | None
    """What the peer is known by: the command line or the URL that this connects to, or the
    principal of a peer that connected to this side. None if nothing names it but this connection.
    It may hold secrets, so only a digest of it is stored or shown (`kinwire.rpc.identity`)."""

    async def run(self, callbacks: SessionCallbacks, /) -> None:
        """Carry frames until cancelled, or until nothing can move in either direction.

        When nothing arrives any more, call `callbacks.end` and go on writing. An exception ends the
        connection as well.
        """

    def wake(self) -> None:
        """Frames wait: fetch them with `SessionCallbacks.take` when they can leave."""

    def resume(self) -> None:
        """`SessionCallbacks.paused` is false again."""

    async def aclose(self) -> None:
        """Write what still waits, for a bounded time, and release everything.

        Called once, after `run` was cancelled, and shielded from cancellation.
        """


@runtime_checkable
class ListeningTransport(Protocol):
    """A transport on which messages of the peer arrive only some time after the handshake."""

    async def wait_listening(self) -> None:
        """Return when what the peer sends by itself arrives, and after a bounded time anyway."""


TRANSPORT_KIND = having(
    ("run", "wake", "resume", "aclose"), "a transport", 'stdio("python", "server.py")'
)
"""Says of an argument whether it is a `Transport`."""
