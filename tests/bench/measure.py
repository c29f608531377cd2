"""How things are measured: CPU time, interleaved rounds, the median of the ratios of each round."""

from __future__ import annotations

__all__ = (
    "Row",
    "Spread",
    "Verdict",
    "at_least",
    "at_most",
    "cpu_of_calls",
    "cpu_of_process",
    "own_environment",
    "ratio",
    "spread",
    "table",
)

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from statistics import median, quantiles
from typing import Literal, NamedTuple

Verdict = Literal["goal", "bar", "MISSED", "printed", "not measured"]
"""Goal and bar kept, only the bar, neither; or there is no bar; or there is no figure."""


_PRINTED = 6  # members of a row that are columns of the table


class Row(NamedTuple):
    """One line of the table."""

    what: str
    figure: str
    against: str
    bar: str = ""
    goal: str = ""
    verdict: Verdict = "printed"
    peer: str = ""
    """Whom the ratio is about, for the picture; nobody: no bar in it."""
    times: float = 0.0
    """How many times as much as ours it costs there."""


class Spread(NamedTuple):
    """The ratios of all rounds: the middle one, and between which the middle half lies."""

    lower: float
    median: float
    upper: float

    def __str__(self) -> str:
        return f"{self.median:.3g}x ({self.lower:.3g} to {self.upper:.3g})"


def spread(these: Sequence[float], those: Sequence[float]) -> Spread:
    """Return the ratios these / those, round by round."""
    return Spread(*quantiles([one / other for one, other in zip(these, those, strict=True)]))


def at_least(value: float, bar: float, goal: float | None = None) -> Verdict:
    """Return what is to be said of a figure that should be large."""
    return at_most(-value, -bar, None if goal is None else -goal)


def at_most(value: float, bar: float, goal: float | None = None) -> Verdict:
    """Return what is to be said of a figure that should be small."""
    if value > bar:
        return "MISSED"
    return "goal" if goal is not None and value <= goal else "bar"


def ratio(ours: Callable[[], float], theirs: Callable[[], float], rounds: int) -> tuple[float, ...]:
    """Return the median of ours, of theirs, and of the ratios of each round."""
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    mine, others = [one for one, _ in pairs], [other for _, other in pairs]
    return median(mine), median(others), spread(mine, others).median


def own_environment() -> dict[str, str]:
    """Return the environment for a fresh interpreter; as usual, it keeps its compiled modules."""
    return {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def cpu_of_process(*arguments: str) -> float:
    """Return the CPU seconds of a fresh interpreter run with `arguments`."""
    command = [sys.executable, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=own_environment())
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
    head = [name.replace("_", " ") for name in Row._fields[:_PRINTED]]
    lines = [head, ["---"] * _PRINTED, *([str(cell) for cell in row[:_PRINTED]] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
