"""A server whose host remembers, for a process that is killed and the one after it."""

from __future__ import annotations

__all__ = ("ONE", "notes")

from typing import Any

from pydantic import MISSING

from kinwire import Context, Server
from kinwire.mcpl import McplServer
from tests.runtime.mcpl.lives import feature

ONE: dict[str, Any] = {"event_id": "evt_1", "timestamp": "2026-01-23T14:00:00Z"}


def notes() -> tuple[McplServer, Server]:
    live = McplServer(
        feature_sets={
            "notes.edit": feature(scoped=True, rollback=True),
            "notes.remind": feature("pushEvents"),
        }
    )
    server = Server("notes", "1", extensions=[live])

    @server.tool
    async def add_note(text: str, context: Context) -> None:
        """Keep a note."""
        state = live.state_of(context)
        state.save([*([] if state.given is MISSING else state.given), text])

    return live, server
