"""A server of ours as `run` serves it, on a loop in a thread, and raw requests to it."""

from __future__ import annotations

__all__ = ("bounded", "post", "replies")

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import parse_headers
from typing import NamedTuple

import anyio
from anyio.from_thread import start_blocking_portal

from kinwire import Server
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.http.running import bound, serve_on

_PATIENCE = 10.0  # seconds


@contextmanager
def bounded(server: Server, limits: HttpLimits | None = None) -> Iterator[int]:
    """Yield the port of a server; it has ended well when the block is left."""
    app, stop = server.asgi(limits=limits), anyio.Event()
    with bound("127.0.0.1", 0) as listener, start_blocking_portal("asyncio") as portal:
        serving = portal.start_task_soon(serve_on, app, listener, stop)
        yield listener.getsockname()[1]
        portal.call(stop.set)
        serving.result(_PATIENCE)


class Reply(NamedTuple):
    """A response."""

    status: int
    body: bytes


def post(body: bytes, *headers: str, path: str = "/mcp") -> bytes:
    """Return a request whose body has the length that is said, unless a header says another."""
    fields = ["Host: localhost", "Content-Type: application/json", "Accept: application/json"]
    if not any(header.lower().startswith(("content-length", "transfer")) for header in headers):
        fields.append(f"Content-Length: {len(body)}")
    head = "\r\n".join([f"POST {path} HTTP/1.1", *fields, *headers, "", ""])
    return head.encode() + body


def replies(port: int, data: bytes, count: int = 1, *, half_close: bool = False) -> list[Reply]:
    """Return the responses to bytes on one connection; fewer if it is closed before."""
    found: list[Reply] = []
    with socket.create_connection(("127.0.0.1", port), _PATIENCE) as connection:
        connection.sendall(data)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as file:
            while len(found) < count and (status := file.readline()):
                fields = parse_headers(file)
                body = file.read(int(fields["Content-Length"]))
                found.append(Reply(int(status.split()[1]), body))
    return found
