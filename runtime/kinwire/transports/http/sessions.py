"""The sessions of one listener: who may use which, how many there are, and when they end."""

from __future__ import annotations

__all__ = ("Serve", "Sessions")

import logging
import secrets
import time
from asyncio import AbstractEventLoop, Task
from collections.abc import Awaitable, Callable
from contextvars import Context
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import anyio

from kinwire.rpc.errors import ConnectionClosedError
from kinwire.support.background import running_loop
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.http.session import IDLE, HttpServerSession

if TYPE_CHECKING:
    from kinwire.transports.websocket.asgi import AsgiWebSocket

logger = logging.getLogger("kinwire.transports")

Serve = Callable[[HttpServerSession], Awaitable[None]]
"""Serves a session until it ends, as `Server.serve` does."""

_OFTEN = 0.5  # seconds between two looks at the time, at most


class Sessions:
    """What is open on one event loop. Nothing runs while there is no session."""

    def __init__(self, serve: Serve, limits: HttpLimits) -> None:
        self._serve = serve
        self.limits = limits
        self.loop = running_loop()
        self._open: dict[str, HttpServerSession] = {}
        self._served: set[HttpServerSession] = set()  # also those that are about to end
        self._tasks: set[Task[None]] = set()
        self._ticking = False
        self._stopping = False
        self.sockets: set[AsgiWebSocket] = set()
        """WebSockets: each is a session, too."""
        self.readers: dict[Task[Any], float] = {}
        """Tasks that read a body, and since when. One that is late is taken out and cancelled."""
        waits = (limits.idle, limits.patience, limits.keep_alive, limits.body_time)
        self._often = min(_OFTEN, min(waits) / 2)

    def get(self, id: str) -> HttpServerSession | None:
        """Return the session of that id."""
        return self._open.get(id)

    @property
    def full(self) -> bool:
        """Return whether no session can begin at the moment."""
        return self._stopping or len(self._open) + len(self.sockets) >= self.limits.sessions

    async def begin(self, principal: object, *, handshake: bool = True) -> HttpServerSession | None:
        """Return a new session, one that goes without a handshake if so; None if it cannot be."""
        if self.full:
            return None
        id = secrets.token_urlsafe(32)
        session = HttpServerSession(id, principal, self.limits, handshake=handshake)
        self._open[session.id] = session
        self._served.add(session)
        self._spawn(self._run, session)
        self._tick_on()
        await session.ready.wait()
        return None if session.has_ended else session

    def watch_reading(self, task: Task[Any]) -> None:
        """Have a task cancelled if it is among `readers` for too long."""
        self.readers[task] = time.monotonic()
        if not self._ticking:
            self._tick_on()

    def end(self, session: HttpServerSession, why: ConnectionClosedError) -> None:
        """Forget a session, and have it end."""
        self._open.pop(session.id, None)
        session.close(why)

    def stop(self, why: ConnectionClosedError) -> None:
        """Begin no more sessions, and have those end that there are."""
        self._stopping = True
        for session in list(self._open.values()):
            session.close(why)
        for socket in list(self.sockets):
            socket.close(why)

    async def close(self, why: ConnectionClosedError) -> None:
        """End all, and return when they have ended."""
        self.stop(why)
        ends = [session.over for session in self._served]
        ends += [socket.over for socket in self.sockets]
        for over in ends:
            await over.wait()

    def _spawn(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Run `function` in a task and context of its own."""
        if self.loop is None:
            import trio  # it is what runs

            trio.lowlevel.spawn_system_task(function, *arguments)
            return
        task: Task[None] = Task(function(*arguments), loop=self.loop, context=Context())
        self._tasks.add(task)  # the loop itself keeps none alive
        task.add_done_callback(self._tasks.discard)

    async def _run(self, session: HttpServerSession) -> None:
        try:
            await self._serve(session)
        except Exception:
            logger.exception("a session has failed")
        finally:
            self._open.pop(session.id, None)
            self._served.discard(session)
            session.ready.set()
            session.over.set()

    # The time.

    def _tick_on(self) -> None:
        if self._ticking:
            return
        self._ticking = True
        if self.loop is None:
            self._spawn(self._tick_in_task)
        else:
            self.loop.call_later(self._often, self._tick_by_timer, self.loop)

    def _tick_by_timer(self, loop: AbstractEventLoop) -> None:
        self._tick()
        self._ticking = bool(self._open or self.readers)
        if self._ticking:
            loop.call_later(self._often, self._tick_by_timer, loop)

    async def _tick_in_task(self) -> None:
        try:
            while self._open:
                await anyio.sleep(self._often)
                self._tick()
        finally:
            self._ticking = False

    def _tick(self) -> None:
        now = time.monotonic()
        for task, since in list(self.readers.items()):
            if now - since >= self.limits.body_time:
                del self.readers[task]
                task.cancel()
        for session in list(self._open.values()):
            session.tick(now)
            if session.is_idle(now):
                self.end(session, IDLE)
        self._forget_events()

    def _forget_events(self) -> None:
        """Keep no more events in all than may be: who has been away for longest loses theirs."""
        excess = sum(one.events.size for one in self._open.values()) - self.limits.all_event_bytes
        if excess <= 0:
            return
        for session in sorted(self._open.values(), key=attrgetter("used_at")):
            excess -= session.events.size
            session.events.clear()
            if excess <= 0:
                return
