"""MCP-lite over HTTP: calls, parts of a stream, and the memory that calls leave behind."""

from __future__ import annotations

__all__ = ("rows",)

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median

from tests.bench.commands import FLOOR, MCP, Program, python_program
from tests.bench.http_targets import LiteHttpServed, ModernHttpServed
from tests.bench.measure import Row, at_least, at_most, spread
from tests.bench.rounds import Costs, measure
from tests.bench.target import Load, Target, TargetFailedError, cpu_clock
from tests.interop import peers

ROUNDS = 7
SMALL, SEQUENTIAL = Load(100, 64, 5120), Load(100, 1, 2048)
OURS, ORJSON = "ours", "orjson"
BEST = f"{MCP}, its best mode"

_PARTS = 2_000
_CALLS = 10_000
_MEMORY_BAR, _MEMORY_GOAL = 512, 64  # KiB


def rows() -> Iterator[Row]:
    """Yield the measurements."""
    kinds: dict[str, tuple[type[Target], Program]] = {
        name: (LiteHttpServed, python_program("lite", name)) for name in (OURS, ORJSON, FLOOR)
    }
    reason = ""
    try:
        python = str(peers.mcp2_python())
        kinds[BEST] = ModernHttpServed, python_program("mcp2", "http-json", python=python)
    except peers.PeerMissingError as error:
        reason = str(error).splitlines()[-1]
    what = "MCP-lite over HTTP"
    try:
        costs = measure(kinds, (SMALL, SEQUENTIAL), ROUNDS)
        for load in (SMALL, SEQUENTIAL):
            yield from _calls(f"{what}, {load}", load, costs, reason)
        yield from _stream_and_memory(what)
    except (TargetFailedError, OSError) as error:
        yield Row(what, "", str(error), verdict="not measured")


def _calls(what: str, load: Load, costs: Costs, reason: str) -> Iterator[Row]:
    ours, floor = costs[OURS, load], costs[FLOOR, load]
    times = spread(ours, floor)
    against = f"a bare ASGI application {_cost(floor)}: {times}"
    if load is not SMALL:
        yield Row(what, _cost(ours), against)
        return
    verdict = at_most(times.median, 1.5, 1.3)
    yield Row(what, _cost(ours), against, "at most 1.5x", "1.3x", verdict)
    if (BEST, load) in costs:
        theirs = costs[BEST, load]
        times = spread(theirs, ours)
        against = f"{BEST} {_cost(theirs)}: {times}"
        verdict = at_least(times.median, 4, 6)
        yield Row(what, _cost(ours), against, "at least 4x", "6x", verdict, BEST, times.median)
    else:
        yield Row(what, "", f"{BEST}: {reason}", "at least 4x", "6x", "not measured")
    yield Row(f"{what}, with orjson", _cost(costs[ORJSON, load]), "")


def _stream_and_memory(what: str) -> Iterator[Row]:
    program = python_program("lite", OURS)
    with closing(LiteHttpServed(program.command, program.env)) as target:
        target.stream(_PARTS)
        begun = cpu_clock(target.pid)
        target.stream(_PARTS)
        spent = cpu_clock(target.pid) - begun
        text = f"{spent / _PARTS * 1e6:.3g} us a part, {_PARTS / spent:,.0f} parts a second"
        yield Row(f"{what}, a stream of {_PARTS:,} parts", text, "")
        target.exchange(Load(100, 64, _CALLS))
        before = _resident(target.pid)
        target.exchange(Load(100, 64, _CALLS))
        grown = _resident(target.pid) - before
    verdict = at_most(grown, _MEMORY_BAR, _MEMORY_GOAL)
    bars = f"at most {_MEMORY_BAR} KiB", f"{_MEMORY_GOAL} KiB"
    yield Row(f"{what}, memory after {_CALLS:,} more calls", f"{grown} KiB", "", *bars, verdict)


def _resident(pid: int) -> int:
    """Return the resident memory of a process in KiB (Linux only)."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0])


def _cost(costs: list[float]) -> str:
    return f"{median(costs):.3g} us"
