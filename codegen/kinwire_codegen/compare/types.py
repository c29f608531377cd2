"""Two types compared: what one takes and the other does not, at each place.

Pairs of named types are compared once; `flows.py` says on which ways each pair is sent.
"""

from __future__ import annotations

__all__ = ("Pair", "Raw", "TypeComparison")

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kinwire_codegen.compare.alternatives import ANY, Alternative, alternatives, of_kind
from kinwire_codegen.compare.kinds import changed_kinds, unlisted_values
from kinwire_codegen.compare.members import Meeting, paired_members
from kinwire_codegen.compare.nearest_bounds import nearest_bounds
from kinwire_codegen.compare.sides import Member, Side, Typed
from kinwire_codegen.compare.unions import changed_telling, matched_objects, told_object
from kinwire_codegen.load.document import Reference


class Pair(NamedTuple):
    """A named type and what stands in its place."""

    old: Reference
    new: Reference


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
            if old is not None and new is not None:
                comparison = _PairComparison(self.old, self.new)
                self.found[pair] = list(comparison.definitions(old, new))
                self.inner[pair] = comparison.inner
            waiting += self.inner[pair]


class _PairComparison:
    """The comparison of one pair."""

    def __init__(self, old: Side, new: Side) -> None:
        self._old, self._new = old, new
        self.inner: set[Pair] = set()

    def definitions(self, old: Typed, new: Typed) -> Iterator[Raw]:
        yield from self._nodes(old, new, top=True)
        yield from _words(old, new)

    def _nodes(
        self,
        old: Typed,
        new: Typed,
        *,
        optional: tuple[bool, bool] = (False, False),
        top: bool = False,
    ) -> Iterator[Raw]:
        names = self._old.named(old), self._new.named(new)
        if names[0] is not None and names[1] is not None and not top:
            yield from self._pair(names[0], names[1], new)
            return
        before, after = alternatives(self._old, old), alternatives(self._new, new)
        for rule, what in changed_kinds(before, after, new.label, optional=optional):
            yield Raw(rule, new, what)
        for rule, what in unlisted_values(before, after, new.label):
            yield Raw(rule, new, what)
        for rule, where, what in nearest_bounds(before, after):
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
            yield from self._nodes(_inside(one.typed, "items"), _inside(other.typed, "items"))

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
        yield from self._members(one.typed, other.typed)
        values = [_inside(side.typed, "additionalProperties") for side in (one, other)]
        if values[0].node != values[1].node or values[0].node:
            yield from self._nodes(values[0], values[1])
        together = [_together(side.typed.node) for side in (one, other)]
        if together[0] != together[1]:
            what = f"which members of {other.typed.label} go together has changed"
            rules = [("bounds-tightened", together[1]), ("bounds-loosened", together[0])]
            yield from (Raw(rule, other.typed, what) for rule, groups in rules if groups)
        closed = [side.typed.node.get("additionalProperties") is False for side in (one, other)]
        if closed[0] != closed[1]:
            word = "refuses" if closed[1] else "takes"
            what = f"{other.typed.label} {word} other members now"
            yield Raw("validators-only", other.typed, what)

    def _members(self, old: Typed, new: Typed) -> Iterator[Raw]:
        olds, news = self._old.members(old), self._new.members(new)
        for name, meeting in paired_members(_in_map(old, news) | olds, _in_map(new, olds) | news):
            yield from self._meeting(name, meeting)

    def _meeting(self, name: str, meeting: Meeting) -> Iterator[Raw]:
        old, new = meeting.old, meeting.new
        if old is None and new is not None:
            rule = "required-member-added" if new.required else "optional-member-added"
            word = "required" if new.required else "optional"
            yield Raw(rule, new.typed, f"{new.typed.label} is new and {word}")
        elif new is None and old is not None:
            rule = "required-member-removed" if old.required else "optional-member-removed"
            yield Raw(rule, old.typed, f"{old.typed.label} is gone", gone=True)
        elif old is not None and new is not None:
            if meeting.renamed:
                what = f"{old.typed.label} is {name} now? ({meeting.renamed} % same shape)"
                yield Raw("member-renamed", new.typed, what)
            yield from _required(old, new)
            optional = (not old.required, not new.required)
            yield from self._nodes(old.typed, new.typed, optional=optional)
            yield from _words(old.typed, new.typed)


def _required(old: Member, new: Member) -> Iterator[Raw]:
    if old.required != new.required:
        word = "required" if new.required else "optional"
        yield Raw(f"member-now-{word}", new.typed, f"{new.typed.label} is {word} now")


def _words(old: Typed, new: Typed) -> Iterator[Raw]:
    if old.node.get("default") != new.node.get("default"):
        yield Raw("default-changed", new, f"{new.label} has another default")
    if new.node.get("deprecated") and not old.node.get("deprecated"):
        yield Raw("member-deprecated", new, f"{new.label} is deprecated")


def _together(node: dict[str, Any]) -> list[list[str]]:
    """Return the groups of members of which one has to be there."""
    branches = (branch for key in ("anyOf", "oneOf") for branch in node.get(key, ()))
    return [sorted(branch["required"]) for branch in branches if set(branch) == {"required"}]


def _in_map(typed: Typed, names: Iterable[str]) -> dict[str, Member]:
    """Return what a map may have under the names of the other side's members; nothing if none."""
    if typed.node.keys() & {"properties", "allOf"}:
        return {}
    value = _inside(typed, "additionalProperties")
    return {
        name: Member(value._replace(label=f"{typed.label}.{name}"), False, False) for name in names
    }


def _inside(typed: Typed, key: str) -> Typed:
    """Return the type of the items or of the values that have no name."""
    node = typed.node.get(key)
    word = "an item" if key == "items" else "a value"
    found = node if isinstance(node, dict) else {}
    return Typed(found, typed.home, (*typed.place, key), f"{word} of {typed.label}")
