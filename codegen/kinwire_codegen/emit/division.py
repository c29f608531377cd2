"""Divide the types of a large document into modules.

A module has what the rows of one subject use and no others do; what several use is in `common`.
All that the offers of both ends use is in `offers`, whatever else uses it: sessions load it.
Only what a program uses is loaded then, and no two modules need each other.
"""

from __future__ import annotations

__all__ = ("COMMON", "divide")

import re
from collections import Counter, defaultdict

from kinwire_codegen.load.document import Document, Reference
from kinwire_codegen.load.names import snake_name

COMMON = "common"
"""The module of what several subjects use."""

OFFERS = "offers"
"""The module, and the entry of a document, of what each end says of itself in the handshake."""

MAX_TOGETHER = 40
"""Up to this many definitions stay in one module."""

MIN_OF_SUBJECT = 4
"""A subject with fewer definitions of its own has no module."""

_WORD = re.compile("[A-Za-z0-9]+")


def divide(document: Document) -> dict[str, tuple[str, ...]]:
    """Return the definitions of each module below `models`, sorted; nothing if one has all."""
    names = sorted(document.definitions)
    if len(names) <= MAX_TOGETHER:
        return {}
    homes = {name: _home(subjects) for name, subjects in _users(document).items()}
    sizes = Counter(homes.values())
    found = defaultdict[str, list[str]](list)
    for name in names:
        subject = homes[name]
        found[subject if sizes[subject] >= MIN_OF_SUBJECT else COMMON].append(name)
    if found.keys() == {COMMON}:
        return {}
    return {module: tuple(members) for module, members in sorted(found.items())}


def _home(subjects: set[str]) -> str:
    """Return the module of a definition that these subjects use."""
    if OFFERS in subjects:
        return OFFERS
    return next(iter(subjects)) if len(subjects) == 1 else COMMON


def _users(document: Document) -> dict[str, set[str]]:
    """Return the subjects that use each definition, directly or through others.

    What none of them uses is for other documents, and counts as a user of its own: `common`.
    """
    found: dict[str, set[str]] = {name: set() for name in document.definitions}
    for place, reference in document.references:
        if place[0] != "$defs":
            _use(document, reference, _subject(document, place), found)
    for name, subjects in found.items():
        if not subjects:
            _use(document, Reference(document.name, name), COMMON, found)
    return found


def _use(
    document: Document, reference: Reference, subject: str, found: dict[str, set[str]]
) -> None:
    """Note that a subject uses a definition, and all that this one refers to."""
    waiting = [reference]
    while waiting:
        one = waiting.pop()
        if one.protocol == document.name and subject not in found[one.name]:
            found[one.name].add(subject)
            waiting += document.referred[one.name]


def _subject(document: Document, place: tuple[str | int, ...]) -> str:
    """Return what a place is about: for a row the first word of its name that says it."""
    table = str(place[0])
    if table not in ("methods", "tools"):
        return snake_name(table)
    plain = {"notifications", *_WORD.findall(document.name)}
    said = (word for word in _WORD.findall(str(place[1])) if word not in plain)
    return snake_name(next(said, table))
