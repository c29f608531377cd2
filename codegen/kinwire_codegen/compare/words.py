"""What only readers notice: words, sections, decisions, examples, and anchors that went away."""

from __future__ import annotations

__all__ = ("compare_words",)

from collections.abc import Iterator
from typing import Any

from kinwire_codegen.compare.anchors import anchor_of
from kinwire_codegen.compare.change import DocumentChange, changed
from kinwire_codegen.load.document import TABLES, Document
from kinwire_codegen.load.findings import Place, pointer

RULES = {
    **dict.fromkeys(("description", "summary", "title", "message", "steps"), "description-changed"),
    "section": "section-moved",
    "x-decision": "decision-changed",
    **dict.fromkeys(("examples", "format", "since"), "annotation-only"),
}


def compare_words(before: Document, after: Document) -> Iterator[DocumentChange]:
    """Yield what changed for the readers of one protocol's reference."""
    for place, holder, rule, key in _walk(before.content, after.content, ()):
        what = f"{pointer(*holder)[1:] or after.name}: its {key} has changed"
        yield changed(rule, after.name, place, what, anchor=anchor_of(after, place))
    for name in after.table("sequences").keys() - before.table("sequences").keys():
        yield _new(after, ("sequences", name), f"the sequence {name} is new")
    for table in TABLES:
        for name, node in before.table(table).items():
            if name not in after.table(table):
                yield _gone(before, (table, name), f"the page or row of {name}")
                continue
            members = after.table(table)[name].get("properties", {}) if table == "$defs" else {}
            for member in node.get("properties", {}) if table == "$defs" else ():
                if member not in members:
                    place = (table, name, "properties", member)
                    yield _gone(before, place, f"the anchor of {name}.{member}")


def _new(document: Document, place: Place, what: str) -> DocumentChange:
    anchor = anchor_of(document, place)
    return changed("sequence-added", document.name, place, what, anchor=anchor)


def _gone(document: Document, place: Place, what: str) -> DocumentChange:
    where = anchor_of(document, place)
    return changed("anchor-removed", document.name, place, f"{what} is gone: {where}", gone=True)


def _walk(old: Any, new: Any, place: Place) -> Iterator[tuple[Place, Place, str, str]]:
    """Yield where a word has changed, what it is about, its rule and which word it is."""
    if isinstance(old, dict) and isinstance(new, dict):
        # Members and entries may be called like the words of a document.
        named = bool(place) and place[-1] in {*TABLES, "properties"}
        for key in dict.fromkeys([*old, *new]):
            if key in RULES and not named:
                if old.get(key) != new.get(key):
                    yield ((*place, key) if key in new else place or (key,)), place, RULES[key], key
            elif key in old and key in new:
                yield from _walk(old[key], new[key], (*place, key))
    elif isinstance(old, list) and isinstance(new, list):
        for index, (one, other) in enumerate(zip(old, new, strict=False)):
            yield from _walk(one, other, (*place, index))
