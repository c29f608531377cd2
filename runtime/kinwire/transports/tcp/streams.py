"""Bytes over a connection, by calls that return immediately: the same on asyncio and on trio.

Where asyncio runs, its own transports do the work: a call costs a fraction of one through anyio.
Elsewhere two tasks stand behind each connection.
"""

from __future__ import annotations

__all__ = ("ByteStream", "Receiver", "TaskStream", "client_context", "connected", "dial")

import asyncio
import select
import ssl
from asyncio import AbstractEventLoop
from collections import deque
from contextlib import suppress
from functools import cache
from ipaddress import ip_address
from typing import Any, Protocol, cast

import anyio
from anyio.abc import ByteStream as AnyioStream, SocketAttribute

from kinwire.transports.task_spawner import TaskSpawner

_WRITE_AHEAD = 64 * 1024  # bytes that wait for the peer to read before a stream is full
_READ = 64 * 1024
_LAST_WRITES = 2.0  # seconds for what waits when a stream is closed


class Receiver(Protocol):
    """Gets the events of a stream."""

    def received(self, chunk: bytes, /) -> None:
        """Take what arrived."""

    def room(self) -> None:
        """Note that the stream is not full any more."""

    def lost(self, error: Exception | None, /) -> None:
        """Nothing arrives any more, and nothing can be written. Called once."""


class ByteStream(Protocol):
    """One open connection."""

    receiver: Receiver
    """May be replaced at any time."""

    full: bool
    """Whether to write no more until `Receiver.room` is called."""

    def write(self, chunk: bytes, /) -> None:
        """Send these bytes, in order, when the connection can take them."""

    def silent(self) -> bool:
        """Return whether nothing waits to be read by now, not even the end of the connection."""
        ...

    def peer(self) -> str:
        """Return the address of the other end; empty if it has no address."""
        ...

    def pause(self) -> None:
        """Read nothing until `resume`."""

    def resume(self) -> None:
        """Read again."""

    def close(self) -> None:
        """Send what waits, for a bounded time, and close; `Receiver.lost` follows."""

    def abort(self) -> None:
        """Close immediately; `Receiver.lost` follows."""


@cache
def client_context() -> ssl.SSLContext:
    """Return the context of all connections of clients: certificates and names are checked.

    The variables SSL_CERT_FILE and SSL_CERT_DIR name other certificates to trust.
    """
    return ssl.create_default_context()


