"""Data outside messages: tables, machines, limits, records, the bindings to HTTP and gRPC."""

from __future__ import annotations

__all__ = ("compare_data",)

from collections.abc import Iterator, Mapping
from typing import Any

from kinwire_codegen.compare.anchors import anchor_of
from kinwire_codegen.compare.change import DocumentChange, changed
from kinwire_codegen.compare.flows import data_flow
from kinwire_codegen.compare.verdict import Way
from kinwire_codegen.load.document import CONSTANTS, Document, Reference, resolve
from kinwire_codegen.load.findings import Place, pointer

WORDS = frozenset({"section", "summary", "x-decision", "description"})
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
        olds = _following(before.table(table), before.name, renamed)
        yield from _named(report, "data", (table,), olds, after.table(table))
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
        if _bare(old.get(key, [])) != _bare(new.get(key, [])):
            yield report.change(rule, (binding,), f"{binding}: {key} have changed")


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

    def change(self, rule: str, place: Place, what: str, *, gone: bool = False) -> DocumentChange:
        document = self._before if gone else self._after
        flow = data_flow(document, place[-1] if isinstance(place[-1], str) else "", Way.REQUEST)
        anchor = anchor_of(document, () if gone else place)
        return changed(rule, document.name, place, what, flows=[flow], gone=gone, anchor=anchor)


def _named(
    report: _Teller, rule: str, place: Place, olds: Node, news: Node
) -> Iterator[DocumentChange]:
    for name in olds:
        if name not in news:
            what = f"{' '.join(map(str, place))} {name} is gone"
            yield report.change(f"{rule}-removed", (*place, name), what, gone=True)
    for name, new in news.items():
        label = f"{' '.join(map(str, place))} {name}"
        if name not in olds:
            yield report.change(f"{rule}-added", (*place, name), f"{label} is new")
        elif _bare(olds[name]) != _bare(new):
            what = f"{label}: {_differences(_bare(olds[name]), _bare(new))}"
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
    for key in sorted((old.keys() | new.keys()) - below - WORDS):
        if old.get(key) != new.get(key):
            what = f"{binding}: {key} was {old.get(key)} and is {new.get(key)}"
            yield report.change(f"{binding}-changed", (binding, key), what)


def _bare(node: Any) -> Any:
    if isinstance(node, list):
        return [_bare(inner) for inner in node]
    if isinstance(node, dict):
        return {key: _bare(value) for key, value in node.items() if key not in WORDS}
    return node


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
