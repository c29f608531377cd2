"""The bindings of two sides: which names of Python are there, whatever goes over the wire."""

from __future__ import annotations

__all__ = ("compare_names", "renamed_classes")

from collections.abc import Iterable, Iterator

from kinwire_codegen.compare.anchors import anchor_of
from kinwire_codegen.compare.change import DocumentChange, changed
from kinwire_codegen.compare.sides import Side
from kinwire_codegen.compare.types import Pair
from kinwire_codegen.document import CONSTANTS, Document, Reference
from kinwire_codegen.findings import Place
from kinwire_codegen.names import class_name, constant_name, snake_name


def renamed_classes(old: Side, new: Side, pairs: Iterable[Pair]) -> dict[Reference, Reference]:
    """Return the new names of types that stand where they stood under another name."""
    found: dict[Reference, Reference] = {}
    for pair in sorted(pairs):
        if pair.old not in new.names and pair.new not in old.names:
            found.setdefault(pair.old, pair.new)
    return found


def compare_names(
    before: Document, after: Document, renamed: dict[Reference, Reference]
) -> Iterator[DocumentChange]:
    """Yield what changed in the names of one protocol's bindings."""
    yield from _classes(before, after, renamed)
    yield from _error_classes(before, after)
    for table in CONSTANTS:
        for name in before.table(table):
            if name not in after.table(table):
                what = f"tables.{constant_name(name)} is gone"
                yield _told("constant-removed", before, (table, name), what, gone=True)
    for name in before.table("tools"):
        was, is_now = (_attribute(document, name) for document in (before, after))
        if name in after.table("tools") and was != is_now:
            what = f"{name} was {was} in Python and is {is_now}"
            yield _told("name-changed", after, ("tools", name), what)


def _classes(
    before: Document, after: Document, renamed: dict[Reference, Reference]
) -> Iterator[DocumentChange]:
    taken = {new.name for new in renamed.values() if new.protocol == after.name}
    for name in before.definitions:
        there = renamed.get(Reference(before.name, name))
        if there is not None:
            place = ("$defs", there.name)
            if there.protocol == after.name:
                what = f"{name} is {there.name} now"
                yield _told("class-renamed", after, place, what)
        elif name not in after.definitions:
            what = f"{name} is gone"
            yield _told("class-removed", before, ("$defs", name), what, gone=True)
    for name in after.definitions:
        if name not in before.definitions and name not in taken:
            yield _told("class-added", after, ("$defs", name), f"{name} is new")


def _error_classes(before: Document, after: Document) -> Iterator[DocumentChange]:
    codes = {error["code"] for error in after.table("errors").values()}
    for name, error in before.table("errors").items():
        # An error whose code still exists is reported as renamed, or its code as reused.
        if name not in after.table("errors") and error["code"] not in codes:
            what = f"{class_name(name)} is gone"
            yield _told("class-removed", before, ("errors", name), what, gone=True)


def _attribute(document: Document, tool: str) -> str:
    methods = {snake_name(wire) for wire in document.content["methods"]}
    return snake_name(tool) + ("_tool" if snake_name(tool) in methods else "")


def _told(
    rule: str, document: Document, place: Place, what: str, *, gone: bool = False
) -> DocumentChange:
    anchor = anchor_of(document, () if gone else place)
    return changed(rule, document.name, place, what, gone=gone, anchor=anchor)
