"""Data outside messages: tables, machines, limits, records, the bindings to HTTP and gRPC."""

from __future__ import annotations

__all__ = ("compare_data",)

from collections.abc import Generator, Iterator, Mapping
from typing import Any

from kinwire_codegen.compare.anchors import anchor_of
from kinwire_codegen.compare.change import DocumentChange, changed
from kinwire_codegen.compare.constructs import known_only
from kinwire_codegen.compare.flows import data_flow
from kinwire_codegen.compare.verdict import Way
from kinwire_codegen.load.document import CONSTANTS, Document, Reference, resolve
from kinwire_codegen.load.findings import Place, pointer

ENTRIES = {
    "http": ("paths", "events"),
    "grpc": ("rpcs", "messages", "enums"),
}
INNER = {"messages": "fields", "enums": "values"}
CODES = {"http": ("statuses", "http-status-changed"), "grpc": ("codes", "grpc-code-changed")}

Node = Mapping[str, Any]


def compare_data(
    before: Document, after: Document, renamed: Mapping[Reference, Reference]
) -> Iterator[DocumentChange]:
    """Yield what changed in one protocol except rows, errors and types.

    A renamed type is reported elsewhere; references to it count as unchanged.
    """
    report = _Teller(before, after)
    for table in (*CONSTANTS, "records"):  # sequences are for readers: `words.py` has them
        olds: Node = _following(before.table(table), before.name, renamed)
        news: Node = after.table(table)
        if table == "records":
            olds, news = yield from _formats(report, olds, news)
        yield from _named(report, "data", (table,), olds, news)
    for binding, tables in ENTRIES.items():
        old = _following(before.content.get(binding), before.name, renamed)
        new = after.content.get(binding)
        if old is None or new is None:
            if old != new:
                verb = "removed" if new is None else "added"
                word = "is gone" if new is None else "is new"
                what = f"the binding to {binding} {word}"
                yield report.change(f"{binding}-{verb}", (binding,), what, gone=new is None)
            continue
        yield from _head(report, binding, old, new, {*tables, CODES[binding][0]})
        for table in tables:
            yield from _entries(report, binding, table, old.get(table, {}), new.get(table, {}))
        key, rule = CODES[binding]
        if _bare(key, old.get(key, [])) != _bare(key, new.get(key, [])):
            yield report.change(rule, (binding,), f"{binding}: {key} have changed")


def _formats(
    report: _Teller, olds: Node, news: Node
) -> Generator[DocumentChange, None, tuple[Node, Node]]:
    """Yield which files have another format; return both sides without formats."""
    for name in (one for one in olds if one in news):
        was, is_now = (side[name].get("format", "json") for side in (olds, news))
        if was != is_now:
            what = f"{name} was {was} and is {is_now}"
            yield report.change("record-format-changed", ("records", name), what, way=Way.STORED)
    without = [{n: {**node, "format": ""} for n, node in side.items()} for side in (olds, news)]
    return without[0], without[1]


def _following(node: Any, home: str, renamed: Mapping[Reference, Reference]) -> Any:
    """Return what a document says with the new names of types."""
    if isinstance(node, list):
        return [_following(inner, home, renamed) for inner in node]
    if isinstance(node, dict):
        return {key: _following(value, home, renamed) for key, value in node.items()}
    there = (
        renamed.get(resolve(node, home)) if isinstance(node, str) and "#/$defs/" in node else None
    )
    if there is None:
        return node
    return f"{'' if there.protocol == home else there.protocol + '.json'}#/$defs/{there.name}"


class _Teller:
    def __init__(self, before: Document, after: Document) -> None:
        self._before, self._after = before, after

    def change(
        self,
        rule: str,
        place: Place,
        what: str,
        *,
        gone: bool = False,
        way: Way = Way.REQUEST,
    ) -> DocumentChange:
        document = self._before if gone else self._after
        flow = data_flow(document, place[-1] if isinstance(place[-1], str) else "", way)
        anchor = anchor_of(document, () if gone else place)
        return changed(rule, document.name, place, what, flows=[flow], gone=gone, anchor=anchor)


def _named(
    report: _Teller, rule: str, place: Place, olds: Node, news: Node
) -> Iterator[DocumentChange]:
    for name in olds:
        if name not in news:
            what = f"{' '.join(map(str, place))} {name} is gone"
            way = Way.EVENT if place[-1] == "events" else Way.REQUEST
            yield report.change(f"{rule}-removed", (*place, name), what, gone=True, way=way)
    kind = str(place[-1])
    for name, new in news.items():
        label = f"{' '.join(map(str, place))} {name}"
        if name not in olds:
            yield report.change(f"{rule}-added", (*place, name), f"{label} is new")
        elif (was := _bare(kind, olds[name])) != (is_now := _bare(kind, new)):
            what = f"{label}: {_differences(was, is_now)}"
            yield report.change(f"{rule}-changed", (*place, name), what)


def _entries(
    report: _Teller, binding: str, table: str, olds: Node, news: Node
) -> Iterator[DocumentChange]:
    inner = INNER.get(table)
    if inner is None:
        yield from _paths(report, binding, table, olds, news)
        return
    outer = [{name: {**node, inner: {}} for name, node in side.items()} for side in (olds, news)]
    yield from _named(report, binding, (binding, table), *outer)
    for name in (one for one in olds if one in news):
        place = (binding, table, name, inner)
        yield from _named(report, binding, place, olds[name][inner], news[name][inner])


def _paths(
    report: _Teller, binding: str, table: str, olds: Node, news: Node
) -> Iterator[DocumentChange]:
    bare = [{n: {**node, "aliases": []} for n, node in side.items()} for side in (olds, news)]
    yield from _named(report, binding, (binding, table), *bare)
    for name in (one for one in olds if one in news):
        was, is_now = (set(side[name].get("aliases", ())) for side in (olds, news))
        place = (binding, table, name)
        for alias in sorted(was - is_now):
            yield report.change(f"{binding}-removed", place, f"{name}: the name {alias} is gone")
        for alias in sorted(is_now - was):
            yield report.change(f"{binding}-added", place, f"{name}: {alias} is a new name")


def _head(
    report: _Teller, binding: str, old: Node, new: Node, below: set[str]
) -> Iterator[DocumentChange]:
    sides = known_only(binding, old), known_only(binding, new)
    for key in sorted((sides[0].keys() | sides[1].keys()) - below):
        if old.get(key) != new.get(key):
            what = f"{binding}: {key} was {old.get(key)} and is {new.get(key)}"
            yield report.change(f"{binding}-changed", (binding, key), what)


def _bare(kind: str, node: Any) -> Any:
    """Return what an entry says to peers and programs, in words that the rules know."""
    if isinstance(node, list):
        return [_bare(kind, inner) for inner in node]
    found = known_only(kind, node)
    if "transitions" in found:
        found["transitions"] = _bare("transitions", found["transitions"])
    return found


def _differences(old: Any, new: Any) -> str:
    """Return the innermost places that differ, the first three of them."""
    found = [
        f"{pointer(*place)[1:]} was {_short(a)} and is {_short(b)}"
        for place, a, b in _walk(old, new, ())
    ]
    return "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")


def _walk(old: Any, new: Any, place: Place) -> Iterator[tuple[Place, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            yield from _walk(old.get(key), new.get(key), (*place, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _walk(one, other, (*place, index))
    elif old != new:
        yield place, old, new


def _short(value: Any) -> str:
    text = "unset" if value is None else str(value)
    return text if len(text) <= 40 else text[:40] + "…"
