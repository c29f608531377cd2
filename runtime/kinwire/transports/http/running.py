"""Running an application under uvicorn, from the bind to the last answer."""

from __future__ import annotations

__all__ = ("bound", "host_and_port", "run_on", "serve_on")

import asyncio
import signal
import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import ceil
from types import FrameType
from typing import Protocol

import anyio
import uvicorn

from kinwire.support.background import background
from kinwire.support.signals import end_signals
from kinwire.support.watchdog import Grace, Watchdog, exit_despite_threads
from kinwire.transports.http.connections import (
    BoundedProtocol,
    ConnectionWatch,
    LeavingProtocol,
)
from kinwire.transports.http.replies import Receive, Scope, Send
from kinwire.transports.http.sockets import BoundedSocket

_TICKS = 10  # of a tenth of a second each, between two looks at the connections
_LAST_ANSWERS = 5  # seconds for clients to read their answers, once handlers have ended
_LAST_STEPS = 0.5  # seconds for the event loop to end, with what handlers have left running
_A_LOOK = 0.05  # seconds between two looks at what is still open
_LAST_PORT = 65535
_SKIPPED = 4  # times the largest frame: uvicorn holds whole messages of WebSocket to skip them


class StoppableApp(Protocol):
    """An ASGI application whose sessions can be ended from outside."""

    frame_size: int
    """The largest message that it reads, in bytes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to one request, or serve one WebSocket."""

    def stop(self) -> None:
        """Begin no more sessions, and ask those that are open to end. Return immediately."""

    @property
    def has_sockets(self) -> bool:
        """Whether a WebSocket is open."""
        ...

    @property
    def closing_cancels(self) -> bool:
        """Whether a client cancels its request when it closes its side of the connection."""
        ...

    @property
    def abandoned(self) -> int:
        """How many requests have handlers that go on after their cancellation."""
        ...


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        OSError: nobody can listen there.
        OverflowError: no port has that number.
    """
    if not 0 <= port <= _LAST_PORT:  # `create_server` would leave its socket open
        raise OverflowError(f"expected a number from 0 to {_LAST_PORT}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=2048)


def host_and_port(listener: socket.socket) -> str:
    """Return where `listener` listens, as it stands in a URL."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def run_on(
    app: StoppableApp,
    listener: socket.socket,
    *,
    certfile: str | None = None,
    keyfile: str | None = None,
    started: Callable[[], object] = lambda: None,
    grace: Grace = Grace(),  # noqa: B008 - a tuple
) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP, and return when every answer under way is out.

    A second signal ends it immediately. `started` is called once signals are handled. The process
    exits with 0 if handlers would keep it alive for longer than `grace`.
    """
    config = _config(app, grace, certfile, keyfile)
    with Watchdog(grace) as watchdog:
        _Program(config, app, started, watchdog).run([listener])
    exit_despite_threads(0)


async def serve_on(
    app: StoppableApp,
    listener: socket.socket,
    stop: anyio.Event,
    *,
    started: Callable[[], object] = lambda: None,
    grace: Grace = Grace(),  # noqa: B008 - a tuple
) -> None:
    """Serve in an event loop of asyncio until `stop` is set, and leave signals to the program.

    It returns when every answer under way is out; to cancel it ends it immediately. `started` is
    called once connections are accepted.
    """
    server = _GuestServer(_config(app, grace), app, started)
    async with background() as tasks:
        tasks.start_soon(server.end_at, stop)
        await server.serve([listener])
        tasks.cancel_scope.cancel()


def _config(
    app: StoppableApp, grace: Grace, certfile: str | None = None, keyfile: str | None = None
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=LeavingProtocol if app.closing_cancels else BoundedProtocol,
        ws=BoundedSocket,
        log_level="warning",
        access_log=False,  # an address of HTTP+SSE names its session
        server_header=False,
        ws_max_size=_SKIPPED * app.frame_size,
        timeout_graceful_shutdown=ceil(grace.seconds + _LAST_ANSWERS),
        ssl_certfile=certfile,
        ssl_keyfile=keyfile,
    )


class _Server(uvicorn.Server):
    """Ends the sessions before it waits for their connections: a stream has no end of its own.

    Connections that stand still do not outlast `connections.py`'s bounds.
    """

    def __init__(
        self, config: uvicorn.Config, app: StoppableApp, started: Callable[[], object]
    ) -> None:
        super().__init__(config)
        self._app = app
        self._tell = started
        self._watch = ConnectionWatch()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._tell()

    async def on_tick(self, counter: int) -> bool:
        if counter % _TICKS == 0:
            self._watch.tick(self.server_state.connections, time.monotonic())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.stop()
        for server in self.servers:
            server.close()
        await self._sockets_done()
        await super().shutdown(sockets)

    async def _wait_tasks_to_complete(self) -> None:
        # The base would wait for handlers that never end until its own timeout.
        waiting = asyncio.ensure_future(super()._wait_tasks_to_complete())
        try:
            while not (waiting.done() or self._only_abandoned()):
                await asyncio.wait([waiting], timeout=_A_LOOK)
        finally:
            waiting.cancel()

    def _only_abandoned(self) -> bool:
        return 0 < len(self.server_state.connections) <= self._app.abandoned

    async def _sockets_done(self) -> None:
        """Let calls over WebSockets finish: the base closes these whatever they still do."""
        until = time.monotonic() + (self.config.timeout_graceful_shutdown or 0)
        while self._app.has_sockets and time.monotonic() < until:
            if self.force_exit:  # nothing reports when it is set
                return
            await asyncio.sleep(_A_LOOK)


class _Program(_Server):
    """Runs as the program itself: takes signals, and is watched."""

    def __init__(
        self,
        config: uvicorn.Config,
        app: StoppableApp,
        started: Callable[[], object],
        watchdog: Watchdog,
    ) -> None:
        super().__init__(config, app, started)
        self._watchdog = watchdog

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._watchdog.watch_loop()
        await super().startup(sockets)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        self._watchdog.over(_LAST_STEPS)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        # The base raises the signals again at the end, which a normal stop must not, and it does
        # not know SIGHUP.
        taken = end_signals()
        if taken or threading.current_thread() is threading.main_thread():
            taken[signal.SIGINT] = signal.getsignal(signal.SIGINT)
        for number in taken:
            signal.signal(number, self.handle_exit)
        try:
            yield
        finally:
            for number, was in taken.items():
                signal.signal(number, was)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self.force_exit = True
            self._watchdog.over(_LAST_STEPS)
        self.should_exit = True
        self._watchdog.heed()


class _GuestServer(_Server):
    """Runs in the event loop of a program that takes the signals itself."""

    def capture_signals(self) -> AbstractContextManager[None]:  # type: ignore[override]
        return nullcontext()

    async def end_at(self, stop: anyio.Event) -> None:
        """End the server once `stop` is set."""
        await stop.wait()
        self.should_exit = True
