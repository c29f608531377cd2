"""Lints of what the bindings could not keep: each keyword that no shape says, and equal names."""

from __future__ import annotations

__all__ = ("names_differ", "types_are_kept")

from collections.abc import Callable, Iterable, Iterator
from unicodedata import normalize

from kinwire_codegen.load.document import Document, Documents, Reference
from kinwire_codegen.load.findings import Fault, pointer


def types_are_kept(document: Document, documents: Documents) -> Iterator[Fault]:
    """Yield what the types of `document` say and the bindings would drop; they must have an end."""
    for name in document.definitions:
        yield from documents.shapes.faults(Reference(document.name, name))


def names_differ(document: Document, documents: Documents) -> Iterator[Fault]:
    """Yield names of `document` that systems or Python take for one another."""
    for table in ("methods", "tools", "$defs"):
        for name, first in _twice(document.table(table), str.casefold):
            what = f"{name!r} and {first!r} differ in the size of letters only"
            yield pointer(table, name), what, "Rename one: some systems have one file for both."
    for node, place in document.types:
        for name, first in _twice(node.get("properties", ()), _normal):
            what = f"{name!r} and {first!r} are one name in Python"
            yield pointer(*place, "properties", name), what, "Rename one of them."


def _twice(names: Iterable[str], key: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    seen: dict[str, str] = {}
    for name in names:
        first = seen.setdefault(key(name), name)
        if first != name:
            yield name, first


def _normal(name: str) -> str:
    return normalize("NFKC", name)
