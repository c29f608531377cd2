"""The sessions of one listener: who may use which, how many there are, and when they end."""

from __future__ import annotations

__all__ = ("Begin", "Serve", "Sessions", "gives_way")

import logging
import os
import time
from base64 import urlsafe_b64encode
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Collection
from contextvars import Context
from functools import partial
from operator import attrgetter

import anyio

from kinwire.mcp.http.session import GAVE_WAY, IDLE, HttpServerSession
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.http.listener import Listener

logger = logging.getLogger("kinwire.transports")

Serve = Callable[[HttpServerSession], Awaitable[None]]
"""Serves a session until it ends, as `Server.serve` does."""

Begin = Callable[[HttpServerSession, Callable[[], None]], None]
"""Serves a session without a task, where asyncio runs; calls the function when it is over."""

_ID_SIZE = 32  # bytes
_LOOK = 0.1  # seconds until sessions that give way are looked for again, if none was found
_LAST_ANSWERS = 5.0  # seconds for what is under way once all sessions are asked to end


def gives_way(sessions: Collection[HttpServerSession], client: object) -> list[HttpServerSession]:
    """Return the sessions that give way to one of `client`, the first one first.

    These are those that were never used, and without any those of the client with the most of them,
    unless this is `client`: its sessions need no other's place.
    """
    unused = [one for one in sessions if not one.used and not one.deliveries]
    if unused:
        return unused
    hog, count = Counter(one.client for one in sessions).most_common(1)[0]
    if hog == client or count == 1:
        return []
    found = [one for one in sessions if one.client == hog and not one.deliveries]
    return sorted(found, key=attrgetter("used_at"))[: count // 2]


class Sessions(Listener):
    """What is open on one event loop. Without `begin` each session is served in a task."""

    def __init__(self, serve: Serve, begin: Begin | None, limits: HttpLimits) -> None:
        super().__init__(limits)
        self._serve = serve
        self._begin = None if self.loop is None else begin
        self._open: dict[str, HttpServerSession] = {}
        self._served: set[HttpServerSession] = set()  # also those that are about to end
        self._none_left: anyio.Event | None = None  # somebody waits for their ends
        self._asked_at: float | None = None  # when they were asked to end
        self._idle: deque[HttpServerSession] = deque()  # those that give way next
        self._look_at = 0.0  # when these are looked for again

    def get(self, id: str) -> HttpServerSession | None:
        """Return the session of that id."""
        return self._open.get(id)

    def count(self) -> int:
        """See `Listener.count`."""
        return len(self._open) + len(self.sockets)

    def count_of(self, client: object) -> int:
        """See `Listener.count_of`."""
        mine = sum(one.client == client for one in self._open.values())
        return mine + super().count_of(client)

    def make_room(self, client: object) -> bool:
        """See `Listener.make_room`; the search is made for many at a time."""
        now = time.monotonic()
        if not self._idle and now >= self._look_at:
            self._idle = deque(gives_way(self._open.values(), client))
            self._look_at = 0.0 if self._idle else now + _LOOK
        while self._idle:
            session = self._idle.popleft()
            if session.id in self._open and not session.deliveries:
                self.end(session, GAVE_WAY)
                return True
        return False

    async def begin(
        self, principal: object, client: object, *, handshake: bool = True
    ) -> HttpServerSession | None:
        """Return a new session, one that goes without a handshake if so; None if it cannot be."""
        if self.refuses(client):
            return None
        id = urlsafe_b64encode(os.urandom(_ID_SIZE)).rstrip(b"=").decode()
        session = HttpServerSession(id, principal, self.limits, handshake=handshake)
        session.client = client
        self._open[session.id] = session
        self._served.add(session)
        self.tick_on()
        if self._begin is None:
            session.ready = anyio.Event()
            self.spawn(self._run, session)
            await session.ready.wait()
        else:  # in a context of its own, as the session outlives the request
            Context().run(self._begin, session, partial(self._over, session))
        return None if session.has_ended else session

    def end(self, session: HttpServerSession, why: ConnectionClosedError) -> None:
        """Forget a session, and have it end."""
        self._open.pop(session.id, None)
        session.close(why)

    def stop(self, why: ConnectionClosedError) -> None:
        """See `Listener.stop`."""
        super().stop(why)
        self._asked_at = self._asked_at or time.monotonic()
        for session in list(self._open.values()):
            session.ask_to_end(why)

    async def close(self, why: ConnectionClosedError) -> None:
        """End all, and return when they have ended; what is asked to end gets a moment for it."""
        self.stop(why)
        since = time.monotonic() - (self._asked_at or 0.0)
        with anyio.move_on_after(max(0.0, _LAST_ANSWERS - since)):
            await self._wait_over()
        for socket in list(self.sockets):
            socket.close(why)
        for session in list(self._open.values()):
            session.close(why)
        await self._wait_over()

    async def _wait_over(self) -> None:
        ends = [socket.over for socket in self.sockets]
        if self._served:
            self._none_left = self._none_left or anyio.Event()
            ends.append(self._none_left)
        for over in ends:
            await over.wait()

    async def _run(self, session: HttpServerSession) -> None:
        try:
            await self._serve(session)
        except Exception:
            logger.exception("a session has failed")
        finally:
            self._over(session)

    def _over(self, session: HttpServerSession) -> None:
        self._open.pop(session.id, None)
        self._served.discard(session)
        session.has_ended = True  # perhaps without a beginning
        if session.ready is not None:
            session.ready.set()
        if self._none_left is not None and not self._served:
            self._none_left.set()

    def has_work(self) -> bool:
        """See `Listener.has_work`."""
        return bool(self._open) or super().has_work()

    def tick(self, now: float) -> None:
        """See `Listener.tick`."""
        super().tick(now)
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
