"""Two types compared: what one takes and the other does not, at each place.

Pairs of named types are compared once; `flows.py` says on which ways each pair is sent.
"""

from __future__ import annotations

__all__ = ("Pair", "Raw", "TypeComparison")

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kinwire_codegen.compare.alternatives import (
    ANY,
    Alternative,
    alternatives,
    of_kind,
    uncovered,
)
from kinwire_codegen.compare.deprecation import is_deprecated, is_deprecated_value
from kinwire_codegen.compare.groups import changed_groups
from kinwire_codegen.compare.kinds import changed_kinds, unlisted_values
from kinwire_codegen.compare.members import Meeting, paired_members
from kinwire_codegen.compare.nearest_bounds import nearest_bounds
from kinwire_codegen.compare.others import closed, is_closed, typed_fields, value_of
from kinwire_codegen.compare.sides import Member, Side, Typed
from kinwire_codegen.compare.unions import changed_telling, matched_objects, told_object
from kinwire_codegen.load.bounds import own_bounds
from kinwire_codegen.load.document import Reference, all_types, resolve

TOP = 2  # steps to a definition
COMPOSED = frozenset({"anyOf", "oneOf", "allOf", "shorthand"})
"""Words of types that take what they refer to apart."""
PLAIN = frozenset({"type", "description", "default", "deprecated", "examples", "format"})
"""Words of types that say all about their values: two with the same ones are alike."""


class Pair(NamedTuple):
    """A named type and what stands in its place."""

    old: Reference
    new: Reference
    by_position: bool = False
    """Whether the fields are sent as an array, in their order."""


@dataclass(frozen=True)
class Raw:
    """A change before it is known on which ways the type is sent."""

    rule: str
    at: Typed
    """Where: in the new documents, or in the old ones if it is `gone`."""
    what: str
    gone: bool = False
    kinds: tuple[Reference, Reference] | None = None
    """The names that a member's type had and has, if that is all that changed."""


@dataclass
class TypeComparison:
    """What was found of the types of two sides."""

    old: Side
    new: Side
    found: dict[Pair, list[Raw]] = field(default_factory=dict)
    inner: dict[Pair, set[Pair]] = field(default_factory=dict)
    """The pairs that stand inside a pair."""

    def compare(self, start: Pair) -> None:
        """Compare a pair and every pair inside it."""
        waiting = [start]
        while waiting:
            pair = waiting.pop()
            if pair in self.found:
                continue
            self.found[pair], self.inner[pair] = [], set()
            old, new = self.old.definition(pair.old), self.new.definition(pair.new)
            if old is None or new is None:
                continue
            if pair.old == pair.new and _is_alike(old, new):
                self.inner[pair] = {Pair(there, there) for there in _references(new)}
            else:
                comparison = _PairComparison(self.old, self.new, by_position=pair.by_position)
                self.found[pair] = list(comparison.definitions(old, new))
                self.inner[pair] = comparison.inner
            waiting += self.inner[pair]


