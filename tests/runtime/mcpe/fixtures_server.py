"""A server of events with raw clients, and a clock that stands still."""

from __future__ import annotations

__all__ = ("START", "StoppedClock", "serving")

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from kinwire import Server
from kinwire.mcpe import McpeServer
from kinwire.support.background import background
from tests.runtime.mcpe.raw_client import OFFER, Json, RawClient

START = 1_767_225_600.0
"""2026-01-01T00:00:00Z, in seconds since 1970."""


class StoppedClock:
    """A wall clock that goes on only when it is put forward."""

    def __init__(self, now: float = START) -> None:
        self.now = now
        self.events: McpeServer | None = None

    def __call__(self) -> float:
        return self.now

    async def to(self, now: float, *clients: RawClient) -> None:
        """Put the clock, and wait until what is due then was done."""
        self.now = now
        assert self.events is not None
        self.events.look_at_clock()
        for raw in clients:
            await raw.settle()


@asynccontextmanager
async def serving(
    events: McpeServer, *clients: RawClient, capabilities: Json = OFFER
) -> AsyncGenerator[Server]:
    """Serve raw clients that offer MCPE, or other capabilities."""
    server = Server("s", "1", extensions=[events])
    async with background() as tasks:
        for raw in clients:
            tasks.start_soon(server.serve, raw)
            await raw.greet(capabilities)
        yield server
        tasks.cancel_scope.cancel()
