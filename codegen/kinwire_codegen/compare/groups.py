"""Groups of fields of which one has to be there: `"anyOf": [{"required": [...]}, ...]`."""

from __future__ import annotations

__all__ = ("changed_groups",)

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from kinwire_codegen.load.object_parts import is_group

MANY = 12  # fields: all 4,096 combinations of them are tried
Node = dict[str, Any]
Fields = frozenset[str]


def changed_groups(
    old: Node, new: Node, required: tuple[set[str], set[str]]
) -> Iterator[tuple[str, str]]:
    """Yield the name of a rule and what has changed: which fields may be given together.

    `required` are the required fields of both sides; what follows from those is not reported.
    """
    if all(old.get(key) == new.get(key) for key in ("anyOf", "oneOf")):
        return
    sides = _groups(old), _groups(new)
    names = sorted({name for side in sides for _, groups in side for name in _union(groups)})
    if not names:
        return
    if len(names) > MANY:
        what = "which fields go together has changed; they are too many to say how"
        yield from ((rule, what) for rule in ("bounds-tightened", "bounds-loosened"))
        return
    always = (required[0] | required[1]) & set(names)
    for rule, word, (before, after) in (
        ("bounds-tightened", "not enough any more", sides),
        ("bounds-loosened", "enough now", sides[::-1]),
    ):
        for given in _combinations(names, always):
            if _fits(given, before) and not _fits(given, after):
                yield rule, f"{', '.join(sorted(given)) or 'none of its fields'}: {word}"
                break


def _groups(node: Node) -> list[tuple[str, list[Fields]]]:
    found = []
    for key in ("anyOf", "oneOf"):
        branches = node.get(key, ())
        if branches and all(map(is_group, branches)):
            found.append((key, [frozenset(branch["required"]) for branch in branches]))
    return found


def _union(groups: Sequence[Fields]) -> Fields:
    return frozenset().union(*groups)


def _combinations(names: Sequence[str], always: set[str]) -> Iterator[Fields]:
    others = [name for name in names if name not in always]
    for count in range(len(others) + 1):
        for some in combinations(others, count):
            yield frozenset({*always, *some})


def _fits(given: Fields, groups: Sequence[tuple[str, list[Fields]]]) -> bool:
    """Return whether the fields that are given are one of the groups, or exactly one of them."""
    for key, fields in groups:
        fitting = sum(group <= given for group in fields)
        if not fitting or (key == "oneOf" and fitting > 1):
            return False
    return True
