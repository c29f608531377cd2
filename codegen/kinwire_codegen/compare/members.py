"""The members of two objects brought together: by name, and renamed ones by type and like name."""

from __future__ import annotations

__all__ = ("Meeting", "paired_members", "renamed_members", "shape_of")

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kinwire_codegen.compare.likeness import likest
from kinwire_codegen.compare.sides import Member
from kinwire_codegen.load.notes import is_note

Form = tuple[str, bool]
"""The type of a member, as text, and whether it is required."""
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


def renamed_members(old: Mapping[str, Member], new: Mapping[str, Member]) -> dict[str, str]:
    """Return the new names of members that have another name."""
    return {before: after for after, (before, _) in _renamed(old, new).items()}


def _renamed(old: Mapping[str, Member], new: Mapping[str, Member]) -> dict[str, tuple[str, int]]:
    """Return what new names were called, with how like the two are; likest names come first."""
    gone, fresh = _by_form(old, new), _by_form(new, old)
    return {
        after: (before, round(100 * (1 + share) / 2))
        for form, names in gone.items()
        for after, (before, share) in likest(names, fresh.get(form, []), LIKE).items()
    }


def _by_form(members: Mapping[str, Member], others: Mapping[str, Member]) -> dict[Form, list[str]]:
    """Return the names that the other side does not have, by what can be renamed to each other."""
    found: dict[Form, list[str]] = {}
    for name, member in members.items():
        if name not in others:
            found.setdefault((shape_of(member.typed.node), member.required), []).append(name)
    return found


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
        elif not is_note(key):
            found[key] = _bare(value)
    return found
