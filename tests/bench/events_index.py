"""One event against the filters of 10,000 and 100,000 subscriptions, and adding one more."""

from __future__ import annotations

__all__ = ("EVENTS", "filters_for", "rows")

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean, median

from kinwire.mcpe.rules.filter_index import FilterIndex
from kinwire.mcpe.rules.filters import CompiledFilter
from kinwire_protocols.mcpe.models import EventFilter
from tests.bench.measure import Row, at_least, at_most, spread
from tests.interop import peers

ROUNDS = 9
COUNTS = (10_000, 100_000)
EVENTS = 400
_BUS = Path(__file__).parent / "programs" / "mcp_bus.py"

_Node = dict[str | None, "_Node | list[int]"]


def rows() -> Iterator[Row]:
    """Measure it."""
    for count in COUNTS:
        yield from _rows_for(count)


def filters_for(count: int) -> list[list[str]]:
    """Return the event types of filters: 70 % of one type, 29 % with a star, and ten for all."""
    draw = random.Random(count)
    found: list[list[str]] = [["*"] for _ in range(10)]
    while len(found) < count:
        parts = _type(draw).split(".")
        kept = draw.choice((2, 3)) if len(found) % 10 >= 7 else 4
        found.append([".".join(parts[:kept]) + (".*" if kept < 4 else "")])
    return found


def _type(draw: random.Random) -> str:
    action = draw.choice(("created", "updated", "deleted", "read", "failed", "done", "moved"))
    where = f"app{draw.randrange(20)}.kind{draw.randrange(50)}.{draw.randrange(200)}"
    return f"{where}.{action}"


def _rows_for(count: int) -> Iterator[Row]:
    draw = random.Random(7)
    events = [_type(draw) for _ in range(EVENTS)]
    types = filters_for(count)
    compiled = [CompiledFilter.of(EventFilter(event_types=one)) for one in types]
    index, trie = FilterIndex[int](), _Node()
    for key, filter in enumerate(compiled):
        index.put(key, filter)
        _put(trie, types[key][0].split("."), key)
    for event in events[:20]:
        assert sorted(index.matching(event, (), "low")) == sorted(_walk(trie, event))

    def scan(event: str) -> list[int]:
        return [key for key, one in enumerate(compiled) if one.selects(event, (), "low")]

    ours, walk = [], []
    for _ in range(ROUNDS):
        ours.append(_microseconds(lambda event: index.matching(event, (), "low"), events * 5))
        walk.append(_microseconds(lambda event: _walk(trie, event), events * 5))
    scanned = _microseconds(scan, events[:10])
    matches = fmean(len(index.matching(event, (), "low")) for event in events)
    what = f"one event among {count:,} subscriptions, {matches:.0f} of which it is for"
    figure = f"{median(ours):.2f} us"
    times = spread(ours, walk)
    yield Row(
        what,
        figure,
        f"a bare walk of a trie {median(walk):.2f} us: {times}",
        "at most 1.5x",
        "",
        at_most(times.median, 1.5),
    )
    yield Row("", figure, f"a look at every filter {scanned:,.0f} us")
    yield _against_bus(count, figure, median(ours))
    yield _changes(index, compiled)


def _against_bus(count: int, figure: str, ours: float) -> Row:
    try:
        python = peers.mcp2_python()
        run = subprocess.run(
            [python, _BUS, str(count)], capture_output=True, text=True, timeout=300, check=True
        )
    except (peers.PeerMissingError, subprocess.SubprocessError) as error:
        return Row("", figure, f"mcp 2.x: {error}", "at least 100x", "300x", "not measured")
    theirs = float(run.stdout)
    times = theirs / ours
    return Row(
        "",
        figure,
        f"the subscription bus of mcp 2.x {theirs:,.0f} us: {times:,.0f}x",
        "at least 100x",
        "300x",
        at_least(times, 100, 300),
        "mcp 2.x",
        times,
    )


def _changes(index: FilterIndex[int], compiled: list[CompiledFilter]) -> Row:
    some = list(range(0, len(compiled), max(1, len(compiled) // 1000)))
    begun = time.process_time()
    for key in some:
        index.discard(key)
    for key in some:
        index.put(key, compiled[key])
    one = (time.process_time() - begun) / (2 * len(some)) * 1e6
    return Row(f"a subscription more or less among {len(compiled):,}", f"{one:.1f} us", "")


def _microseconds(call: Callable[[str], object], events: list[str]) -> float:
    begun = time.process_time()
    for event in events:
        call(event)
    return (time.process_time() - begun) / len(events) * 1e6


def _put(trie: _Node, parts: list[str], key: int) -> None:
    node = trie
    for part in parts[:-1] if parts[-1] == "*" else parts:
        following = node.setdefault(part, {})
        assert isinstance(following, dict)
        node = following
    keys = node.setdefault("*" if parts[-1] == "*" else None, [])
    assert isinstance(keys, list)
    keys.append(key)


def _walk(trie: _Node, event: str) -> list[int]:
    """Return the keys that lie on the way, as simply as it can be done."""
    found: list[int] = []
    node = trie
    for part in event.split("."):
        if (keys := node.get("*")) is not None:
            found += keys  # type: ignore[arg-type]
        following = node.get(part)
        if following is None:
            return found
        node = following  # type: ignore[assignment]
    if (keys := node.get(None)) is not None:
        found += keys  # type: ignore[arg-type]
    return found


if __name__ == "__main__":
    for row in rows():
        sys.stdout.write(f"{row}\n")
