"""A state machine as a picture, with its states in columns by the steps from the first one."""

from __future__ import annotations

__all__ = ("machine_svg",)

from collections import defaultdict
from html import escape
from typing import Any, NamedTuple

BOX, TALL, ACROSS, DOWN, MARGIN, ABOVE = 116, 34, 206, 124, 6, 54
Node = dict[str, Any]


class Spot(NamedTuple):
    """The middle of a state's box."""

    x: float
    y: float


def machine_svg(machine: Node) -> str:
    """Return the picture of a machine that a document describes."""
    layers = _layers(machine)
    tallest = max(map(len, layers))
    spots = _spots(layers, tallest)
    width = MARGIN * 2 + BOX + ACROSS * (len(layers) - 1)
    height = MARGIN + ABOVE + TALL + DOWN * (tallest - 1) + 64
    final = set(machine.get("final", ()))
    words = "; ".join(
        f"{step['from']} to {step['to']} on {step['on']}" for step in machine["transitions"]
    )
    parts = [
        f'<svg class="machine" viewBox="0 0 {width} {height}" style="max-width:{width}px"'
        f' role="img"><title>{escape(machine["name"])}: {escape(words)}</title>'
    ]
    parts += _edges(machine, spots)
    for name, spot in spots.items():
        kinds = " ".join(
            ["state"] + ["first"] * (name == machine["initial"]) + ["final"] * (name in final)
        )
        parts.append(_state(name, spot, kinds))
    return "".join([*parts, "</svg>"])


def _layers(machine: Node) -> list[list[str]]:
    """Return the states by the number of steps that lead to them."""
    after: dict[str, list[str]] = defaultdict(list)
    for step in machine["transitions"]:
        after[step["from"]].append(step["to"])
    depth = {machine["initial"]: 0}
    waiting = [machine["initial"]]
    while waiting:
        state = waiting.pop(0)
        for other in after[state]:
            if other not in depth:
                depth[other] = depth[state] + 1
                waiting.append(other)
    layers: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for state, steps in depth.items():
        layers[steps].append(state)
    return layers


def _spots(layers: list[list[str]], tallest: int) -> dict[str, Spot]:
    found: dict[str, Spot] = {}
    for column, states in enumerate(layers):
        offset = (tallest - len(states)) * DOWN / 2
        for row, state in enumerate(states):
            x = MARGIN + BOX / 2 + ACROSS * column
            found[state] = Spot(x, ABOVE + TALL / 2 + offset + DOWN * row)
    return found


def _edges(machine: Node, spots: dict[str, Spot]) -> list[str]:
    """Return a line for each pair of states, with all that leads from one to the other."""
    labels: dict[tuple[str, str], list[str]] = defaultdict(list)
    for step in machine["transitions"]:
        labels[step["from"], step["to"]].append(step["on"])
    return [
        _edge(spots[start], spots[end], ", ".join(on), (end, start) in labels)
        for (start, end), on in labels.items()
    ]


def _edge(start: Spot, end: Spot, label: str, both: bool) -> str:
    if start == end:
        return _loop(start, label)
    if start.x == end.x:
        return _vertical(start, end, label, both)
    if abs(end.x - start.x) > ACROSS * 1.5:
        return _below(start, end, label)
    ahead = 1 if end.x > start.x else -1
    aside = 9 * ahead if both else 0
    a = Spot(start.x + ahead * BOX / 2, start.y + aside)
    b = Spot(end.x - ahead * BOX / 2, end.y + aside)
    half = (b.x - a.x) / 2
    line = f"M{a.x:g} {a.y:g}C{a.x + half:g} {a.y:g} {b.x - half:g} {b.y:g} {b.x:g} {b.y:g}"
    middle = Spot((a.x + b.x) / 2, (a.y + b.y) / 2 + aside * 0.9)
    return _drawn(line, b, (-ahead, 0), label, middle)


def _vertical(start: Spot, end: Spot, label: str, both: bool) -> str:
    down = 1 if end.y > start.y else -1
    x = start.x + (18 * down if both else 0)
    a, b = Spot(x, start.y + down * TALL / 2), Spot(x, end.y - down * TALL / 2)
    line = f"M{a.x:g} {a.y:g}L{b.x:g} {b.y:g}"
    return _drawn(line, b, (0, -down), label, Spot(x, (a.y + b.y) / 2))


def _below(start: Spot, end: Spot, label: str) -> str:
    """Return a line that passes below the states between two states."""
    a, b = Spot(start.x, start.y + TALL / 2), Spot(end.x, end.y + TALL / 2)
    deep = max(a.y, b.y) + 66
    line = f"M{a.x:g} {a.y:g}C{a.x:g} {deep:g} {b.x:g} {deep:g} {b.x:g} {b.y:g}"
    middle = Spot((a.x + b.x) / 2, (a.y + b.y) / 8 + deep * 0.75)
    return _drawn(line, b, (0, 1), label, middle)


def _loop(spot: Spot, label: str) -> str:
    y = spot.y - TALL / 2
    line = f"M{spot.x - 24:g} {y:g}c-12 -40 60 -40 48 0"
    return _drawn(line, Spot(spot.x + 24, y), (0, -1), label, Spot(spot.x, y - 38))


def _drawn(line: str, tip: Spot, back: tuple[int, int], label: str, at: Spot) -> str:
    """Return a line with its head, which points against `back`, and its label."""
    x, y = back
    head = f"M{tip.x:g} {tip.y:g}l{x * 9 + y * 5:g} {y * 9 + x * 5:g}l{-y * 10:g} {-x * 10:g}z"
    return (
        f'<g class="step"><path class="line" d="{line}"/><path class="head" d="{head}"/>'
        f'<text x="{at.x:g}" y="{at.y + 4:g}">{escape(label)}</text></g>'
    )


def _state(name: str, spot: Spot, kinds: str) -> str:
    return (
        f'<g class="{kinds}"><rect x="{spot.x - BOX / 2:g}" y="{spot.y - TALL / 2:g}"'
        f' width="{BOX}" height="{TALL}" rx="9"/>'
        f'<text x="{spot.x:g}" y="{spot.y + 5:g}">{escape(name)}</text></g>'
    )
