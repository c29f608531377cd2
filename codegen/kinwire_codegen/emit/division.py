"""Which module of models has which definition: those of a large document are divided.

A module has what the rows of one subject use and no others do; what several use is in `common`.
Only what a program uses is loaded then, and no two modules need each other.
"""

from __future__ import annotations

__all__ = ("COMMON", "divided")

import re
from collections import Counter, defaultdict

from kinwire_codegen.load.document import Document
from kinwire_codegen.load.names import snake_name

COMMON = "common"
"""The module of what several subjects use."""

MOST = 40
"""Up to this many definitions stay in one module."""

LEAST = 4
"""A subject with fewer definitions of its own has no module."""

_WORD = re.compile("[A-Za-z0-9]+")


def divided(document: Document) -> dict[str, tuple[str, ...]]:
    """Return the definitions of each module below `models`, sorted; nothing if one has all."""
    names = sorted(document.definitions)
    if len(names) <= MOST:
        return {}
    alone = {name: next(iter(used)) for name, used in _users(document).items() if len(used) == 1}
    sizes = Counter(alone.values())
    found = defaultdict[str, list[str]](list)
    for name in names:
        subject = alone.get(name, COMMON)
        found[subject if sizes[subject] >= LEAST else COMMON].append(name)
    # Modules and definitions are attributes of `models` alike.
    if found.keys() <= {COMMON} or found.keys() & document.definitions.keys():
        return {}
    return {module: tuple(members) for module, members in sorted(found.items())}


def _users(document: Document) -> dict[str, set[str]]:
    """Return the subjects that use each definition, directly or through others."""
    found: dict[str, set[str]] = {name: set() for name in document.definitions}
    for place, reference in document.references:
        if place[0] == "$defs" or reference.protocol != document.name:
            continue
        subject, waiting = _subject(document, place), [reference]
        while waiting:
            one = waiting.pop()
            if one.protocol == document.name and subject not in found[one.name]:
                found[one.name].add(subject)
                waiting += document.referred[one.name]
    return found


def _subject(document: Document, place: tuple[str | int, ...]) -> str:
    """Return what a place is about: for a row the first word of its name that says it."""
    table = str(place[0])
    if table not in ("methods", "tools"):
        return snake_name(table)
    plain = {"notifications", *_WORD.findall(document.name)}
    said = (word for word in _WORD.findall(str(place[1])) if word not in plain)
    return snake_name(next(said, table))
