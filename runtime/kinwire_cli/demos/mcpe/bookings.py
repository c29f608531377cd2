"""A server with events that are delivered by a schedule, and a clock that a tool moves (MCPE 8)."""

from __future__ import annotations

__all__ = ("EVENT_TYPES", "Bookings", "MovableClock", "server")

from typing import Annotated

from pydantic import Field

from kinwire import Server
from kinwire.mcpe import EventDeclaration, McpeServer, new_event
from kinwire.support.timestamps import timestamp_of

EVENT_TYPES = (
    EventDeclaration(
        "bookings.room.booked", "A room was booked.", example={"room": "attic", "by": "Emma"}
    ),
)
START = 1_767_600_000.0  # 2026-01-05T08:00:00Z, a Monday

Minutes = Annotated[int, Field(ge=1, le=10_080, description="How many minutes go by.")]


class MovableClock:
    """A clock that stands still until it is moved, in seconds since 1970."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


class Bookings:
    """The tools."""

    def __init__(self, server: Server, events: McpeServer, clock: MovableClock) -> None:
        self._events = events
        self._clock = clock
        for function in (self.book, self.pass_time):
            server.tool(function)

    async def book(self, room: str, by: str) -> str:
        """Book a room."""
        data, now = {"room": room, "by": by}, timestamp_of(self._clock.now)
        found = await self._events.publish(new_event("bookings.room.booked", data, timestamp=now))
        return f"selected by {found.subscriptions}"

    async def pass_time(self, minutes: Minutes) -> str:
        """Move the clock of this server."""
        self._clock.now += minutes * 60
        self._events.look_at_clock()
        return f"it is {timestamp_of(self._clock.now)}"


clock = MovableClock()
events = McpeServer(EVENT_TYPES, clock=clock)
server = Server("bookings", "1.0", extensions=[events])
Bookings(server, events, clock)

if __name__ == "__main__":
    server.run()
