"""The members of two objects brought together: by name, and renamed ones by type and like name."""

from __future__ import annotations

__all__ = ("Meeting", "alike", "is_constant", "paired_members", "shape_of")

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from kinwire_codegen.compare.sides import Member

WORDS = frozenset({"description", "x-decision", "examples", "deprecated", "format", "default"})
"""What says nothing about which values are taken."""
LIKE = 0.6  # of names: `file` and `fileName` are alike, `ttl` and `scope` are not


@dataclass(frozen=True, slots=True)
class Meeting:
    """A member on each side; None where it is missing."""

    old: Member | None
    new: Member | None
    renamed: int = 0
    """How like the two are, in per cent, if they have different names; 0 for one name."""


def paired_members(
    old: Mapping[str, Member], new: Mapping[str, Member]
) -> Iterator[tuple[str, Meeting]]:
    """Yield every member by its newest name."""
    renamed = _renamed(old, new)
    for name, member in new.items():
        if name in renamed:
            before, share = renamed[name]
            yield name, Meeting(old[before], member, share)
        else:
            yield name, Meeting(old.get(name), member)
    taken = {before for before, _ in renamed.values()}
    yield from ((name, Meeting(old[name], None)) for name in old if name not in {*new, *taken})


def _renamed(old: Mapping[str, Member], new: Mapping[str, Member]) -> dict[str, tuple[str, int]]:
    """Return what new names were called, with how like the two are; likest names come first."""
    gone = {name: shape_of(old[name].typed.node) for name in old if name not in new}
    fresh = {name: shape_of(new[name].typed.node) for name in new if name not in old}
    like = sorted(
        (-share, before, after)
        for before, shape in gone.items()
        for after, other in fresh.items()
        if other == shape and new[after].required == old[before].required
        for share in [alike(before, after)]
        if share >= LIKE
    )
    found: dict[str, tuple[str, int]] = {}
    for share, before, after in like:
        if after not in found and before not in {name for name, _ in found.values()}:
            found[after] = (before, round(100 * (1 - share) / 2))
    return found


def alike(one: str, other: str) -> float:
    """Return how like two names are, from 0 to 1, whatever their case and dashes."""
    first, second = ("".join(filter(str.isalnum, name)).lower() for name in (one, other))
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def shape_of(node: dict[str, Any]) -> str:
    """Return which values a type takes as text that two like types share."""
    return json.dumps(_bare(node), sort_keys=True)


def _bare(node: Any) -> Any:
    if isinstance(node, list):
        return [_bare(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    found = {}
    for key, value in node.items():
        if key == "properties":
            found[key] = {name: _bare(inner) for name, inner in value.items()}
        elif key not in WORDS:
            found[key] = _bare(value)
    return found


def is_constant(member: Member) -> bool:
    """Return whether readers fill the member in where it is absent."""
    return "const" in member.typed.node
