"""Groups of the entries of a large table: by the beginning of their names, else by alphabet."""

from __future__ import annotations

__all__ = ("LISTED", "Group", "groups_of")

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

LISTED = {"methods": 40, "tools": 40, "$defs": 100}
"""The number of entries up to which one list shows all of a table; also the size of a group."""

GROUPS = 200
"""About as many groups are made by the beginning of names; names with few others stay together."""

_WIRE = re.compile(r".+?(?:[/._:]+(?=.)|$)")
_TYPE = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^A-Z\d]+|[A-Z]+|\d+")


class Group(NamedTuple):
    """Some entries of a table."""

    label: str
    """`DOM.*`, or the first and the last name."""
    file: str
    """The name of its page, without folder and ending."""
    names: tuple[str, ...]


def groups_of(table: str, names: Iterable[str]) -> tuple[Group, ...]:
    """Return the groups of a table, sorted by label; nothing if one list can show all entries."""
    ordered = sorted(names, key=_key)
    most = LISTED[table]
    if len(ordered) <= most:
        return ()
    pattern = _TYPE if table == "$defs" else _WIRE
    parts = [(name, pattern.findall(name)) for name in ordered]
    found = sorted(_divided(parts, 0, most, max(most // 10, len(parts) // GROUPS)), key=_label_key)
    files = _files([label for label, _ in found])
    return tuple(
        Group(label, f"{table.strip('$')}-{file}", names)
        for (label, names), file in zip(found, files, strict=True)
    )


Named = tuple[str, list[str]]
"""A name and its parts."""


def _divided(
    names: Sequence[Named], depth: int, most: int, least: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield groups of names whose first `depth` parts are the same, each with its label."""
    beginning = "".join(names[0][1][:depth])
    if depth and len(names) <= most:
        yield f"{beginning}*", tuple(name for name, _ in names)
        return
    buckets: dict[str, list[Named]] = defaultdict(list)
    for name, parts in names:
        buckets["".join(parts[: depth + 1])].append((name, parts))
    rest: list[str] = []
    for bucket in buckets.values():
        if len(bucket) < least:
            rest += [name for name, _ in bucket]
        else:
            yield from _divided(bucket, depth + 1, most, least)
    yield from _runs(rest, f"{beginning}*" if depth else "Other", most)


def _runs(names: Sequence[str], label: str, most: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield names in runs of equal size; a single one has the label, others their ends."""
    count = -(-len(names) // most)
    for number in range(count):
        run = names[len(names) * number // count : len(names) * (number + 1) // count]
        yield label if count == 1 else f"{run[0]} to {run[-1]}", tuple(run)


def _files(labels: Sequence[str]) -> Iterator[str]:
    """Yield a name for the file of each label, different also where case does not count."""
    seen: set[str] = set()
    for label in labels:
        first = file = re.sub(r"[^\w.]+", "-", label).strip("-._") or "other"
        number = 1
        while file.casefold() in seen:
            number += 1
            file = f"{first}-{number}"
        seen.add(file.casefold())
        yield file


def _key(name: str) -> tuple[str, str]:
    return name.casefold(), name


def _label_key(group: tuple[str, tuple[str, ...]]) -> tuple[bool, str, str]:
    return group[0] == "Other", *_key(group[0])
