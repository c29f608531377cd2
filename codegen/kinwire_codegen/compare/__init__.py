"""What changed between two sets of documents, and who breaks. Pure: it reads no file.

`verdict.py` and `rules/` hold the judgement as data; `types.py`, `rows.py` and their like find
what changed; here it is put together.
"""

from __future__ import annotations

__all__ = ("Comparison", "DocumentChange", "compare")

from collections.abc import Iterator
from dataclasses import dataclass

from kinwire_codegen.compare.anchors import anchor_of
from kinwire_codegen.compare.augments import compare_augments
from kinwire_codegen.compare.change import DocumentChange, changed
from kinwire_codegen.compare.constructs import Renamed
from kinwire_codegen.compare.data import compare_data
from kinwire_codegen.compare.deprecation import compare_deprecations
from kinwire_codegen.compare.errors import compare_errors, renamed_errors
from kinwire_codegen.compare.flows import Roots, data_flow, library_roots, other_roots, spread
from kinwire_codegen.compare.head import compare_head
from kinwire_codegen.compare.leftover import compare_leftover
from kinwire_codegen.compare.names import (
    NamedSides,
    compare_names,
    removed_package,
    renamed_classes,
)
from kinwire_codegen.compare.rows import Successors, compare_rows
from kinwire_codegen.compare.sides import Side
from kinwire_codegen.compare.types import Pair, Raw, TypeComparison
from kinwire_codegen.compare.verdict import Category, Flow, Way
from kinwire_codegen.compare.words import compare_words
from kinwire_codegen.load.document import Document, Documents, Reference, resolve
from kinwire_codegen.load.places import at

UNSENT = ("tables/*/type", "machines/*/states", "grpc/messages/*/of", "grpc/enums/*/of")
"""Where a document names types that no peer sends as they are."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that changed."""

    changes: tuple[DocumentChange, ...]
    versions: dict[str, tuple[str, str]]
    """The versions of the protocols that are on both sides."""

    def of(self, *categories: Category) -> list[DocumentChange]:
        """Return the changes of these categories."""
        return [change for change in self.changes if change.rule.category in categories]


def compare(old: Documents, new: Documents, protocols: tuple[str, ...] | None = None) -> Comparison:
    """Return what changed from `old` to `new`, in `protocols` (default: those that either chose).

    The documents need no lint: what leads nowhere in them is any value.
    """
    named = protocols or tuple(sorted({*old.chosen, *new.chosen}))
    sides = Side(old), Side(new)
    both = [
        (before, after)
        for name in named
        if (before := sides[0].document(name)) and (after := sides[1].document(name))
    ]
    assembly = _Assembly(*sides)
    found = [*_came_and_went(*sides, named), *assembly.changes(both)]
    for before, after in both:
        found += [*compare_leftover(before, after, assembly.new_names[after.name], found)]
    unique = {change.order: change for change in found}
    return Comparison(
        tuple(sorted(unique.values(), key=lambda change: change.order)),
        {
            after.name: (before.content["version"], after.content["version"])
            for before, after in both
        },
    )


def _came_and_went(old: Side, new: Side, named: tuple[str, ...]) -> Iterator[DocumentChange]:
    for name in named:
        before, after = old.document(name), new.document(name)
        if before is not None and after is None:
            flow = data_flow(before, name, Way.REQUEST)
            what = f"the protocol {name} is gone"
            anchor = "README.md"  # nothing of its own is left
            yield changed(
                "protocol-removed", name, (), what, flows=[flow], gone=True, anchor=anchor
            )
            yield removed_package(before)
        elif after is not None and before is None:
            anchor = anchor_of(after, ())
            yield changed("protocol-added", name, (), f"the protocol {name} is new", anchor=anchor)


