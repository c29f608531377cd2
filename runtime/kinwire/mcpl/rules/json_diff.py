"""A small patch that changes one JSON value into another (RFC 6902).

Equal parts stay; different parts are patched inside, or replaced if that is shorter. The patch has
no moves and copies.
"""

from __future__ import annotations

__all__ = ("patch_between",)

from collections.abc import Iterator, Sequence
from typing import Any, cast

from kinwire.support.json_values import pointer_below, same, text
from kinwire_protocols.base import JsonObject

_MOST_COMPARED = 40_000  # pairs of entries in one patch; after that, arrays are compared by index


def patch_between(before: Any, after: Any) -> list[JsonObject]:
    """Return the operations, as JSON, that change `before` into `after`; empty if equal."""
    return _Difference().within("", before, after)


class _Difference:
    """One patch while it is made."""

    def __init__(self) -> None:
        self._left = _MOST_COMPARED

    def within(self, place: str, before: Any, after: Any) -> list[JsonObject]:
        if same(before, after):
            return []
        whole: list[JsonObject] = [{"op": "replace", "path": place, "value": after}]
        if isinstance(before, dict) and isinstance(after, dict):
            parts = self._members(place, cast("JsonObject", before), cast("JsonObject", after))
        elif isinstance(before, list) and isinstance(after, list):
            parts = self._entries(place, cast("list[object]", before), cast("list[object]", after))
        else:
            return whole
        return parts if len(text(parts)) < len(text(whole)) else whole

    def _members(self, place: str, before: JsonObject, after: JsonObject) -> list[JsonObject]:
        gone = sorted(before.keys() - after.keys())
        found: list[JsonObject] = [
            {"op": "remove", "path": pointer_below(place, name)} for name in gone
        ]
        for name, value in after.items():
            path = pointer_below(place, name)
            if name not in before:
                found.append({"op": "add", "path": path, "value": value})
            else:
                found += self.within(path, before[name], value)
        return found

    def _entries(self, place: str, before: list[Any], after: list[Any]) -> list[JsonObject]:
        """Patch an array from start to end, so that each index is valid when it is applied."""
        found: list[JsonObject] = []
        at = 0
        for gone, come in self._gaps(before, after):
            paired = min(len(gone), len(come))
            for one, other in zip(gone[:paired], come[:paired], strict=True):
                found += self.within(f"{place}/{at}", one, other)
                at += 1
            found += [{"op": "remove", "path": f"{place}/{at}"} for _ in gone[paired:]]
            for value in come[paired:]:
                found.append({"op": "add", "path": f"{place}/{at}", "value": value})
                at += 1
            at += 1  # skip the entry that both have
        return found

    def _gaps(self, before: list[Any], after: list[Any]) -> Iterator[tuple[list[Any], list[Any]]]:
        """Yield what lies between the entries that both arrays have, in order."""
        keys, other_keys = list(map(text, before)), list(map(text, after))
        start = old = new = 0
        while start < min(len(keys), len(other_keys)) and keys[start] == other_keys[start]:
            start += 1
        end = 0
        while (
            end < min(len(keys), len(other_keys)) - start and keys[-1 - end] == other_keys[-1 - end]
        ):
            end += 1
        middle = (keys[start : len(keys) - end], other_keys[start : len(other_keys) - end])
        shared = [(index, index) for index in range(start)]
        shared += [(start + one, start + other) for one, other in self._common(*middle)]
        shared += [(len(keys) - left, len(other_keys) - left) for left in range(end, 0, -1)]
        for one, other in [*shared, (len(before), len(after))]:
            yield before[old:one], after[new:other]
            old, new = one + 1, other + 1

    def _common(self, one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
        pairs = len(one) * len(other)
        if pairs > self._left:
            return []
        self._left -= pairs
        return _common(one, other)


def _common(one: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of a longest common run of entries, not necessarily next to each other."""
    lengths = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            lengths[i][j] = (
                lengths[i + 1][j + 1] + 1
                if one[i] == other[j]
                else max(lengths[i + 1][j], lengths[i][j + 1])
            )
    found: list[tuple[int, int]] = []
    i = j = 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return found
