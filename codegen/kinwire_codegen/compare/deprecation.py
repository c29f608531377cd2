"""What is deprecated, and is no longer, on both sides: rows, errors, types, fields and values."""

from __future__ import annotations

__all__ = ("compare_deprecations", "is_deprecated", "is_deprecated_value")

from collections.abc import Iterator, Mapping
from typing import Any

from kinwire_codegen.compare.anchors import anchor_of
from kinwire_codegen.compare.change import DocumentChange, changed
from kinwire_codegen.compare.constructs import Renamed
from kinwire_codegen.load.document import Document, all_types
from kinwire_codegen.load.findings import Place

Node = Mapping[str, Any]

RULES = {
    "methods": "method-deprecated",
    "tools": "method-deprecated",
    "errors": "error-deprecated",
    "$defs": "member-deprecated",
}


def is_deprecated(node: Node) -> bool:
    """Return whether a row, an error or a type is marked; rows of older documents by `status`."""
    return bool(node.get("deprecated")) or node.get("status") == "deprecated"


def is_deprecated_value(node: Node, value: Any) -> bool:
    """Return whether a value of an enum is marked, or the whole enum."""
    return is_deprecated(node) or is_deprecated(_values(node).get(str(value), {}))


def compare_deprecations(
    before: Document, after: Document, renamed: Renamed
) -> Iterator[DocumentChange]:
    """Yield what is deprecated now, what is no longer, and what says so in other words."""
    for table, rule in RULES.items():
        news = after.table(table)
        for name, old in before.table(table).items():
            there = renamed.get((table, name), name)
            if there not in news:
                continue
            place, new = (table, there), news[there]
            if table != "$defs":
                yield from _one(after, rule, place, old, new)
                continue
            olds = {steps[2:]: node for node, steps in all_types(old, (table, name))}
            for node, steps in all_types(new, place):
                was = olds.get(steps[2:])
                if was is not None:
                    yield from _one(after, rule, steps, was, node)
                    yield from _of_values(after, steps, _values(was), _values(node))


def _of_values(
    document: Document, place: Place, olds: Node, news: Node
) -> Iterator[DocumentChange]:
    for value in news:
        here = (*place, "enumValues", value)
        old, new = olds.get(value, {}), news[value]
        yield from _one(document, "value-deprecated", here, old, new)
        if old.get("name") != new.get("name") and old.get("name"):
            what = f"{_label(here)} was {old['name']} in Python and is {new.get('name', 'unnamed')}"
            yield _told(document, "value-renamed", here, what)


def _one(
    document: Document, rule: str, place: Place, old: Node, new: Node
) -> Iterator[DocumentChange]:
    was, is_now = is_deprecated(old), is_deprecated(new)
    if is_now and not was:
        yield _told(document, rule, place, f"{_label(place)} is deprecated")
    elif was and not is_now:
        what = f"{_label(place)} is not deprecated any more"
        yield _told(document, "deprecation-withdrawn", place, what)
    elif was and old.get("deprecated") != new.get("deprecated"):
        what = f"{_label(place)} is deprecated in other words"
        yield _told(document, "description-changed", place, what)


def _label(place: Place) -> str:
    """Return a place for people: `Part.x`."""
    table, name, *steps = map(str, place)
    if table != "$defs":
        return name
    kept = [step for step in steps if step not in ("properties", "enumValues")]
    return ".".join([name, *kept])


def _values(node: Node) -> Node:
    found: Node = node.get("enumValues", {})
    return found


def _told(document: Document, rule: str, place: Place, what: str) -> DocumentChange:
    return changed(rule, document.name, place, what, anchor=anchor_of(document, place))
