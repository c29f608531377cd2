"""A notes server whose state can be rolled back (MCPL 8).

It has no memory of its own: the host keeps the notes, each call brings them, and each change leaves
a checkpoint to which the host can return. Hosts of MCP keep nothing: theirs are kept here.
"""

from __future__ import annotations

__all__ = ("FEATURE_SETS", "TOOLS", "Notes", "server")

from collections.abc import Sequence

from pydantic import MISSING

from kinwire import Context, Server, ToolError
from kinwire.mcpl import McplServer
from kinwire_protocols.mcpl import FeatureSet

FEATURE_SETS = {
    "notes.edit": FeatureSet(description="Manage notes", uses=["tools"], rollback=True),
}
TOOLS = {"add_note": "notes.edit", "remove_note": "notes.edit", "list_notes": "notes.edit"}


class Notes:
    """The tools. What they work on comes with each call."""

    def __init__(self, server: Server, live: McplServer) -> None:
        self._live = live
        self._kept_here: Sequence[str] = ()
        server.tool(self.add_note)
        server.tool(self.remove_note)
        server.tool(self.list_notes)

    async def add_note(self, text: str, context: Context) -> str:
        """Keep a note."""
        notes = [*self._before(context), text]
        self._save(notes, context)
        return f"Note {len(notes)} is kept."

    async def remove_note(self, number: int, context: Context) -> str:
        """Throw a note away, by its number in the list."""
        notes = self._before(context)
        if not 1 <= number <= len(notes):
            raise ToolError(f"There are {len(notes)} notes, and none of number {number}.")
        self._save(notes[: number - 1] + notes[number:], context)
        return f"Note {number} is gone."

    async def list_notes(self, context: Context) -> str:
        """List the notes with their numbers."""
        notes = self._before(context)
        return "\n".join(f"{number}. {text}" for number, text in enumerate(notes, 1)) or "No notes."

    def _before(self, context: Context) -> list[str]:
        if self._live.of(context) is None:
            return list(self._kept_here)
        match self._live.state_of(context).given:
            case {"notes": [*notes]}:
                return [str(note) for note in notes]
            case given if given is MISSING:
                return []
            case _:  # a host may send anything
                raise ToolError('Expected a state as {"notes": []}, got another one. Roll it back.')

    def _save(self, notes: list[str], context: Context) -> None:
        if self._live.of(context) is None:
            self._kept_here = notes
        else:
            self._live.state_of(context).save({"notes": notes})


live = McplServer(feature_sets=FEATURE_SETS, tools=TOOLS)
server = Server("notes", "1.0", extensions=[live])
Notes(server, live)

if __name__ == "__main__":
    server.run()
