"""The session engine: servers on stdio, clients on stdio, and both ends in one process.

The bars hold for plain asyncio without the extra `fast`; other ways to run are printed as well.
"""

from __future__ import annotations

__all__ = ("rows",)

from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from tests.bench.commands import (
    FLOOR,
    MCP,
    ROW,
    TYPESCRIPT,
    VARIANTS,
    WARM_TYPESCRIPT,
    Mode,
    programs,
)
from tests.bench.measure import Row, at_least, at_most, spread
from tests.bench.rounds import Costs, measure
from tests.bench.target import Driven, Load, Served

ROUNDS = 9

SEQUENTIAL, SMALL, LARGE = Load(100, 1, 5120), Load(100, 64, 10240), Load(10_000, 64, 4096)

_FLOOR_BAR, _FLOOR_GOAL = 1.6, 1.2


class Bar(NamedTuple):
    """How many times as much as ours a peer is to cost."""

    load: Load
    peer: str
    least: float
    goal: float


class Subject(NamedTuple):
    """One kind of program, and what is asked of ours."""

    what: str
    mode: Mode
    bars: tuple[Bar, ...]


SUBJECTS = (
    Subject(
        "stdio server",
        "serve",
        (
            Bar(SMALL, MCP, 25, 40),
            Bar(SMALL, TYPESCRIPT, 1.2, 1.9),
            Bar(SEQUENTIAL, MCP, 10, 15),
            Bar(SEQUENTIAL, TYPESCRIPT, 1, 2),
            Bar(LARGE, MCP, 15, 25),
            Bar(LARGE, TYPESCRIPT, 1.5, 3),
        ),
    ),
    Subject(
        "in-memory round trip",
        "memory",
        (
            Bar(SMALL, MCP, 10, 15),
            Bar(SMALL, TYPESCRIPT, 1.3, 2),
            Bar(SEQUENTIAL, MCP, 10, 15),
            Bar(SEQUENTIAL, TYPESCRIPT, 1.3, 2),
        ),
    ),
    Subject(
        "stdio client",
        "client",
        (Bar(SMALL, MCP, 12, 20), Bar(SMALL, TYPESCRIPT, 1.5, 2.5)),
    ),
)


def rows() -> Iterator[Row]:
    """Yield the measurements."""
    for subject in SUBJECTS:
        found, missing = programs(subject.mode)
        kind = Served if subject.mode == "serve" else Driven
        loads = sorted({bar.load for bar in subject.bars})
        costs = measure({name: (kind, one) for name, one in found.items()}, loads, ROUNDS)
        for bar in subject.bars:
            yield _against_a_peer(subject, bar, costs, missing)
        for load in loads:
            yield _against_the_floor(subject, load, costs)
            for variant in VARIANTS:
                yield _beside(subject, load, variant, costs)


def _against_a_peer(subject: Subject, bar: Bar, costs: Costs, missing: dict[str, str]) -> Row:
    what = f"{subject.what}, {bar.load}"
    least, goal = f"at least {bar.least:g}x", f"{bar.goal:g}x"
    if bar.peer in missing:
        reason = missing[bar.peer].splitlines()[-1]
        return Row(what, "", f"{bar.peer}: {reason}", least, goal, "not measured")
    ours, theirs = costs["plain", bar.load], costs[bar.peer, bar.load]
    times = spread(theirs, ours)
    against = f"{bar.peer} {_cost(theirs)}: {times}"
    verdict = at_least(times.median, bar.least, bar.goal)
    return Row(what, _cost(ours), against, least, goal, verdict, bar.peer, times.median)


def _against_the_floor(subject: Subject, load: Load, costs: Costs) -> Row:
    # The same models on both sides, so that the rules are all that makes the difference.
    ours, floor = costs[ROW, load], costs[FLOOR, load]
    times = spread(ours, floor)
    what = f"{subject.what}, {load}, models both ways"
    against = f"the floor {_cost(floor)}: {times}"
    if subject.mode == "client" or load.at_once == 1:  # its task a request is on the other side
        return Row(what, _cost(ours), against)
    verdict = at_most(times.median, _FLOOR_BAR, _FLOOR_GOAL)
    return Row(what, _cost(ours), against, f"at most {_FLOOR_BAR:g}x", f"{_FLOOR_GOAL:g}x", verdict)


def _beside(subject: Subject, load: Load, variant: str, costs: Costs) -> Row:
    ours = costs[variant, load]
    measured = [peer for peer in (MCP, TYPESCRIPT, WARM_TYPESCRIPT) if (peer, load) in costs]
    against = [f"{peer}: {spread(costs[peer, load], ours).median:.3g}x" for peer in measured]
    against.append(f"{spread(ours, costs[FLOOR, load]).median:.3g} floors")
    what = f"{subject.what}, {load}, {VARIANTS[variant]}"
    return Row(what, _cost(ours), ", ".join(against))


def _cost(costs: list[float]) -> str:
    return f"{median(costs):.3g} us"
