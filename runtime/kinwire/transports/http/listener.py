"""What one HTTP listener knows of the requests on one event loop: how many, and for how long."""

from __future__ import annotations

__all__ = ("ClosableSocket", "Listener", "client_of")

import time
from asyncio import AbstractEventLoop, Task
from collections.abc import Callable
from contextvars import Context
from typing import Any, Protocol

import anyio

from kinwire.rpc.errors import ConnectionClosedError
from kinwire.support.background import running_loop
from kinwire.transports.http.guard import principal_address
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.http.replies import Scope

_OFTEN = 0.5  # seconds between two looks at the time, at most


def client_of(principal: object, scope: Scope) -> object:
    """Return whom the sessions of a request count for: the principal, or else the address."""
    if principal is not None:
        return ("principal", principal_address(principal) or id(principal))
    client = scope["client"] if "client" in scope else None  # noqa: SIM401 - no call
    return ("address", client[0] if client else "")


class ClosableSocket(Protocol):
    """A WebSocket that is open."""

    client: object
    """Who has it: see `client_of`."""
    over: anyio.Event
    """Is set when its session has ended and nothing of it is left."""

    def ask_to_end(self, why: ConnectionClosedError) -> None:
        """Ask its session to end, also before it has begun."""

    def close(self, why: ConnectionClosedError) -> None:
        """End its session, also before it has begun."""


class Listener:
    """Counts, clocks and tasks of a listener. Nothing runs while nothing is open.

    A protocol with sessions counts them in `count`, and looks at them in `tick`.
    """

    def __init__(self, limits: HttpLimits) -> None:
        self.limits = limits
        self.loop: AbstractEventLoop | None = running_loop()
        self.sockets: set[ClosableSocket] = set()
        """WebSockets: each is a session, too."""
        self.readers: dict[Task[Any], float] = {}
        """Tasks that read a body, and since when. One that is late is taken out and cancelled."""
        self._tasks: set[Task[None]] = set()
        self.ticking = False
        """Whether something looks at the time now and then: see `tick_on`."""
        self.stopping = False
        """Whether nothing more begins, and bodies have but a moment to become complete."""
        waits = (limits.idle, limits.patience, limits.keep_alive, limits.body_time)
        self._often = min(_OFTEN, min(waits) / 2)

    def count(self) -> int:
        """Return how many sessions are open."""
        return len(self.sockets)

    @property
    def full(self) -> bool:
        """Return whether nothing more can begin at the moment, if nothing gives way."""
        return self.stopping or self.count() >= self.limits.sessions

    def refuses(self, client: object) -> bool:
        """Return whether no session of a client can begin at the moment, though others give way."""
        most = self.limits.sessions_per_client
        if self.stopping or (most is not None and self.count_of(client) >= most):
            return True
        return self.count() >= self.limits.sessions and not self.make_room(client)

    def count_of(self, client: object) -> int:
        """Return how many sessions of a client are open."""
        return sum(one.client == client for one in self.sockets)

    def make_room(self, client: object) -> bool:
        """End a session to make room for one of a client; return whether there is one to end."""
        return False

    def stop(self, why: ConnectionClosedError) -> None:
        """Begin no more sessions, and ask those that are open to end."""
        self.stopping = True
        for socket in list(self.sockets):
            socket.ask_to_end(why)

    def spawn(
        self, function: Callable[..., Any], *arguments: Any, context: Context | None = None
    ) -> None:
        """Run `function` in a task of its own, and in `context` if there is one."""
        if self.loop is None:
            import trio  # it is what runs

            trio.lowlevel.spawn_system_task(function, *arguments, context=context)
            return
        task: Task[None] = Task(function(*arguments), loop=self.loop, context=context)
        self._tasks.add(task)  # the loop itself keeps none alive
        task.add_done_callback(self._tasks.discard)

    def tick_on(self) -> None:
        """Look at the time now and then, for as long as something is open."""
        if self.ticking:
            return
        self.ticking = True
        if self.loop is None:
            self.spawn(self._tick_in_task)
        else:
            # In a context of its own, as the clock outlives the request that starts it.
            self.loop.call_later(self._often, self._tick_by_timer, self.loop, context=Context())

    def tick(self, now: float) -> None:
        """Look at what is open."""
        patience = self._often if self.stopping else self.limits.body_time
        for task, since in list(self.readers.items()):
            if now - since >= patience:
                del self.readers[task]
                task.cancel()

    def has_work(self) -> bool:
        """Return whether there is anything to look at."""
        return bool(self.readers)

    def _tick_by_timer(self, loop: AbstractEventLoop) -> None:
        self.tick(time.monotonic())
        self.ticking = self.has_work()
        if self.ticking:
            loop.call_later(self._often, self._tick_by_timer, loop)

    async def _tick_in_task(self) -> None:
        try:
            while self.has_work():
                await anyio.sleep(self._often)
                self.tick(time.monotonic())
        finally:
            self.ticking = False
