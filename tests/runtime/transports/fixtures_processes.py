"""Servers of ours in a process of their own, as `kinwire serve` starts them."""

from __future__ import annotations

__all__ = ("Program", "listening", "peak_of", "serving")

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.runtime.transports.fixtures_serving import URLS

ROOT = Path(__file__).parents[3]

_SERVING = re.compile(r" at (?:http|ws)://127\.0\.0\.1:(\d+)/")


class Program(NamedTuple):
    """A process that listens."""

    process: subprocess.Popen[str]
    port: int
    line: str
    """What it has said when it was ready."""

    def url(self, transport: str) -> str:
        """Return where clients connect to."""
        return URLS[transport].format(self.port)

    def peak(self) -> int:
        """Return how many bytes of memory it has held at most (Linux only)."""
        return peak_of(self.process.pid)


def peak_of(pid: int) -> int:
    """Return how many bytes of memory a process has held at most (Linux only)."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


@contextmanager
def serving(file: Path, transport: str = "http", port: int = 0) -> Iterator[Program]:
    """Yield a process that serves `file` on a port of this machine, 0 for a free one."""
    command: tuple[str, ...] = (
        "kinwire",
        "serve",
        str(file),
        "--transport",
        transport,
        "--port",
        str(port),
    )
    if transport == "sse":
        command = ("tests.runtime.transports.fixtures_legacy_sse", str(file), str(port))
    with listening((sys.executable, "-m", *command)) as program:
        yield program


@contextmanager
def listening(command: tuple[str, ...]) -> Iterator[Program]:
    """Yield a process that says on stderr where it serves, as `kinwire serve` does."""
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    with process:
        try:
            assert process.stderr is not None
            found = _SERVING.search(line := process.stderr.readline())
            assert found is not None, line
            yield Program(process, int(found[1]), line)
        finally:
            process.terminate()