class _Look:
    """Looks at a socket without reading from it."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._poll: Any = None
        if number >= 0 and hasattr(select, "poll"):
            self._poll = select.poll()
            self._poll.register(number, select.POLLIN)

    def finds_nothing(self) -> bool:
        """Return whether nothing waits to be read; errors and the end would be something."""
        if self._number < 0:
            return True  # not a socket: reading shows it
        if self._poll is not None:
            return not self._poll.poll(0)
        return not select.select([self._number], [], [], 0)[0]  # Windows


async def dial(
    host: str,
    port: int,
    receiver: Receiver,
    *,
    tls: ssl.SSLContext | None,
    loop: AbstractEventLoop | None,
    tasks: TaskSpawner,
) -> ByteStream:
    """Return a connection to that port. Without a `loop`, its tasks run in `tasks`.

    Raises:
        OSError: nobody answers there, or (`ssl.SSLError`) not with a certificate to be trusted.
    """
    if loop is None:
        stream = TaskStream(await connected(host, port, tls), receiver)
        tasks.spawn(stream.run)
        return stream
    # uvloop has no such option: it tries one address after the other.
    side_by_side = isinstance(loop, asyncio.BaseEventLoop) and not _is_address(host)
    options: dict[str, Any] = {"happy_eyeballs_delay": 0.25} if side_by_side else {}
    _, protocol = await loop.create_connection(
        lambda: CallbackStream(receiver), host, port, ssl=tls, **options
    )
    return protocol


def _host(address: object) -> str:
    return str(cast("tuple[object, ...]", address)[0]) if isinstance(address, tuple) else ""


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


async def connected(host: str, port: int, tls: ssl.SSLContext | None) -> AnyioStream:
    """Return a connection of anyio's.

    Raises:
        OSError: see `dial`.
    """
    if tls is None:
        return await anyio.connect_tcp(host, port)
    return await anyio.connect_tcp(host, port, ssl_context=tls, tls_standard_compatible=False)


class CallbackStream(asyncio.Protocol):
    """A connection of asyncio's own."""

    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        self._transport: asyncio.Transport | None = None
        self._closing: asyncio.TimerHandle | None = None
        self._look: _Look | None = None
        self.full = False

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        self.receiver.received(data)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.BaseProtocol`."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=_WRITE_AHEAD)

    def pause_writing(self) -> None:
        """See `asyncio.BaseProtocol`."""
        self.full = True

    def resume_writing(self) -> None:
        """See `asyncio.BaseProtocol`."""
        self.full = False
        self.receiver.room()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.BaseProtocol`."""
        if self._closing is not None:
            self._closing.cancel()
        self.receiver.lost(exc)

    def write(self, chunk: bytes, /) -> None:
        """See `ByteStream.write`."""
        self._open().write(chunk)

    def silent(self) -> bool:
        """See `ByteStream.silent`."""
        transport = self._open()
        if transport.is_closing():
            return False
        if self._look is None:
            self._look = _Look(transport.get_extra_info("socket").fileno())
        return self._look.finds_nothing()

    def peer(self) -> str:
        """See `ByteStream.peer`."""
        return _host(self._open().get_extra_info("peername"))

    def pause(self) -> None:
        """See `ByteStream.pause`."""
        self._open().pause_reading()

    def resume(self) -> None:
        """See `ByteStream.resume`."""
        self._open().resume_reading()

    def close(self) -> None:
        """See `ByteStream.close`."""
        transport = self._open()
        if not transport.is_closing():
            transport.close()
            loop = asyncio.get_running_loop()
            self._closing = loop.call_later(_LAST_WRITES, transport.abort)

    def abort(self) -> None:
        """See `ByteStream.abort`."""
        self._open().abort()

    def _open(self) -> asyncio.Transport:
        assert self._transport is not None
        return self._transport


class TaskStream:
    """A connection of anyio's: `run` has to run as long as it is used."""

    def __init__(self, stream: AnyioStream, receiver: Receiver) -> None:
        self._stream = stream
        self.receiver = receiver
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._news = anyio.Event()  # there is something to write, or to end
        self._reading = anyio.Event()
        self._reading.set()
        self._closing = False
        self._scope = anyio.CancelScope()
        self._look: _Look | None = None
        self.full = False

    async def run(self) -> None:
        """Carry bytes both ways until the connection ends."""
        error: Exception | None = None
        try:
            with self._scope:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._write_all)
                    error = await self._read_all()
                    tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.aclose_forcefully(self._stream)
            self.receiver.lost(error)

    def write(self, chunk: bytes, /) -> None:
        """See `ByteStream.write`."""
        if self._closing:
            return
        self._waiting.append(chunk)
        self._size += len(chunk)
        self.full = self._size > _WRITE_AHEAD
        self._news.set()

    def silent(self) -> bool:
        """See `ByteStream.silent`."""
        if self._closing:
            return False
        if self._look is None:
            raw = self._stream.extra(SocketAttribute.raw_socket, None)
            self._look = _Look(-1 if raw is None else raw.fileno())
        return self._look.finds_nothing()

    def peer(self) -> str:
        """See `ByteStream.peer`."""
        return _host(self._stream.extra(SocketAttribute.remote_address, None))

    def pause(self) -> None:
        """See `ByteStream.pause`."""
        if self._reading.is_set():
            self._reading = anyio.Event()

    def resume(self) -> None:
        """See `ByteStream.resume`."""
        self._reading.set()

    def close(self) -> None:
        """See `ByteStream.close`."""
        self._closing = True
        self._scope.deadline = anyio.current_time() + _LAST_WRITES
        self._news.set()

    def abort(self) -> None:
        """See `ByteStream.abort`."""
        self._closing = True
        self._scope.cancel()

    async def _read_all(self) -> Exception | None:
        try:
            while True:
                await self._reading.wait()
                chunk = await self._stream.receive(_READ)
                self.receiver.received(chunk)  # which may be another one by now
        except anyio.EndOfStream:
            return None
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            cause = error.__cause__
            return cause if isinstance(cause, OSError) else error

    async def _write_all(self) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # reading reports why
            while True:
                while self._waiting:
                    chunk = b"".join(self._waiting)
                    self._waiting.clear()
                    await self._stream.send(chunk)
                    self._size -= len(chunk)
                    if self.full and self._size <= _WRITE_AHEAD:
                        self.full = False
                        self.receiver.room()
                if self._closing:
                    break
                self._news = anyio.Event()
                await self._news.wait()
            self._scope.cancel()