class _Assembly:
    """The types of all rows, compared once, with the ways on which they are sent."""

    def __init__(self, old: Side, new: Side) -> None:
        self._old, self._new = old, new
        self._types = TypeComparison(old, new)
        self._roots: Roots = {}
        self._successors: dict[str, Successors] = {}
        self.new_names: dict[str, Renamed] = {}
        """What has another name now, by protocol; known once the changes are."""

    def changes(self, both: list[tuple[Document, Document]]) -> Iterator[DocumentChange]:
        for before, after in both:
            yield from self._except_types(before, after)
        for pair, flow in library_roots(self._old, self._new):
            self._root(pair, flow)
        for pair in list(self._roots):
            self._types.compare(pair)
        self._unreached(both)
        for pair in list(self._roots):
            self._types.compare(pair)
        flows = spread(self._roots, self._types.inner)
        renamed = renamed_classes(self._old, self._new, self._types.found)
        names = {after.name for _, after in both}
        yield from self._of_types(flows, renamed, names)
        for before, after in both:
            yield from compare_data(before, after, renamed)
            successors = self._successors[after.name]
            sides = NamedSides(self._old, self._new, before, after, renamed, successors)
            yield from compare_names(sides)
            new_names = self.new_names[after.name] = self._new_names(after.name, renamed)
            yield from compare_deprecations(before, after, new_names)
            yield from compare_words(before, after, new_names)

    def _new_names(self, protocol: str, renamed: dict[Reference, Reference]) -> Renamed:
        """Return the new names of what one protocol's document has under another name now."""
        types = {
            ("$defs", old.name): new.name
            for old, new in renamed.items()
            if old.protocol == new.protocol == protocol
        }
        errors = renamed_errors(self._old.documents[protocol], self._new.documents[protocol])
        rows = {key: name for key, name in self._successors[protocol].items() if name}
        return types | {("errors", old): new for old, new in errors.items()} | rows

    def _except_types(self, before: Document, after: Document) -> Iterator[DocumentChange]:
        rows = compare_rows(self._old, self._new, before, after)
        self._successors[after.name] = rows.successors
        augments = compare_augments(before, after)
        for pair, flow in (*rows.pairs, *augments.pairs):
            self._root(pair, flow)
        for pair, flow in other_roots(self._old, self._new, after):
            self._root(pair, flow)
        yield from (*rows.changes, *augments.changes)
        yield from compare_errors(before, after)
        yield from compare_head(before, after)

    def _root(self, pair: Pair, flow: Flow) -> None:
        self._roots.setdefault(pair, set()).add(flow)

    def _unreached(self, both: list[tuple[Document, Document]]) -> None:
        """Take up the types that no peer sends as they are: they have no way of their own."""
        reached = {pair.old for pair in self._types.found if pair.old == pair.new}
        for reference in (self._old.names & self._new.names) - reached:
            self._roots.setdefault(Pair(reference, reference), set())
        for before, after in both:
            olds = {place: text for one in UNSENT for place, text in at(before.content, one)}
            for place, text in (found for one in UNSENT for found in at(after.content, one)):
                if place in olds:
                    was, is_now = (resolve(one, after.name) for one in (olds[place], text))
                    self._roots.setdefault(Pair(was, is_now), set())

    def _of_types(
        self, flows: Roots, renamed: dict[Reference, Reference], names: set[str]
    ) -> Iterator[DocumentChange]:
        met: dict[tuple[str, str, str, str, bool], tuple[Raw, set[Flow]]] = {}
        for pair, found in self._types.found.items():
            for raw in found:
                if raw.at.home in names and not _is_renaming(raw, renamed):
                    key = (raw.rule, raw.at.home, str(raw.at.place), raw.what, raw.gone)
                    met.setdefault(key, (raw, set()))[1].update(flows.get(pair, ()))
        for raw, ways in met.values():
            yield self._told(raw, ways)

    def _told(self, raw: Raw, ways: set[Flow]) -> DocumentChange:
        home, place, gone = raw.at.home, raw.at.place, raw.gone
        # A removed entry has no anchor: link the page of its type, or the protocol's.
        there = place[:2] if gone else place
        document = self._new.documents[home]
        known = not gone or there[1] in document.definitions
        anchor = anchor_of(document, there if known else ())
        return changed(raw.rule, home, place, raw.what, flows=ways, gone=gone, anchor=anchor)


def _is_renaming(raw: Raw, renamed: dict[Reference, Reference]) -> bool:
    """Return whether a member only follows a type that is reported as renamed."""
    return raw.kinds is not None and renamed.get(raw.kinds[0]) == raw.kinds[1]
