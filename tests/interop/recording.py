"""Run a command so that a test can say afterwards whether any of its processes is left.

As a program: append the own process id to a file, then become the command.
"""

from __future__ import annotations

__all__ = ("Recorded",)

import os
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Recorded:
    """A command whose every start is noted in the file `starts`."""

    command: tuple[str, ...]
    starts: Path

    @property
    def words(self) -> tuple[str, ...]:
        """What to start instead of the command."""
        return (sys.executable, __file__, str(self.starts), *self.command)

    def started(self) -> list[int]:
        """Return the process ids of all starts so far."""
        if not self.starts.exists():
            return []
        return [int(line) for line in self.starts.read_text(encoding="ascii").split()]

    def left_over(self) -> list[int]:
        """Return the ids of processes that still run, or ended without anybody asking how."""
        return [pid for pid in self.started() if _exists(pid)]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    with open(sys.argv[1], "a", encoding="ascii") as file:
        print(os.getpid(), file=file)
    os.execvp(sys.argv[2], sys.argv[2:])