class _PairComparison:
    """The comparison of one pair."""

    def __init__(self, old: Side, new: Side, *, by_position: bool) -> None:
        self._old, self._new, self._by_position = old, new, by_position
        self.inner: set[Pair] = set()

    def definitions(self, old: Typed, new: Typed) -> Iterator[Raw]:
        yield from self._nodes(old, new, top=True)
        yield from _default(old, new)

    def _nodes(self, old: Typed, new: Typed, *, top: bool = False) -> Iterator[Raw]:
        was, is_now = self._old.named(old), self._new.named(new)
        if was is not None and is_now is not None and not top:
            bounds = own_bounds(old.node), own_bounds(new.node)
            if not any(bounds) or (was == is_now and bounds[0] == bounds[1]):
                yield from self._pair(was, is_now, new)
                return
            old, new = self._old.written_out(old), self._new.written_out(new)
        if old.node == new.node and old.node.keys() <= PLAIN:
            return
        before, after = alternatives(self._old, old), alternatives(self._new, new)
        lost = uncovered(before, after)
        gained = [one for one in uncovered(after, before) if not one.only_read]
        for rule, what in changed_kinds(before, after, lost, gained, new.label):
            yield Raw(rule, new, what)
            if rule == "values-removed":
                yield from _removed_values(lost, new)
        for rule, what in unlisted_values(before, after, new.label):
            yield Raw(rule, new, what)
        for rule, where, what in nearest_bounds(before, after, new, (lost, gained)):
            yield Raw(rule, where, what)
        yield from self._arrays(before, after)
        yield from self._objects(before, after, new)

    def _pair(self, old: Reference, new: Reference, where: Typed) -> Iterator[Raw]:
        self.inner.add(Pair(old, new))
        # Two names of one union are one type to a type checker; two classes are not.
        classes = self._old.object_named(old), self._new.object_named(new)
        if old != new and any(classes):
            what = f"{where.label} is {new.name} in Python, and was {old.name}"
            yield Raw("annotation-changed", where, what, kinds=(old, new))

    def _arrays(self, before: Sequence[Alternative], after: Sequence[Alternative]) -> Iterator[Raw]:
        for one, other in zip(of_kind(before, "array"), of_kind(after, "array"), strict=False):
            yield from self._nodes(_items(one.typed), _items(other.typed))

    def _objects(
        self, before: Sequence[Alternative], after: Sequence[Alternative], new: Typed
    ) -> Iterator[Raw]:
        olds, news = of_kind(before, "object"), of_kind(after, "object")
        if not olds or not news:
            return  # `changed_kinds` has reported that the kind was added or removed
        matches = matched_objects(self._old, self._new, olds, news)
        for rule, what in changed_telling(self._old, self._new, matches, new.label):
            yield Raw(rule, new, what)
        for one, other in matches:
            if one is not None and other is not None:
                yield from self._two_objects(one, other, new)
            elif other is not None and not of_kind(before, ANY):
                what = f"{new.label} may be {told_object(self._new, other)}"
                yield Raw("variant-added", new, what)
            elif one is not None and not of_kind(after, ANY):
                what = f"{new.label} may not be {told_object(self._old, one)} now"
                yield Raw("variant-removed", new, what)

    def _two_objects(self, one: Alternative, other: Alternative, new: Typed) -> Iterator[Raw]:
        if one.reference and other.reference:
            yield from self._pair(one.reference, other.reference, new)
            return
        old, other_new = one.typed, other.typed
        if self._by_position and len(other_new.place) == TOP:
            yield from self._positions(old, other_new)
            return
        yield from self._members(old, other_new)
        if is_closed(old) != is_closed(other_new):
            yield Raw(*closed(other_new))
        elif not is_closed(old):
            yield from self._nodes(value_of(old), value_of(other_new))
        required = self._old.required(old), self._new.required(other_new)
        for rule, what in changed_groups(old.node, other_new.node, required):
            yield Raw(rule, other_new, f"{other_new.label}: {what}")

    def _members(self, old: Typed, new: Typed) -> Iterator[Raw]:
        olds, news = self._old.members(old), self._new.members(new)
        olds = typed_fields(old, self._old.required(old), news) | olds
        news = typed_fields(new, self._new.required(new), olds) | news
        for name, meeting in paired_members(olds, news):
            if meeting.old is None and meeting.new is not None:
                yield from _added(meeting.new, old)
            elif meeting.old is not None and meeting.new is None:
                yield from _removed(meeting.old, old, new)
            else:
                yield from self._meeting(name, meeting)

    def _positions(self, old: Typed, new: Typed) -> Iterator[Raw]:
        """Yield what changed in fields that are sent as an array: their names are not sent."""
        olds, news = self._old.members(old), self._new.members(new)
        places = {name: number for number, name in enumerate(olds)}
        moved = [name for number, name in enumerate(news) if places.get(name, number) != number]
        if moved:
            what = f"{new.label}: {', '.join(moved)} is at another position now"
            yield Raw("positions-changed", new, what)
            for name in (one for one in olds if one in news):
                yield from self._meeting(name, Meeting(olds[name], news[name]))
            return
        before, after = list(olds.values()), list(news.values())
        for one, other in zip(before, after, strict=False):
            yield from self._meeting("", Meeting(one, other))
        for member in after[len(before) :]:
            what = f"{member.typed.label} is a new position"
            yield Raw("positions-widened", member.typed, what)
            if member.required:
                yield from _added(member, old)
        for member in before[len(after) :]:
            what = f"{member.typed.label} is not a position any more"
            yield Raw("positions-narrowed", member.typed, what, gone=True)
            if member.required:
                yield from _removed(member, old, new)

    def _meeting(self, name: str, meeting: Meeting) -> Iterator[Raw]:
        old, new = meeting.old, meeting.new
        if old is None or new is None:
            return
        if meeting.renamed:
            what = f"{old.typed.label} is {name} now? ({meeting.renamed} % same shape)"
            yield Raw("member-renamed", new.typed, what)
        yield from _required(old, new)
        yield from self._nodes(old.typed, new.typed)
        yield from _default(old.typed, new.typed)


