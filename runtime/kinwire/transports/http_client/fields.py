"""The beginning of a request: its line and its headers, checked once and kept as bytes."""

from __future__ import annotations

__all__ = ("USER_AGENT", "RequestHead", "checked_headers", "with_user_agent")

import re
import sys
from collections.abc import Collection, Iterable, Mapping

from kinwire.support.version import __version__
from kinwire.transports.http_client.address import ServerAddress

Fields = tuple[tuple[str, str], ...]

USER_AGENT = f"kinwire/{__version__} python/{'.'.join(map(str, sys.version_info[:3]))}"
"""Sent with every request that has no `User-Agent` of the user's: some servers want one."""

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?|")
_OURS = {
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}
_BODILESS = {"DELETE", "GET", "HEAD", "OPTIONS", "TRACE"}
_IDEMPOTENT = {*_BODILESS, "PUT"}
_COUNTED = b"%bContent-Length: %d\r\n\r\n%b"


def checked_headers(headers: Mapping[str, str], reserved: Collection[str] = ()) -> Fields:
    """Return the headers of a user; `reserved` are names that the caller writes itself.

    Raises:
        ValueError: a name is invalid or belongs to this library, or a value would end the line. No
            value is ever shown: it may be a token.
    """
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"headers: expected the name of a header, got {name!r:.60}")
        if name.lower() in _OURS or name.lower() in reserved:
            raise ValueError(f"headers: {name} is written by the transport itself. Leave it out.")
        if not _VALUE.fullmatch(value):
            raise ValueError(
                f"headers: expected a value of one line of Latin-1 for {name}, got one with line "
                "ends, other letters or spaces at its ends. Encode it, or strip it."
            )
    return tuple(headers.items())


def with_user_agent(fields: Iterable[tuple[str, str]]) -> Fields:
    """Return `fields`, with a `User-Agent` if there is not one already."""
    return _with(fields, "User-Agent", USER_AGENT)


class RequestHead:
    """Method, target and headers of requests that differ in their bodies only.

    `User-Agent` and `Accept-Encoding` are added if they are missing. No coding is asked for, in
    words: without the header any coding would be welcome.
    """

    def __init__(
        self, method: str, address: ServerAddress, fields: Iterable[tuple[str, str]]
    ) -> None:
        self.method = method
        self.address = address
        self.origin = address.origin
        self.url = address.url
        self.moved: RequestHead | None = None
        """The same for where the server has redirected it to, if a client has seen that."""
        self.idempotent = method in _IDEMPOTENT
        """Whether a second request does no more than the first (RFC 9110, section 9.2.2)."""
        self._empty = b"\r\n" if method in _BODILESS else b"Content-Length: 0\r\n\r\n"
        self.fields = _with(with_user_agent(fields), "Accept-Encoding", "identity")
        self._cookies = "; ".join(value for name, value in self.fields if _is_cookie(name))
        others = [field for field in self.fields if not _is_cookie(field[0])]
        self._fields = _lines([("Host", address.authority), *others])
        self._bytes = self.written(b"", (), absolute=False).removesuffix(self._empty)

    def __repr__(self) -> str:
        return f"<RequestHead {self.method} {self.address.origin}>"

    def followed_by(self, body: bytes) -> bytes:
        """Return the whole request."""
        if not body:
            return self._bytes + self._empty
        return _COUNTED % (self._bytes, len(body), body)

    def written(self, body: bytes, more: Fields, *, absolute: bool, cookies: str = "") -> bytes:
        """Return the whole request with more headers, and for a proxy with an absolute target.

        `cookies` follow those of the user in one header, because HTTP/1.1 allows only one.
        """
        line = self._line(self.address.url if absolute else self.address.target)
        all_cookies = "; ".join(filter(None, (self._cookies, cookies)))
        last = [("Cookie", all_cookies)] if all_cookies else []
        head = line + self._fields + _lines([*more, *last])
        return _COUNTED % (head, len(body), body) if body else head + self._empty

    def at(self, address: ServerAddress) -> RequestHead:
        """Return the same for another address."""
        return RequestHead(self.method, address, self.fields)

    def _line(self, target: str) -> bytes:
        return f"{self.method} {target} HTTP/1.1\r\n".encode("latin-1")


def _with(fields: Iterable[tuple[str, str]], missing: str, value: str) -> Fields:
    found = tuple(fields)
    if any(name.lower() == missing.lower() for name, _ in found):
        return found
    return (*found, (missing, value))


def _is_cookie(name: str) -> bool:
    return name.lower() == "cookie"


def _lines(fields: Iterable[tuple[str, str]]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in fields).encode("latin-1")
