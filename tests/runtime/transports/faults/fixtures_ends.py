"""Ends under test, a server or a host on any transport, each with a peer of bytes."""

from __future__ import annotations

__all__ = (
    "CARRYING_BYTES",
    "PLACES",
    "Client",
    "Place",
    "Session",
    "answer",
    "answers",
    "client_under_test",
    "server_under_test",
)

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
from typing import Any, NamedTuple

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from kinwire import Host, Limits, serve_websocket
from kinwire.mcp.connection import Connection
from kinwire_protocols import mcp
from tests.runtime.programs import held
from tests.runtime.transports.fake_clients import (
    INITIALIZE,
    MARK,
    RawClient,
    message,
    until_the_mark,
)
from tests.runtime.transports.faults.fake_clients import RAW_CLIENTS
from tests.runtime.transports.faults.fake_server import RawServer
from tests.runtime.transports.faults.fake_servers import RAW_SERVERS
from tests.runtime.transports.faults.table import CLIENT, SERVER, TRANSPORTS
from tests.runtime.transports.fixtures_serving import served


class Place(NamedTuple):
    """Which end is under test, and what it runs on."""

    end: str
    transport: str
    backend: str

    def __str__(self) -> str:
        return "-".join(self)


PLACES = [
    Place(end, transport, backend)
    for end in (CLIENT, SERVER)
    for transport in TRANSPORTS
    for backend in ("asyncio", "trio")
    # uvicorn runs on asyncio; `http/test_under_servers.py` has trio.
    if (end, backend) != (SERVER, "trio") or transport not in ("http", "sse")
]

CARRYING_BYTES = [one for one in PLACES if one.transport != "ws"]
"""Where bytes that are not UTF-8 come through; at a WebSocket they end the connection with 1007."""


@contextmanager
def server_under_test(
    transport: str, backend: str = "asyncio", *, initialize: bytes = INITIALIZE, **options: Any
) -> Iterator[RawClient]:
    """Yield a client of bytes of `programs/held.py`; `options` are those of `Server.asgi`.

    WebSocket is served with HTTP on asyncio, and on a port of its own on trio.
    """
    opened = RAW_CLIENTS[transport]
    if transport == "stdio":
        with opened(backend, initialize) as client:
            yield client
    elif transport == "memory":
        with start_blocking_portal(backend) as portal:
            with opened(portal, held.server, initialize) as client:
                yield client
            portal.call(portal.stop, True)
    elif backend == "trio":
        with start_blocking_portal(backend) as portal:
            serving, port = portal.start_task(serve_websocket, held.server.serve)
            with opened(port, initialize) as client:
                yield client
            serving.cancel()
    else:
        with served(held.server, **options) as one, opened(one.port, initialize) as client:
            yield client


class Client(NamedTuple):
    """A host's connection, in a thread of its own, and its server of bytes."""

    server: RawServer
    connection: Connection
    portal: BlockingPortal

    def call(self, name: str = "x", **params: Any) -> Future[Any]:
        """Call a method, and return what will be its result."""
        return self.portal.start_task_soon(self.connection.session.raw, name, params)

    def lives(self) -> bool:
        """Whether calls are still answered."""
        answer = self.call("ping")
        self.server.answer(self.server.asked("ping"), {"lives": True})
        return bool(answer.result(20) == {"lives": True})


Session = RawClient | Client
"""An end under test, as its peer has it."""


@contextmanager
def client_under_test(
    transport: str, backend: str = "asyncio", *, limits: Limits | None = None
) -> Iterator[Client]:
    """Yield a host that has connected; it answers `sampling/createMessage` as `_write` says."""
    with start_blocking_portal(backend) as portal:
        server = RAW_SERVERS[transport](portal)
        host = Host("victim", "1", limits=limits or Limits())
        host.on.sampling_create_message(_write)
        greeting = Thread(target=server.greet)
        greeting.start()
        try:
            with portal.wrap_async_context_manager(host):
                connection = portal.call(host.connect, server.target)
                greeting.join()
                yield Client(server, connection, portal)
                server.close()
        finally:
            portal.call(portal.stop, True)


def answer(session: Session, frame: bytes) -> Any:
    """Return what the end under test says to a frame; it says nothing more, and lives."""
    if isinstance(session, RawClient):
        found = session.answer(frame)
    else:
        session.server.send(frame)
        found = session.server.next()
    assert answers(session, message("x/said")) == []
    return found


def answers(session: Session, frame: bytes) -> list[Any]:
    """Return what comes before the answer to a ping behind the frame: none of a handler's."""
    if isinstance(session, RawClient):
        return session.ask(frame)
    session.server.send(frame)
    session.server.send(message("ping", MARK))
    return list(until_the_mark(session.server.next))


async def _write(params: mcp.CreateMessageRequestParams) -> Any:
    """Do what the first message says: hold, mar, or copy it."""
    said = params.messages[0].content
    text = said.text if isinstance(said, mcp.TextContent) else ""
    if text == "hold":
        await anyio.sleep_forever()
    content = {"type": "text", "text": text}
    result: dict[str, Any] = {"role": "assistant", "model": "m", "content": content}
    if text in held.MARRED:
        result["_meta"] = {"marred": held.MARRED[text]}
    return result
