"""What differs and was not reported: words that no rule knows, and other ways to write the same."""

from __future__ import annotations

__all__ = ("compare_leftover",)

import json
from collections.abc import Iterable, Iterator
from typing import Any

from kinwire_codegen.compare.anchors import anchor_of
from kinwire_codegen.compare.change import DocumentChange, changed
from kinwire_codegen.compare.constructs import (
    INNER,
    KNOWN,
    Construct,
    Node,
    Renamed,
    paired_constructs,
)
from kinwire_codegen.load.document import Document
from kinwire_codegen.load.findings import Place, pointer

ALSO_INNER = {"document": ("$defs", "http", "grpc")}
"""Also words that hold parts of their own, which are compared one by one."""
WITHIN = {"discriminator": "propertyName"}
"""Words of which rules know only a part."""


def compare_leftover(
    before: Document, after: Document, renamed: Renamed, found: Iterable[DocumentChange]
) -> Iterator[DocumentChange]:
    """Yield what differs between two sides of a protocol and is in none of the changes `found`."""
    covered = _Covered(change.place for change in found if change.protocol == after.name)
    for old, new in paired_constructs(before, after, renamed):
        differing = [key for key in {**old.node, **new.node} if _differs(key, old, new, renamed)]
        for key in differing:
            place = (*new.place, key) if key in new.node else new.place
            if _is_unknown(key, old, new):
                was, is_now = (_short(node, key) for node in (old.node, new.node))
                what = f"{_label(after, new.place)}: {key} was {was} and is {is_now}"
                yield _told("unknown-change", after, place, what)
            elif not covered.has((*new.place, key)):
                what = f"{_label(after, new.place)}: {key} is written in another way"
                yield _told("written-differently", after, place, what)


class _Covered:
    """The places of changes, to ask whether one is at, in or around a part."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = {place for place in places if place}
        self._around = {place[:length] for place in self._places for length in range(1, len(place))}

    def has(self, place: Place) -> bool:
        return place in self._around or any(
            place[:length] in self._places for length in range(1, len(place) + 1)
        )


def _differs(key: str, old: Construct, new: Construct, renamed: Renamed) -> bool:
    """Return whether a word of two parts differs, apart from what is inside and new names."""
    if (key in old.node) != (key in new.node):
        return True
    if isinstance(new.node[key], str) and old.node[key] == new.node[key]:
        return False
    was, is_now = (_text(_shallow(part.kind, key, part.node[key])) for part in (old, new))
    for (table, name), there in renamed.items():
        if table == "$defs":
            was = was.replace(f'#/$defs/{name}"', f'#/$defs/{there}"')
    return was != is_now


def _is_unknown(key: str, old: Construct, new: Construct) -> bool:
    was, is_now = old.node.get(key), new.node.get(key)
    if key.startswith("x-"):
        return False
    if key in WITHIN:
        rest = [
            {name: value for name, value in (one or {}).items() if name != WITHIN[key]}
            for one in (was, is_now)
        ]
        return rest[0] != rest[1]
    if key == "shorthand":  # rules know whether it is there
        return was is not None and is_now is not None
    return key not in KNOWN[new.kind]


def _shallow(kind: str, key: str, value: Any) -> Any:
    if kind == "type":
        if key == "properties":
            return list(value)
        if key in ("anyOf", "oneOf", "allOf"):
            return [sorted(branch) for branch in value]
        if key in ("items", "additionalProperties") and isinstance(value, dict):
            return {}
        return sorted(value) if key == "enumValues" else value
    if key == "augments":
        return [[_text(row["to"]), row["member"]] for row in value]
    inner = (*INNER.get(kind, ()), *ALSO_INNER.get(kind, ()))
    return None if key in inner else value


def _text(value: Any) -> str:
    # As text, because True is 1 to Python.
    return json.dumps(value, sort_keys=True)


def _label(document: Document, place: Place) -> str:
    return pointer(*place)[1:] or document.name


def _short(node: Node, key: str) -> str:
    text = json.dumps(node[key], ensure_ascii=False) if key in node else "unset"
    return text if len(text) <= 40 else text[:40] + "…"


def _told(rule: str, document: Document, place: Place, what: str) -> DocumentChange:
    return changed(rule, document.name, place, what, anchor=anchor_of(document, place))
