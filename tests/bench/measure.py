"""How things are measured: CPU time, interleaved rounds, the median of the ratios of each round."""

from __future__ import annotations

__all__ = ("Row", "cpu_of_process", "ratio", "table")

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from statistics import median
from typing import NamedTuple


class Row(NamedTuple):
    """One line of the table."""

    what: str
    figure: str
    against: str
    bar: str
    kept: bool


def ratio(ours: Callable[[], float], theirs: Callable[[], float], rounds: int) -> tuple[float, ...]:
    """Return the median of ours, of theirs, and of the ratios of each round."""
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    return (
        median(one for one, _ in pairs),
        median(other for _, other in pairs),
        median(one / other for one, other in pairs),
    )


def cpu_of_process(*arguments: str) -> float:
    """Return the CPU seconds of a fresh interpreter run with `arguments`."""
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{arguments} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime


def cpu_of_calls(call: Callable[[], object], times: int = 20_000) -> float:
    """Return the CPU seconds of one call."""
    begun = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - begun) / times


def table(rows: Iterable[Row]) -> str:
    """Return the rows as Markdown."""
    lines = ["| what | figure | against | bar | kept |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        cells = (row.what, row.figure, row.against, row.bar, "yes" if row.kept else "NO")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