def _is_alike(old: Typed, new: Typed) -> bool:
    """Return whether two types are the same if all types that they refer to are."""
    for node, _ in all_types(new.node, ()):
        if node.keys() & COMPOSED:
            return False
    return json.dumps(old.node) == json.dumps(new.node)


def _references(typed: Typed) -> Iterator[Reference]:
    for node, _ in all_types(typed.node, ()):
        if "$ref" in node:
            yield resolve(node["$ref"], typed.home)


def _added(member: Member, old: Typed) -> Iterator[Raw]:
    where = member.typed
    if is_closed(old):
        what = f"{where.label} is new, and old readers refuse fields that they do not know"
        yield Raw("member-added-to-closed", where, what)
        if not member.required:
            return
    rule = "required-member-added" if member.required else "optional-member-added"
    word = "required" if member.required else "optional"
    yield Raw(rule, where, f"{where.label} is new and {word}")


def _removed(member: Member, old: Typed, new: Typed) -> Iterator[Raw]:
    where = member.typed
    if is_closed(new):
        what = f"{where.label} is gone, and new readers refuse fields that they do not know"
        yield Raw("member-removed-from-closed", where, what, gone=True)
    if member.required or not is_closed(new):
        rule = "required-member-removed" if member.required else "optional-member-removed"
        yield Raw(rule, where, f"{where.label} is gone", gone=True)
    if not is_deprecated(where.node) and not is_deprecated(old.node):
        what = f"{where.label} was not deprecated before it was removed"
        yield Raw("removed-without-deprecation", where, what, gone=True)


def _removed_values(lost: Sequence[Alternative], new: Typed) -> Iterator[Raw]:
    values = [
        one.words
        for one in lost
        if one.kind == "value" and not is_deprecated_value(one.typed.node, one.value)
    ]
    if values:
        verb = "was" if len(values) == 1 else "were"
        what = f"{new.label}: {', '.join(values)} {verb} not deprecated before"
        yield Raw("removed-without-deprecation", new, what)


def _required(old: Member, new: Member) -> Iterator[Raw]:
    if old.required != new.required:
        word = "required" if new.required else "optional"
        yield Raw(f"member-now-{word}", new.typed, f"{new.typed.label} is {word} now")


def _default(old: Typed, new: Typed) -> Iterator[Raw]:
    # As text, because True is 1 to Python; null is not the lack of a default.
    texts = [
        json.dumps(side.node["default"]) if "default" in side.node else "" for side in (old, new)
    ]
    if texts[0] != texts[1]:
        yield Raw("default-changed", new, f"{new.label} has another default")


def _items(typed: Typed) -> Typed:
    """Return the type of the items of an array."""
    node = typed.node.get("items", {})
    place = (*typed.place, "items")
    return typed._replace(node=node, place=place, label=f"an item of {typed.label}")
