"""Reads the responses on one connection: bytes to status, headers and body (RFC 9112).

Pure, and stricter than browsers are: what could be read in two ways is refused, and with it the
connection. Left out: compression, which is never asked for, and trailers, which are skipped.
"""

from __future__ import annotations

__all__ = ("Headers", "MalformedResponseError", "ResponseReader", "ResponseReceiver", "media_type")

import re
from collections.abc import Callable, Mapping
from typing import Protocol

Headers = Mapping[str, str]
"""Names in lower case; several of one name are joined by a comma."""

_HEAD_LIMIT = 16 * 1024  # bytes of status line and headers
_LINE_LIMIT = 1024  # bytes of the line before a chunk
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9][0-9])(?: [^\0\n\r]*)?")
_FIELD = re.compile(rb"([A-Za-z0-9!#$%&'*+.^_`|~-]+):[ \t]*([^\0\n\r]*)")
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,12})[ \t]*(?:;[^\0\n\r]*)?")


class MalformedResponseError(Exception):
    """The server's answer is not an HTTP/1.1 response."""


class ResponseReceiver(Protocol):
    """Gets one response, piece by piece."""

    def head(self, status: int, headers: Headers, /) -> None:
        """Take the head of the response."""

    def body(self, chunk: bytes, /) -> None:
        """Take the next bytes of the body."""

    def end(self) -> None:
        """Note that the response is complete; the connection is free already."""

    def broken(self, error: Exception, /) -> None:
        """Note that the response will not become complete; no other call follows."""


class ResponseReader:
    """One response after the other; `expect` begins each."""

    def __init__(self) -> None:
        self._buffer = b""
        self._at = 0  # what is before was read: cutting it off each time would cost its square
        self._reply: ResponseReceiver | None = None
        self._state: Callable[[], bool] = self._read_head
        self._left = 0  # bytes of the body, or of the chunk
        self._bodiless = False
        self.reusable = True
        """Whether another request may follow on the connection."""

    def expect(self, reply: ResponseReceiver) -> None:
        """Pass head and body of the next response to `reply`."""
        self._reply = reply
        self._state = self._read_head

    def feed(self, chunk: bytes) -> bool:
        """Tell what `chunk` brings; return whether no response is expected any more.

        Raises:
            MalformedResponseError: the connection is of no use any more.
        """
        rest = self._buffer[self._at :]
        self._buffer, self._at = rest + chunk if rest else chunk, 0
        while self._reply is not None and self._state():
            pass
        if self._reply is not None:
            return False
        if self._at < len(self._buffer):
            raise MalformedResponseError("more came than was asked for")
        return True

    def ended(self) -> bool:
        """Note the end of the connection; return whether no response is cut off by it."""
        return self._reply is None or self._state == self._read_to_end

    def stop(self) -> None:
        """Tell nothing any more."""
        self._reply = None
        self._buffer, self._at = b"", 0
        self.reusable = False

    def _read_head(self) -> bool:
        head = self._until(b"\r\n\r\n", _HEAD_LIMIT, "headers")
        if head is None:
            return False
        first, *lines = head.split(b"\r\n")
        found = _STATUS.fullmatch(first)
        if found is None:
            raise MalformedResponseError("it does not begin as HTTP/1.1 does")
        status = int(found[2])
        headers = _fields(lines)
        if status < 200:
            if status == 101:
                raise MalformedResponseError("it switches to a protocol that was not asked for")
            return True
        self._frame(status, headers, old=found[1] == b"0")
        reply = self._reply
        assert reply is not None
        reply.head(status, headers)
        return True

    def _frame(self, status: int, headers: Headers, *, old: bool) -> None:
        """Find out where the body ends."""
        tokens = headers.get("connection", "").lower().replace(" ", "").split(",")
        self.reusable = "close" not in tokens and not (old and "keep-alive" not in tokens)
        coding, length = headers.get("transfer-encoding"), headers.get("content-length")
        if status in (204, 304):
            self._left, self._state = 0, self._read_counted
        elif coding is not None:
            if coding.lower() != "chunked" or length is not None or old:
                raise MalformedResponseError("the end of its body could be in two places")
            self._state = self._read_size
        elif length is not None:
            if not (length.isascii() and length.isdigit() and len(length) <= 15):
                raise MalformedResponseError("its length is not a number")
            self._left, self._state = int(length), self._read_counted
        else:
            self.reusable = False
            self._state = self._read_to_end

    def _read_counted(self) -> bool:
        self._pass_on()
        if self._left:
            return False
        self._reply = None
        return True

    def _read_to_end(self) -> bool:
        self._left = len(self._buffer) - self._at
        self._pass_on()
        return False

    def _read_size(self) -> bool:
        line = self._line()
        if line is None:
            return False
        found = _SIZE.fullmatch(line)
        if found is None:
            raise MalformedResponseError("the size of a chunk is not a number")
        self._left = int(found[1], 16)
        self._state = self._read_chunk if self._left else self._read_trailer
        return True

    def _read_chunk(self) -> bool:
        self._pass_on()
        if self._left or len(self._buffer) < self._at + 2:
            return False
        if not self._buffer.startswith(b"\r\n", self._at):
            raise MalformedResponseError("a chunk is longer than its size says")
        self._at += 2
        self._state = self._read_size
        return True

    def _read_trailer(self) -> bool:
        line = self._line()
        if line is None:
            return False
        if not line:
            self._reply = None
        return True

    def _line(self) -> bytes | None:
        return self._until(b"\r\n", _LINE_LIMIT, "a line")

    def _until(self, mark: bytes, limit: int, what: str) -> bytes | None:
        """Return what stands before `mark`, None if that has not come yet."""
        at = self._at
        end = self._buffer.find(mark, at, at + limit + len(mark))
        if end < 0:
            if len(self._buffer) - at > limit:
                raise MalformedResponseError(f"{what} of more than {limit} bytes")
            return None
        self._at = end + len(mark)
        return self._buffer[at:end]

    def _pass_on(self) -> None:
        chunk = self._buffer[self._at : self._at + self._left]
        if not chunk:
            return
        self._at += len(chunk)
        self._left -= len(chunk)
        if self._reply is not None:
            self._reply.body(chunk)


def media_type(headers: Headers) -> str:
    """Return the media type of a body, in lower case and without parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _fields(lines: list[bytes]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        match = _FIELD.fullmatch(line)
        if match is None:
            raise MalformedResponseError("a header line is malformed")
        name = match[1].decode("ascii").lower()
        value = match[2].decode("latin-1").rstrip(" \t")
        if name in found:
            if name in _ONCE and found[name] != value:
                raise MalformedResponseError(f"two values of {name}")
            value = found[name] if name in _ONCE else f"{found[name]}, {value}"
        found[name] = value
    return found


_ONCE = {"content-length", "transfer-encoding", "content-type"}
