"""Run a command so that a test can say afterwards what went over its wire, and what is left of it.

As a program: become a relay before the command, which notes process ids and messages. That is not
left to `kinwire tap`: what is under test does not keep the record.
"""

from __future__ import annotations

__all__ = ("Recorded",)

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import IO


@dataclass(frozen=True)
class Recorded:
    """A command of a server whose every start and message is noted in files in `folder`."""

    command: tuple[str, ...]
    folder: Path
    delay: float = 0.0
    """Seconds that pass before the command is started: it plays a server that is slow to start."""

    @property
    def words(self) -> tuple[str, ...]:
        """What to start instead of the command."""
        return (sys.executable, __file__, str(self.folder), str(self.delay), *self.command)

    def wires(self) -> list[Path]:
        """Return the recordings, one a start, as `kinwire validate` reads them."""
        return sorted(self.folder.glob("wire-*.jsonl"))

    def started(self) -> list[int]:
        """Return the process ids of all starts so far, relays included."""
        starts = self.folder / "starts"
        if not starts.exists():
            return []
        return [int(line) for line in starts.read_text(encoding="ascii").split()]

    def left_over(self, patience: float = 0.0) -> list[int]:
        """Return the ids of processes that still run, or ended without anybody asking how.

        `patience` is how many seconds they may take to end.
        """
        deadline = time.monotonic() + patience
        while (left := [pid for pid in self.started() if _exists(pid)]) != []:
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        return left


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


class _Relay:
    def __init__(self, folder: Path, command: list[str]) -> None:
        wire = folder / f"wire-{time.time_ns()}.jsonl"
        self._wire = open(wire, "wb", buffering=0)  # noqa: SIM115 - open as long as this program
        self._turn = Lock()
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with open(folder / "starts", "a", encoding="ascii") as starts:
            print(os.getpid(), self._child.pid, file=starts)
        signal.signal(signal.SIGTERM, lambda *_: self._child.terminate())

    def run(self) -> int:
        """Return the child's exit code, as a shell would."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        inward = (sys.stdin.buffer, self._child.stdin, b"client")
        Thread(target=self._carry, args=inward, daemon=True).start()
        self._carry(self._child.stdout, sys.stdout.buffer, b"server")
        code = self._child.wait()
        return code if code >= 0 else 128 - code

    def _carry(self, source: IO[bytes], target: IO[bytes], sender: bytes) -> None:
        try:
            for line in source:
                with self._turn:  # noted first: what follows from a message stands below it
                    self._wire.write(b'{"from":"%b","message":%b}\n' % (sender, line.strip()))
                target.write(line)
                target.flush()
            target.close()
        except OSError:
            pass  # the other end has gone; its exit says the rest


if __name__ == "__main__":
    time.sleep(float(sys.argv[2]))
    os._exit(_Relay(Path(sys.argv[1]), sys.argv[3:]).run())  # a thread may wait for input for ever
