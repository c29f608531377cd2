"""One connection to an HTTP server: a request, its response, and perhaps another."""

from __future__ import annotations

__all__ = ("HttpConnection",)

from collections.abc import Callable

from kinwire.transports.http_client.response import (
    MalformedResponseError,
    ResponseReader,
    ResponseReceiver,
)
from kinwire.transports.tcp.streams import ByteStream

_SHUT = "the server closed the connection before it answered"


class HttpConnection:
    """A stream's receiver. `free` is called when another request may follow, `gone` when not."""

    def __init__(
        self,
        free: Callable[[HttpConnection], object],
        gone: Callable[[HttpConnection], object],
        now: Callable[[], float],
    ) -> None:
        self._free = free
        self._gone = gone
        self._now = now
        self._reader = ResponseReader()
        self._reply: ResponseReceiver | None = None
        self._stream: ByteStream | None = None
        self._request = b""  # until the connection stands
        self._over = False
        self.deadline: float | None = None
        """When the pool gives it up: an answer that does not come, or nothing to do."""
        self.paused = False

    def send(self, request: bytes, reply: ResponseReceiver) -> None:
        """Send a request whose response goes to `reply`."""
        self._reply = reply
        self._reader.expect(reply)
        if self._stream is None:
            self._request = request
        else:
            self._stream.write(request)

    def connected(self, stream: ByteStream) -> None:
        """The connection stands."""
        self._stream = stream
        if self._over:
            stream.abort()
            return
        request, self._request = self._request, b""
        stream.write(request)

    def failed(self, error: Exception) -> None:
        """The connection never stood."""
        self._end(error)

    def cancel(self, reply: ResponseReceiver, /) -> None:
        """See `RequestHandle.cancel`."""
        if self._reply is reply:
            self._reply = None
            self._end(None)

    def expire_in(self, reply: ResponseReceiver, seconds: float, /) -> None:
        """See `RequestHandle.expire_in`."""
        if self._reply is reply:
            self.deadline = self._now() + seconds

    def close(self) -> None:
        """Write what waits and close; no callback is called any more."""
        self._over = True
        self._reply = None
        self._reader.stop()
        if self._stream is not None:
            self._stream.close()

    def give_up(self, error: Exception) -> None:
        """Close, and tell the response that is expected why."""
        self._end(error)

    def pause(self) -> None:
        """Read nothing until `resume`."""
        if self._stream is not None and not self.paused:
            self.paused = True
            self._stream.pause()

    def resume(self) -> None:
        """Read again."""
        if self._stream is not None and self.paused:
            self.paused = False
            self._stream.resume()

    def received(self, chunk: bytes, /) -> None:
        """See `Receiver.received`."""
        if self._over:
            return
        try:
            complete = self._reader.feed(chunk)
        except MalformedResponseError as error:
            self._end(error)
            return
        if complete:
            self._complete()

    def room(self) -> None:
        """See `Receiver.room`."""

    def lost(self, error: Exception | None, /) -> None:
        """See `Receiver.lost`."""
        if self._over:
            return
        if error is None and self._reader.ended():
            self._reader.stop()
            self._complete()
        else:
            self._end(error or ConnectionResetError(_SHUT))

    def _complete(self) -> None:
        reply, self._reply = self._reply, None
        if self._reader.reusable:
            self._free(self)
        else:
            self._end(None)
        if reply is not None:
            reply.end()

    def _end(self, error: Exception | None) -> None:
        if self._over:
            return
        self._over = True
        self._reader.stop()
        if self._stream is not None:
            self._stream.abort()
        reply, self._reply = self._reply, None
        self._gone(self)
        if reply is not None and error is not None:
            reply.broken(error)
