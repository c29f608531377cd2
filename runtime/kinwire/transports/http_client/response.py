"""Reads the responses on one connection: bytes to status, headers and body (RFC 9112).

The library `httptools` (extra `http`) parses them, and strictly: what could be read in two ways is
refused, and with it the connection. A head that it refuses is written in its usual form and
parsed once more: some servers fold header lines, end lines without CR or repeat their length.
"""

from __future__ import annotations

__all__ = (
    "Headers",
    "MalformedResponseError",
    "ResponseReader",
    "ResponseReceiver",
    "media_type",
    "need_parser",
)

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from httptools import HttpResponseParser

Headers = Mapping[str, str]
"""Names in lower case; several of one name are joined by a comma, `set-cookie` by a line end."""

_LIMIT = 64 * 1024  # bytes of a head, and of all that brings nothing of a body
_MOST_HEADERS = 1000
_STATUS_LINE = re.compile(rb"[\r\n]*HTTP/1\.[01] [0-9]")
_HEAD_END = re.compile(rb"\n\r?\n")
_SURPLUS = "more came than was asked for"


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


def need_parser() -> None:
    """Return if responses can be read.

    Raises:
        ImportError: the extra `http` is not installed.
    """
    try:
        import httptools as _  # noqa: F401
    except ImportError:
        raise ModuleNotFoundError(
            "HTTP needs the library `httptools`, and so does a proxy. Install kinwire[http].",
            name="httptools",
        ) from None


class ResponseReader:
    """One response after the other; `expect` begins each. Its `on_...` are for the parser."""

    def __init__(self) -> None:
        self._reply: ResponseReceiver | None = None
        self._parser: HttpResponseParser | None = None
        self._bodiless = False
        self._in_body = False
        self._to_end = False  # whether the end of the connection is that of the body
        self._stopped = False
        self._rewriting = False
        self._begun = b""  # the head, as far as it has come
        self._quiet = 0  # bytes since something was reported
        self._headers: dict[str, str] = {}
        self._count = self._size = 0  # of the headers
        self.reusable = True
        """Whether another request may follow on the connection."""

    def expect(self, reply: ResponseReceiver, *, bodiless: bool = False) -> None:
        """Pass head and body of the next response to `reply`; one to HEAD is `bodiless`."""
        self._reply = reply
        self._bodiless = bodiless
        self._in_body = self._to_end = self._rewriting = False
        self._begun = b""
        self._quiet = 0
        self._clear()

    def feed(self, chunk: bytes) -> bool:
        """Tell what `chunk` brings; return whether no response is expected any more.

        Raises:
            MalformedResponseError: the connection is of no use any more.
        """
        if self._stopped:
            return True
        if self._reply is None:
            raise MalformedResponseError(_SURPLUS)
        self._quiet += len(chunk)
        if not self._in_body:
            self._begun += chunk
        if self._rewriting and not self._in_body:
            self._parse_rewritten()
        else:
            self._parse(chunk)
        if self._quiet > _LIMIT and not self._stopped:
            raise MalformedResponseError(self._too_long())
        return not self._waits()

    def _waits(self) -> bool:
        return self._reply is not None

    def ended(self) -> bool:
        """Note the end of the connection; return whether no response is cut off by it."""
        return self._reply is None or self._to_end

    def stop(self) -> None:
        """Tell nothing any more."""
        self._stopped = True
        self._reply = self._parser = None
        self._begun = b""
        self.reusable = False

    def on_message_begin(self) -> None:
        """See `httptools.HTTPProtocol`."""
        if self._reply is None and not self._stopped:
            raise MalformedResponseError(_SURPLUS)

    def on_header(self, name: bytes, value: bytes | None) -> None:
        """See `httptools.HTTPProtocol`; after the body come trailers, which are not headers."""
        value = value or b""
        self._count += 1
        self._size += len(name) + len(value)
        if self._count > _MOST_HEADERS:
            raise MalformedResponseError(f"more than {_MOST_HEADERS} headers")
        if self._size > _LIMIT:
            raise MalformedResponseError(self._too_long())
        if not self._in_body:
            key = name.decode("ascii").lower()
            text = value.decode("latin-1").rstrip(" \t")
            known = self._headers.get(key)
            self._headers[key] = text if known is None else _joined(key, known, text)

    def on_headers_complete(self) -> None:
        """See `httptools.HTTPProtocol`."""
        parser = self._parser
        if parser is None:
            return
        status, headers = parser.get_status_code(), self._headers
        if status < 200:
            if not status >= 100 or status == 101:
                raise MalformedResponseError("it switches to a protocol that was not asked for")
            return
        version = parser.get_http_version()
        self._frame(status, headers, version)
        self.reusable = not self._to_end and parser.should_keep_alive()
        self._in_body = True
        self._begun = b""
        self._quiet = self._count = self._size = 0
        reply = self._reply
        if reply is not None:
            reply.head(status, headers)
        if self._bodiless and not self._stopped:
            self._reply, self.reusable = None, False  # the parser waits for a body

    def on_body(self, chunk: bytes) -> None:
        """See `httptools.HTTPProtocol`."""
        self._quiet = 0
        if self._reply is not None:
            self._reply.body(chunk)

    def on_message_complete(self) -> None:
        """See `httptools.HTTPProtocol`."""
        self._clear()
        if self._in_body:
            self._reply = None
            self._quiet = 0

    def _frame(self, status: int, headers: Headers, version: str) -> None:
        """Find out where the body ends."""
        coding = headers.get("transfer-encoding")
        if version not in ("1.0", "1.1"):
            raise MalformedResponseError("it does not begin as HTTP/1.1 does")
        length = headers.get("content-length")
        if coding is not None and (coding.lower() != "chunked" or version == "1.0" or length):
            raise MalformedResponseError("the end of its body could be in two places")
        counted = coding is not None or length is not None
        self._to_end = not (counted or status in (204, 304) or self._bodiless)

    def _parse(self, data: bytes) -> None:
        parser = self._parser or self._new_parser()
        error = _error_of(parser, data)
        if error is not None and not self._stopped and not (self._bodiless and self._in_body):
            self._refused(error)

    def _refused(self, error: Exception) -> None:
        """Parse the head once more if that may help."""
        if self._reply is None:
            raise MalformedResponseError(_SURPLUS)
        if self._in_body:
            raise MalformedResponseError(f"its body is malformed: {error}")
        if not _STATUS_LINE.match(self._begun):  # the parser may know the status of the last one
            raise MalformedResponseError("it does not begin as HTTP/1.1 does")
        if self._rewriting:
            raise MalformedResponseError(f"its head is malformed: {error}")
        self._rewriting = True
        self._parse_rewritten()

    def _parse_rewritten(self) -> None:
        """Parse what has come, with heads in their usual form."""
        while self._reply is not None and not self._in_body:
            found = _HEAD_END.search(self._begun)
            if found is None:
                return
            head, rest = self._begun[: found.end()], self._begun[found.end() :]
            self._new_parser()
            self._parse(_rewritten(head))
            self._begun = b"" if self._in_body else rest
            if self._in_body and rest:
                self._quiet += len(rest)
                self._parse(rest)

    def _new_parser(self) -> HttpResponseParser:
        from httptools import HttpResponseParser

        self._clear()
        self._parser = parser = HttpResponseParser(self)
        parser.set_dangerous_leniencies(
            lenient_spaces_after_chunk_size=True,
            lenient_chunked_length=True,  # in trailers; `_frame` looks at headers
        )
        return parser

    def _clear(self) -> None:
        self._headers = {}
        self._count = self._size = 0

    def _too_long(self) -> str:
        what = "a line" if self._in_body else "headers"
        return f"{what} of more than {_LIMIT} bytes"


