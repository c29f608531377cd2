"""The servers of this folder as one: what `kinwire serve demo mcpe` serves."""

from __future__ import annotations

__all__ = ("server",)

from kinwire import Server
from kinwire.mcpe import McpeServer
from kinwire_cli.demos.mcpe import bookings, project

clock = bookings.MovableClock()
events = McpeServer([*project.EVENT_TYPES, *bookings.EVENT_TYPES], clock=clock)
server = Server("kinwire-demo-mcpe", "1.0", extensions=[events])
project.ProjectTools(server, events)
bookings.Bookings(server, events, clock)
