"""Work in forks of this process, so that none sees what another one has changed."""

from __future__ import annotations

__all__ = ("AT_ONCE", "forked")

import os
import pickle
import resource
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

T = TypeVar("T")

AT_ONCE = os.cpu_count() or 1

_MEMORY = 4 * 1024**3  # bytes for one process: a wrong program may never stop growing
_POLL = 0.002  # seconds


def forked(
    work: Iterable[tuple[int, Callable[[], T]]],
    patience: Callable[[int], float],
    at_once: int = AT_ONCE,
) -> Iterator[tuple[int, T | None]]:
    """Do work, `at_once` pieces at a time; yield its number and result, None for what did not end.

    `patience` says how many seconds each may take.
    """
    with TemporaryDirectory() as folder:
        running: dict[int, tuple[int, float]] = {}
        waiting = iter(work)
        more = True
        while more or running:
            while more and len(running) < at_once:
                number, function = next(waiting, (-1, None))
                if function is None:
                    more = False
                    break
                process = _fork(function, Path(folder, str(number)))
                running[process] = number, time.monotonic() + patience(number)
            for process in [one for one in running if _has_ended(one, running[one][1])]:
                number, _ = running.pop(process)
                result = Path(folder, str(number))
                yield number, pickle.loads(result.read_bytes()) if result.is_file() else None
            time.sleep(_POLL)


def _has_ended(process: int, deadline: float) -> bool:
    if time.monotonic() > deadline:
        os.kill(process, signal.SIGKILL)
    done, _ = os.waitpid(process, os.WNOHANG)
    return done != 0


def _fork(function: Callable[[], object], result: Path) -> int:
    process = os.fork()
    if process:
        return process
    try:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in (1, 2):
            os.dup2(nothing, descriptor)
        written = result.with_suffix(".part")
        written.write_bytes(pickle.dumps(function()))
        written.rename(result)
    finally:
        os._exit(0)
