"""Documents of several files: `include` names files next to a document, with more entries of it."""

from __future__ import annotations

__all__ = ("Origins", "included_names", "merged", "origin")

from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any

from kinwire_codegen.load.findings import Finding, Place, pointer

Origins = dict[str, tuple[str, Place]]
"""The pointer of an entry in the whole document -> the included file that has it, and its place
there."""

NEEDED = ("methods", "errors", "$defs")
"""The tables that every document has, if only empty."""


def included_names(content: Any) -> list[str]:
    """Return the files that a document includes; the document may be malformed."""
    names = content.get("include") if isinstance(content, dict) else None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def merged(file: str, contents: dict[str, Any]) -> tuple[dict[str, Any], Origins, list[Finding]]:
    """Return a document with the entries of the files that it includes.

    `contents` has all files by name; they fit the meta-schema. The findings are files that are
    missing and names that occur twice; the first of two is kept.
    """
    document = contents[file]
    if "include" not in document:
        return document, {}, []
    whole = {key: copy(value) for key, value in document.items() if key != "include"}
    origins: Origins = {}
    findings: list[Finding] = []
    for index, name in enumerate(document["include"]):
        if name in contents:
            findings += _add(file, whole, origins, name, contents[name])
        else:
            hint = "Add it next to the document, or correct the name."
            what = f"there is no file {name!r}"
            findings.append(Finding(file, pointer("include", index), what, hint))
    return whole | {key: {} for key in NEEDED if key not in whole}, origins, findings


def _add(
    file: str, whole: dict[str, Any], origins: Origins, name: str, part: dict[str, Any]
) -> Iterator[Finding]:
    """Add the entries of a file to a document, and where they come from to `origins`."""
    for table, entries in part.items():
        if table == "$schema":
            continue
        known = whole.setdefault(table, type(entries)())
        for key, entry in _items(entries):
            here = (table, key)
            place = pointer(*here)
            if isinstance(known, list):
                origins[pointer(table, len(known))] = name, here
                known.append(entry)
            elif key in known:
                first = origins[place][0] if place in origins else file
                what = f"{key!r} is also in {first}"
                yield Finding(name, place, what, "Rename or remove one of them.")
            else:
                origins[place] = name, here
                known[key] = entry


def _items(entries: Any) -> Iterable[tuple[Any, Any]]:
    return entries.items() if isinstance(entries, dict) else enumerate(entries)


def origin(origins: Origins, file: str, at: str) -> tuple[str, str]:
    """Return the file in which the place `at` of a document stands, and its pointer there.

    `at` is a pointer; `file` is the document's own file.
    """
    entry, rest = "/".join(at.split("/")[:3]), at.split("/")[3:]
    if entry not in origins:
        return file, at
    home, start = origins[entry]
    return home, "/".join([pointer(*start), *rest])
