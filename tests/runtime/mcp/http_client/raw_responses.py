"""Responses in bytes, as HTTP servers, proxies and balancers write them."""

from __future__ import annotations

__all__ = (
    "CHUNKED",
    "JSON",
    "LENGTH",
    "OK",
    "Row",
    "after",
    "bare_lf",
    "chunked",
    "closes",
    "deflated",
    "if_sent",
    "moved",
    "on_a_kept_connection",
    "plays",
    "refuses",
    "resets",
    "unless_sent",
    "whole",
)

import json
import zlib
from collections.abc import Callable
from typing import NamedTuple

import anyio

from tests.runtime.mcp.http_client.fake_server import Asked, Handler, Line, reply_to

JSON = "Content-Type: application/json"
LENGTH = "Content-Length: <length>"
CHUNKED = "Transfer-Encoding: chunked"
OK = "HTTP/1.1 200 OK"

Coding = Callable[[bytes], bytes]


class Row(NamedTuple):
    """A response to `method`, and what comes of it; `outcomes.py` says in which words."""

    what: str
    """The response, as the guide names it."""
    handler: Handler
    """Writes it."""
    ours: str
    """The outcome with this library."""
    other: str = ""
    """The outcome with `httpx2`, if it differs."""
    reason: str = ""
    """Why it differs."""
    method: str = "tools/call"
    cookies: tuple[str, ...] = ()
    """Set by the response to `initialize`."""
    pause: float = 0.0
    """Seconds between this call and the next."""
    size: int = 0
    """Bytes that the request has at least."""
    early: bool = False
    """Whether the response is written before the body of the request is read."""
    late: str = ""
    """Another outcome with `httpx2`, if the end of the connection arrives before the response."""


def plays(*lines: str, coded: Coding = bytes, close: bool = False) -> Handler:
    """Return a handler that writes lines, and closes the connection then if `close` is true.

    `<length>`, `<size>` and `<body>` stand for the body's length, decimal and hexadecimal, and for
    the body, which `coded` has made of JSON.
    """

    async def handle(asked: Asked, line: Line) -> None:
        body = coded(json.dumps(reply_to(asked)).encode())
        text = "\r\n".join(lines).encode("latin-1")
        text = text.replace(b"<length>", str(len(body)).encode())
        text = text.replace(b"<size>", f"{len(body):x}".encode())
        await line.raw(text.replace(b"<body>", body))
        if close:
            await line.close()

    return handle


def whole(*fields: str, first: str = OK, coded: Coding = bytes) -> Handler:
    """Return a handler that writes a response with a length and these header lines as well."""
    return plays(first, JSON, LENGTH, *fields, "", "<body>", coded=coded)


def chunked(
    *fields: str,
    size: str = "<size>",
    last: tuple[str, ...] = ("0", ""),
    coding: str = CHUNKED,
    coded: Coding = bytes,
    close: bool = False,
) -> Handler:
    """Return a handler that writes a response of one chunk, then the lines `last`."""
    lines = (OK, JSON, coding, *fields, "", size, "<body>", *last, "")
    return plays(*lines, coded=coded, close=close)


def bare_lf(*lines: str, close: bool = False) -> Handler:
    """Return a handler like `plays` whose lines end with LF alone."""
    return plays("\n".join(lines), close=close)


def refuses(*, close: bool) -> Handler:
    """Return a handler that answers 413, and closes without reading on if `close` is true."""

    async def handle(asked: Asked, line: Line) -> None:
        await line.status(413)
        if close:
            await line.close()

    return handle


def deflated(data: bytes) -> bytes:
    """Return `data` compressed without the header of zlib, as some servers send "deflate"."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def if_sent(name: str, value: str = "") -> Handler:
    """Return a handler that answers 400 to a request without that header."""
    good = whole()

    async def handle(asked: Asked, line: Line) -> None:
        sent = value in asked.headers.get(name, value + "?") and name in asked.headers
        await (good(asked, line) if sent else line.status(400))

    return handle


def unless_sent(name: str) -> Handler:
    """Return a handler that answers 400 to a request with that header."""
    good = whole()

    async def handle(asked: Asked, line: Line) -> None:
        await (line.status(400) if name in asked.headers else good(asked, line))

    return handle


def moved(status: int, to: str) -> Handler:
    """Return a handler that redirects; `<port>` in `to` stands for the server's port."""
    good = whole()

    async def handle(asked: Asked, line: Line) -> None:
        host, _, port = asked.headers["host"].partition(":")
        if asked.target == "/mcp" and host == "127.0.0.1":
            await line.status(status, location=to.replace("<port>", port))
        else:
            await good(asked, line)

    return handle


async def closes(asked: Asked, line: Line) -> None:
    """Close the connection."""
    await line.close()


async def resets(asked: Asked, line: Line) -> None:
    """Reset the connection."""
    await line.reset()


def on_a_kept_connection(ending: Handler) -> Handler:
    """Return a handler that answers the first request on a connection; `ending` gets the second."""
    good = whole()

    async def handle(asked: Asked, line: Line) -> None:
        await (ending if asked.earlier else good)(asked, line)

    return handle


def after(seconds: float, ending: Handler) -> Handler:
    """Return a handler that answers, and calls `ending` that many seconds later."""
    good = whole()

    async def handle(asked: Asked, line: Line) -> None:
        await good(asked, line)
        await anyio.sleep(seconds)
        await ending(asked, line)

    return handle
