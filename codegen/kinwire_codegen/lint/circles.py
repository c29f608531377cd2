"""Lint of circles of types: pydantic builds what is in one circle each inside the one before.

That takes its part of Python's stack, about a thousand calls deep, for every type. Measured are 65
types that have each other as members, 45 that have lists of each other, and 32 where each step is a
union in a list or a map of lists; a program that imports the models needs some of the stack too.
"""

from __future__ import annotations

__all__ = ("DEEPEST", "circles_are_short")

from collections.abc import Iterator, Mapping

from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.findings import Fault, pointer

DEEPEST = 24  # types of one circle, one inside the other

Graph = Mapping[str, list[str]]


def circles_are_short(document: Document, documents: Documents) -> Iterator[Fault]:
    """Yield the circles of definitions that pydantic could not build."""
    graph: dict[str, list[str]] = {name: [] for name in document.definitions}
    for steps, there in document.references:
        if steps[0] == "$defs" and there.protocol == document.name:
            graph[str(steps[1])].append(there.name)
    for circle in _circles(graph):
        inside = {name: [there for there in graph[name] if there in circle] for name in circle}
        depths = (_walk(inside, start, set())[1] for start in sorted(circle))
        deep = next((depth for depth in depths if depth > DEEPEST), None)
        if deep is not None:
            what = (
                f"{len(circle)} types refer to each other in a circle, and {deep} of them would "
                f"be built one inside the other: pydantic can build {DEEPEST}"
            )
            yield pointer("$defs", min(circle)), what, "Leave the type of one member open: {}."


def _circles(graph: Graph) -> Iterator[set[str]]:
    """Yield the definitions that all lead to each other, a set a circle."""
    back: dict[str, list[str]] = {name: [] for name in graph}
    for here, others in graph.items():
        for there in others:
            back[there].append(here)
    met: set[str] = set()
    order = [name for start in graph for name in _walk(graph, start, met)[0]]
    met = set()
    for start in reversed(order):
        if start not in met:
            yield set(_walk(back, start, met)[0])


def _walk(graph: Graph, start: str, met: set[str]) -> tuple[list[str], int]:
    """Go depth first past what was `met`; return what was left, in that order, and how deep."""
    left: list[str] = []
    path: list[tuple[str, Iterator[str]]] = []
    deepest, there = 0, None if start in met else start
    while path or there is not None:
        if there is None:
            left.append(path.pop()[0])
        else:
            met.add(there)
            path.append((there, iter(graph[there])))
            deepest = max(deepest, len(path))
        there = next((name for name in path[-1][1] if name not in met), None) if path else None
    return left, deepest
