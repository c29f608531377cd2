"""One connection to an HTTP server: a request, its response, and perhaps another."""

from __future__ import annotations

__all__ = ("ConnectionOwner", "HttpConnection", "HttpRequest")

from typing import Protocol

from kinwire.transports.http_client.content_coding import (
    ContentCodingError,
    ContentDecoder,
    decoder_for,
)
from kinwire.transports.http_client.dialing import HttpRoute
from kinwire.transports.http_client.fields import RequestHead
from kinwire.transports.http_client.response import (
    Headers,
    MalformedResponseError,
    ResponseReader,
    ResponseReceiver,
)
from kinwire.transports.tcp.streams import ByteStream

_SHUT = "the server closed the connection before it answered"
_LATE = "no answer came in time"


class ConnectionOwner(Protocol):
    """What has connections, and knows what a response means for the requests to come."""

    def now(self) -> float:
        """Return the time, in seconds."""
        ...

    def bytes_of(self, request: HttpRequest, route: HttpRoute, /) -> bytes:
        """Return what to write."""
        ...

    def freed(self, connection: HttpConnection, /) -> None:
        """Another request may follow on the connection."""

    def gone(self, connection: HttpConnection, /) -> None:
        """The connection has ended."""

    def restart(self, request: HttpRequest, /) -> None:
        """Send the request again, on a new connection."""

    def moved(self, request: HttpRequest, status: int, headers: Headers, /) -> bool:
        """Take note of a response; return whether the request is to be sent elsewhere."""
        ...


class HttpRequest:
    """A request under way, on one connection or on the next one; the reader's receiver."""

    __slots__ = ("_connection", "_decoder", "_reply", "content", "deadline", "hops", "safe", "what")

    def __init__(
        self, what: RequestHead, content: bytes, reply: ResponseReceiver, *, safe: bool
    ) -> None:
        self.what = what
        self.content = content
        self._reply: ResponseReceiver | None = reply
        self._decoder: ContentDecoder | None = None
        self._connection: HttpConnection | None = None
        self.safe = safe
        """Whether to send it again if the server may have received it already."""
        self.hops = 0
        self.deadline: float | None = None

    def cancel(self) -> None:
        """Give the request up, unless it is over: its reply gets nothing more."""
        connection = self._connection
        if self.over() is not None and connection is not None:
            connection.end(None)

    def expire_in(self, seconds: float) -> None:
        """Give the request up unless it ends in time: then its reply is broken."""
        if self._connection is not None:
            self.deadline = self._connection.expire_in(seconds)

    def pause(self) -> None:
        """Read nothing more of the response until `resume`."""
        if self._connection is not None:
            self._connection.pause()

    def resume(self) -> None:
        """Read again."""
        if self._connection is not None:
            self._connection.resume()

    def on(self, connection: HttpConnection) -> None:
        """The request is sent on `connection`."""
        self._connection = connection

    def over(self) -> ResponseReceiver | None:
        """End the request; return the receiver of its response if it was not over."""
        reply, self._reply = self._reply, None
        self._connection = None
        return reply

    def head(self, status: int, headers: Headers, /) -> None:
        """See `ResponseReceiver.head`."""
        connection = self._connection
        if connection is None:
            return
        if (status in (307, 308) or "set-cookie" in headers) and connection.redirects(
            status, headers
        ):
            return
        if "content-encoding" in headers:
            try:
                self._decoder = decoder_for(headers["content-encoding"])
            except ContentCodingError as error:
                connection.end(error)
        if self._reply is not None:
            self._reply.head(status, headers)

    def body(self, chunk: bytes, /) -> None:
        """See `ResponseReceiver.body`."""
        if self._decoder is not None:
            self._decode(chunk)
        elif self._reply is not None:
            self._reply.body(chunk)

    def end(self) -> None:
        """See `ResponseReceiver.end`."""
        reply = self.over()
        if reply is None:
            return
        if self._decoder is not None:
            try:
                self._decoder.finish()
            except ContentCodingError as error:
                reply.broken(error)
                return
        reply.end()

    def broken(self, error: Exception, /) -> None:
        """See `ResponseReceiver.broken`."""
        reply = self.over()
        if reply is not None:
            reply.broken(error)

    def _decode(self, chunk: bytes) -> None:
        assert self._decoder is not None
        try:
            for piece in self._decoder.feed(chunk):
                if self._reply is None:  # it was given up for the piece before
                    return
                self._reply.body(piece)
        except ContentCodingError as error:
            if self._connection is not None:
                self._connection.end(error)