def _error_of(parser: HttpResponseParser, data: bytes) -> Exception | None:
    """Have `data` parsed; return why it cannot be.

    Nothing is parsed once more while this error is handled: it would hide what a callback raises.

    Raises:
        MalformedResponseError: a callback has raised it.
    """
    try:
        parser.feed_data(data)
    except Exception as error:
        if isinstance(error.__context__, MalformedResponseError):  # in an HttpParserCallbackError
            raise error.__context__ from None
        return error
    return None


def media_type(headers: Headers) -> str:
    """Return the media type of a body, in lower case and without parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _joined(name: str, first: str, second: str) -> str:
    """Return the value of a header that comes twice."""
    if name == "content-type":
        if media_type({name: first}) != media_type({name: second}):
            raise MalformedResponseError(f"two values of {name}")
        return first
    return f"{first}\n{second}" if name == "set-cookie" else f"{first}, {second}"


def _rewritten(head: bytes) -> bytes:
    """Return a head with whole lines that end with CR LF, and its length once."""
    lines: list[bytes] = []
    for line in head.split(b"\n"):
        line = line.removesuffix(b"\r")
        if line[:1] in (b" ", b"\t") and len(lines) > 1:
            lines[-1] = lines[-1].rstrip(b" \t") + b" " + line.strip(b" \t")
        else:
            lines.append(line)
    lengths = {length for line in lines for length in _lengths(line)}
    if len(lengths) == 1:
        others = [line for line in lines[:-2] if not _lengths(line)]
        lines = [*others, b"Content-Length: " + lengths.pop(), b"", b""]
    return b"\r\n".join(lines)


def _lengths(line: bytes) -> list[bytes]:
    name, _, value = line.partition(b":")
    if name.lower() != b"content-length":
        return []
    return [length.strip(b" \t") for length in value.split(b",")]
