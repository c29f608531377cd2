"""What `kinwire up` shows: a table that is drawn again and again, or a line for each change."""

from __future__ import annotations

__all__ = ("Rows", "ServerDisplay")

from collections.abc import AsyncIterable, Callable, Sequence
from contextlib import suppress
from typing import TextIO

import anyio

from kinwire_cli.control.messages import ServerRow
from kinwire_cli.live_table import LiveLines
from kinwire_cli.servers_table import changed_line, removed_line, table_lines, with_states

Rows = Callable[[], Sequence[ServerRow]]

_TICK = 1.0  # seconds until ages are drawn again
_ROOM = 2  # lines of the terminal that stay free for other text


class ServerDisplay:
    """Shows the rows as they are: with `lines` as a table there, else each change on `out`.

    Without `out` that is stdout.
    """

    def __init__(
        self,
        rows: Rows,
        clock: Callable[[], float],
        lines: LiveLines | None,
        out: TextIO | None = None,
    ) -> None:
        self._rows = rows
        self._clock = clock
        self._lines = lines
        self._out = out
        self._printed: dict[str, object] = {}

    async def run(self, changes: AsyncIterable[str]) -> None:
        """Show each change, by the id of its server, until there are no more."""
        self.show()
        async with anyio.create_task_group() as tasks:
            if self._lines is not None:
                tasks.start_soon(self._tick)
            async for id in changes:
                self._changed(id)
            tasks.cancel_scope.cancel()

    def show(self) -> None:
        """Show how all servers are now."""
        for row in self._rows():
            self._changed(row.id)

    async def _tick(self) -> None:
        while True:
            await anyio.sleep(_TICK)
            self._draw()

    def _changed(self, id: str) -> None:
        if self._lines is None:
            self._print(id)
        else:
            self._draw()

    def _draw(self) -> None:
        assert self._lines is not None
        rows, (width, height) = self._rows(), self._lines.size
        drawn = table_lines(rows, self._clock(), width, max(3, height - _ROOM))
        self._lines.draw(with_states(drawn, rows))

    def _print(self, id: str) -> None:
        """Print a line, unless nothing has changed but the words for it."""
        row = next((one for one in self._rows() if one.id == id), None)
        facts = row and (row.state, row.since, row.health or "healthy", row.restarts, row.pid)
        if id not in self._printed or self._printed[id] != facts:
            self._printed[id] = facts
            line = removed_line(id, self._clock()) if row is None else changed_line(row)
            with suppress(OSError):  # who reads it has left, or the disk is full: servers go on
                print(line, file=self._out, flush=True)
