"""The bindings of two sides: which names of Python are there, whatever goes over the wire."""

from __future__ import annotations

__all__ = ("NamedSides", "compare_names", "removed_package", "renamed_classes")

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kinwire_codegen.compare.anchors import anchor_of
from kinwire_codegen.compare.change import DocumentChange, changed
from kinwire_codegen.compare.deprecation import is_deprecated
from kinwire_codegen.compare.errors import renamed_errors
from kinwire_codegen.compare.members import renamed_members
from kinwire_codegen.compare.python_names import (
    attributes_of,
    constants_of,
    names_of_augments,
    names_of_rows,
)
from kinwire_codegen.compare.rows import Successors
from kinwire_codegen.compare.sides import Member, Side, Typed
from kinwire_codegen.compare.types import Pair
from kinwire_codegen.load.document import Document, Reference
from kinwire_codegen.load.findings import Place
from kinwire_codegen.load.names import class_name


def renamed_classes(old: Side, new: Side, pairs: Iterable[Pair]) -> dict[Reference, Reference]:
    """Return the new names of types that stand where they stood under another name."""
    found: dict[Reference, Reference] = {}
    for pair in sorted(pairs):
        if pair.old not in new.names and pair.new not in old.names:
            found.setdefault(pair.old, pair.new)
    return found


@dataclass(frozen=True, slots=True)
class NamedSides:
    """Two sides of one protocol, and what was found to stand for each other on them."""

    old: Side
    new: Side
    before: Document
    after: Document
    renamed: Mapping[Reference, Reference]
    """The new names of types."""
    successors: Successors


def compare_names(sides: NamedSides) -> Iterator[DocumentChange]:
    """Yield what changed in the names of one protocol's bindings."""
    before, after = sides.before, sides.after
    yield from _classes(before, after, sides.renamed)
    yield from _error_classes(before, after)
    yield from _rows(sides)
    yield from _augments(sides)
    yield from _attributes(sides)
    for name, place in constants_of(before).items():
        if name not in constants_of(after):
            yield _told("constant-removed", before, place, f"{name} is gone", gone=True)


def removed_package(document: Document) -> DocumentChange:
    """Return that the module of a protocol is gone."""
    what = f"the module {document.module} is gone"
    anchor = "README.md"  # nothing of its own is left
    return changed("name-removed", document.name, (), what, gone=True, anchor=anchor)


def _classes(
    before: Document, after: Document, renamed: Mapping[Reference, Reference]
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
            place, what = ("$defs", name), f"{name} is gone"
            yield _told("class-removed", before, place, what, gone=True)
            if not is_deprecated(before.definitions[name]) and not _went_along(name, before, after):
                what = f"{name} was not deprecated before it was removed"
                yield _told("removed-without-deprecation", before, place, what, gone=True)
    for name in after.definitions:
        if name not in before.definitions and name not in taken:
            yield _told("class-added", after, ("$defs", name), f"{name} is new")


def _went_along(name: str, before: Document, after: Document) -> bool:
    """Return whether a type is gone because everything that referred to it is gone."""
    places = [place for place, there in before.references if there == (before.name, name)]
    return bool(places) and not any(_is_there(after.content, place[:-1]) for place in places)


def _is_there(content: Any, place: Place) -> bool:
    try:
        for step in place:
            content = content[step]
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _error_classes(before: Document, after: Document) -> Iterator[DocumentChange]:
    renamed = renamed_errors(before, after)  # which are reported with the errors
    for name in before.table("errors"):
        if name not in after.table("errors") and name not in renamed:
            what = f"{class_name(name)} is gone"
            yield _told("class-removed", before, ("errors", name), what, gone=True)


def _rows(sides: NamedSides) -> Iterator[DocumentChange]:
    """Yield the stubs, handlers and rows that have another name now, or are gone."""
    olds, news = names_of_rows(sides.before), names_of_rows(sides.after)
    kept = {name for _, names in news.values() for name in names}
    for (table, wire), (attribute, names) in olds.items():
        gone = [name for name in names if name not in kept]
        if not gone:
            continue
        other = sides.successors.get((table, wire))
        is_now = attribute if other is None else news[table, other][0]
        if other is not None and is_now != attribute:
            what = f"{wire} was {attribute} in Python and is {is_now}"
            yield _told("name-changed", sides.after, (table, other), what)
        elif other is not None:
            yield _told("name-removed", sides.after, (table, other), _are_gone(gone))
        else:
            yield _told("name-removed", sides.before, (table, wire), _are_gone(gone), gone=True)


def _are_gone(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last} are gone" if others else f"{last} is gone"


def _augments(sides: NamedSides) -> Iterator[DocumentChange]:
    kept = set(names_of_augments(sides.after, sides.new).values())
    for index, name in names_of_augments(sides.before, sides.old).items():
        if name not in kept:
            place = ("augments", index)
            yield _told("name-removed", sides.before, place, f"{name} is gone", gone=True)


def _attributes(sides: NamedSides) -> Iterator[DocumentChange]:
    """Yield the attributes of classes that have another name now, or are gone."""
    for name in sides.before.definitions:
        was = Reference(sides.before.name, name)
        is_now = sides.renamed.get(was, was)
        old, new = sides.old.definition(was), sides.new.definition(is_now)
        if old is None or new is None:
            continue
        if old.node != new.node or "allOf" in new.node:
            yield from _attributes_of(sides, old, new)


def _attributes_of(sides: NamedSides, old: Typed, new: Typed) -> Iterator[DocumentChange]:
    olds, news = attributes_of(sides.old, old), attributes_of(sides.new, new)
    attributes = {wire: name for name, (wire, _) in news.items()}
    renamed = renamed_members(sides.old.members(old), sides.new.members(new))
    for name, (wire, member) in olds.items():
        if name in news or (member.kin and _goes_with_its_own_type(sides, wire, member)):
            continue
        other = wire if wire in attributes else renamed.get(wire)
        if other is None:
            what = f"{old.label}.{name} is gone"
            place = member.typed.place
            yield _told("field-removed", sides.before, place, what, gone=True)
        else:
            what = f"{old.label}.{name} is {new.label}.{attributes[other]} now"
            place = news[attributes[other]][1].typed.place
            yield _told("field-renamed", sides.after, place, what)


def _goes_with_its_own_type(sides: NamedSides, wire: str, member: Member) -> bool:
    """Return whether a field that a type extends is reported where its own type is compared."""
    was = Reference(member.typed.home, str(member.typed.place[1]))
    there = sides.new.definition(sides.renamed.get(was, was))
    return there is None or wire not in sides.new.members(there)


def _told(
    rule: str, document: Document, place: Place, what: str, *, gone: bool = False
) -> DocumentChange:
    anchor = anchor_of(document, () if gone else place)
    return changed(rule, document.name, place, what, gone=gone, anchor=anchor)