class HttpConnection:
    """A stream's receiver: the stream comes later, by `connected`."""

    def __init__(self, owner: ConnectionOwner, route: HttpRoute) -> None:
        self._owner = owner
        self.route = route
        self.origin = route.address.origin
        self._reader = ResponseReader()
        self._request: HttpRequest | None = None
        self._stream: ByteStream | None = None
        self._over = False
        self._used = False  # whether a request was answered on it
        self._heard = False  # whether anything of the response has come
        self.deadline: float | None = None
        """When its owner ends it: an answer that does not come, or nothing to do."""
        self._paused = False

    def send(self, request: HttpRequest) -> None:
        """Send a request."""
        self._request = request
        self._heard = False
        self.deadline = request.deadline
        request.on(self)
        self._reader.expect(request, bodiless=request.what.method == "HEAD")
        if self._stream is not None:
            self._stream.write(self._owner.bytes_of(request, self.route))

    def connected(self, stream: ByteStream) -> None:
        """The connection stands."""
        self._stream = stream
        if self._over:
            stream.abort()
        elif self._request is not None:
            stream.write(self._owner.bytes_of(self._request, self.route))

    def usable(self, now: float) -> bool:
        """Return whether it stands idle, and the server has not closed it."""
        if self.deadline is not None and self.deadline <= now:
            return False
        return self._stream is not None and self._stream.silent()

    def redirects(self, status: int, headers: Headers) -> bool:
        """Take note of a response; return whether its request is sent elsewhere now."""
        request = self._request
        if request is None or not self._owner.moved(request, status, headers):
            return False
        self._send_elsewhere(request)
        return True

    def expire_in(self, seconds: float) -> float:
        """Have the request end in time; return when."""
        self.deadline = self._owner.now() + seconds
        return self.deadline

    def close(self) -> None:
        """Write what waits and close; no callback is called any more."""
        self._over = True
        self._request = None
        self._reader.stop()
        if self._stream is not None:
            self._stream.close()

    def expire(self) -> None:
        """End it, because its time is over."""
        self.end(TimeoutError(_LATE))

    def pause(self) -> None:
        """Read nothing until `resume`."""
        if self._stream is not None and not self._paused:
            self._paused = True
            self._stream.pause()

    def resume(self) -> None:
        """Read again."""
        if self._stream is not None and self._paused:
            self._paused = False
            self._stream.resume()

    def received(self, chunk: bytes, /) -> None:
        """See `Receiver.received`."""
        if self._over:
            return
        self._heard = True
        try:
            complete = self._reader.feed(chunk)
        except MalformedResponseError as error:
            self.end(error)
            return
        if complete:
            self._complete()

    def room(self) -> None:
        """See `Receiver.room`."""

    def lost(self, error: Exception | None, /) -> None:
        """See `Receiver.lost`."""
        if self._over:
            return
        request = self._request
        if error is None and self._reader.ended():
            self._reader.stop()
            self._complete()
        elif request is not None and request.safe and self._used and not self._heard:
            self._send_elsewhere(request)
        else:
            self.end(error or ConnectionResetError(_SHUT))

    def end(self, error: Exception | None) -> None:
        """Close immediately, and report why to the request unless it was given up."""
        if self._over:
            return
        self._over = True
        self._reader.stop()
        if self._stream is not None:
            self._stream.abort()
        request, self._request = self._request, None
        self._owner.gone(self)
        if request is not None and error is not None:
            request.broken(error)

    def _send_elsewhere(self, request: HttpRequest) -> None:
        self._request = None
        self.end(None)
        self._owner.restart(request)

    def _complete(self) -> None:
        request, self._request = self._request, None
        if self._reader.reusable:
            self._used = True
            self._owner.freed(self)
        else:
            self.end(None)
        if request is not None:
            request.end()
