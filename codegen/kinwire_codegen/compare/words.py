"""What only readers notice: words, sections, decisions, examples, and anchors that went away."""

from __future__ import annotations

__all__ = ("compare_words",)

from collections.abc import Iterator

from kinwire_codegen.compare.anchors import anchor_of
from kinwire_codegen.compare.change import DocumentChange, changed
from kinwire_codegen.compare.constructs import WORDS, Construct, Renamed, paired_constructs
from kinwire_codegen.load.document import TABLES, Document
from kinwire_codegen.load.findings import Place, pointer

VENDORS = "x-"


def compare_words(before: Document, after: Document, renamed: Renamed) -> Iterator[DocumentChange]:
    """Yield what changed for the readers of one protocol's reference."""
    for old, new in paired_constructs(before, after, renamed):
        yield from _texts(after, old, new)
    for name in after.table("sequences").keys() - before.table("sequences").keys():
        yield _new(after, ("sequences", name), f"the sequence {name} is new")
    yield from _anchors(before, after)


def _texts(document: Document, old: Construct, new: Construct) -> Iterator[DocumentChange]:
    for key in dict.fromkeys([*old.node, *new.node]):
        rule = _rule(new.kind, key)
        if rule and old.node.get(key) != new.node.get(key):
            place = (*new.place, key) if key in new.node else new.place or (key,)
            what = f"{pointer(*new.place)[1:] or document.name}: its {key} has changed"
            yield changed(rule, document.name, place, what, anchor=anchor_of(document, place))


def _anchors(before: Document, after: Document) -> Iterator[DocumentChange]:
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


def _rule(kind: str, key: str) -> str | None:
    """Return the rule for a word of a part; None if it is not for readers alone."""
    if kind == "type" and key == "format":
        return "annotation-only"
    return WORDS.get(key) or ("extension-changed" if key.startswith(VENDORS) else None)


def _new(document: Document, place: Place, what: str) -> DocumentChange:
    anchor = anchor_of(document, place)
    return changed("sequence-added", document.name, place, what, anchor=anchor)


def _gone(document: Document, place: Place, what: str) -> DocumentChange:
    where = anchor_of(document, place)
    return changed("anchor-removed", document.name, place, f"{what} is gone: {where}", gone=True)
