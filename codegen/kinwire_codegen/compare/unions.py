"""Objects of two unions: which correspond to each other, and what distinguishes them."""

from __future__ import annotations

__all__ = ("changed_telling", "matched_objects", "told_object")

from collections.abc import Iterator, Sequence
from typing import Any

from kinwire_codegen.compare.alternatives import Alternative
from kinwire_codegen.compare.members import shape_of
from kinwire_codegen.compare.sides import Side, Typed

LIKE = 0.7  # of the members of two objects, for them to be one under another name

Match = tuple[Alternative | None, Alternative | None]
"""An object on each side; None where it stands alone."""


def matched_objects(
    old: Side, new: Side, olds: Sequence[Alternative], news: Sequence[Alternative]
) -> list[Match]:
    """Return the objects that stand for each other, and then those that stand alone."""
    left, right = list(olds), list(news)
    if len(left) == len(right) == 1:
        return [(left[0], right[0])]
    found: list[Match] = []
    for same in (_same_names, _same_tags, _renamed):
        for one in list(left):
            other = next((each for each in right if same(old, new, one, each)), None)
            if other is not None:
                left.remove(one)
                right.remove(other)
                found.append((one, other))
    return [*found, *((one, None) for one in left), *((None, other) for other in right)]


def changed_telling(
    old: Side, new: Side, matches: Sequence[Match], label: str
) -> Iterator[tuple[str, str]]:
    """Yield that readers of one side look for a member which the other side need not write."""
    both = [
        (one, other)
        for one, other in matches
        if one is not None and other is not None and one.tag != other.tag
    ]
    looked_for = sorted(
        {
            other.tag
            for one, other in both
            if other.tag is not None and other.tag not in _tags(old, one.typed)
        }
    )
    missed = [
        (one.tag, other)
        for one, other in both
        if one.tag is not None and one.tag not in _tags(new, other.typed)
    ]
    before = " and ".join(sorted({tag for tag, _ in missed}))
    after = " and ".join(looked_for)
    if before and after:
        what = f"the objects of {label} were distinguished by {before} and are now by {after}"
        yield "discriminator-changed", what
    elif after:
        yield "tag-now-required", f"the objects of {label} are now distinguished by {after}"
    elif any(tag not in new.members(other.typed) for tag, other in missed):
        yield "tag-removed", f"the objects of {label} were distinguished by {before}, which is gone"
    elif before:
        what = f"the objects of {label} were distinguished by {before}, which is optional now"
        yield "tag-now-optional", what


def told_object(side: Side, one: Alternative) -> str:
    """Return a kind of object by its name and the constants that tell it from others."""
    tags = [f"{name} {value!r}" for name, value in _tags(side, one.typed).items()]
    return one.words + (f" ({', '.join(tags)})" if tags else "")


def _same_names(old: Side, new: Side, one: Alternative, other: Alternative) -> bool:
    if one.reference is None and other.reference is None:
        return shape_of(one.typed.node) == shape_of(other.typed.node)
    return one.reference == other.reference


def _same_tags(old: Side, new: Side, one: Alternative, other: Alternative) -> bool:
    tags = _tags(old, one.typed)
    return bool(tags) and tags == _tags(new, other.typed)


def _renamed(old: Side, new: Side, one: Alternative, other: Alternative) -> bool:
    if one.reference in new.names or other.reference in old.names:
        return False
    olds, news = old.members(one.typed).keys(), new.members(other.typed).keys()
    return len(olds & news) >= LIKE * max(len(olds | news), 1)


def _tags(side: Side, typed: Typed) -> dict[str, Any]:
    """Return the constants that stand in every object of a type."""
    return {
        name: member.typed.node["const"]
        for name, member in side.members(typed).items()
        if member.required and "const" in member.typed.node
    }
