"""What an augment adds its member to."""

from __future__ import annotations

__all__ = ("AugmentTarget", "target_of")

from typing import Any, NamedTuple

from kinwire_codegen.load.document import Document, Documents, Reference, resolve
from kinwire_codegen.load.names import constant_name, snake_name


class AugmentTarget(NamedTuple):
    """The message, or the part of every message, that an augment extends."""

    label: str
    """It in words: `mcp#Tool`, `tools/call params`, `every error`."""
    constant: str
    """The beginning of the augment's name in Python: `TOOL`, `TOOLS_CALL_PARAMS`, `EVERY_ERROR`."""
    kind: Reference | None
    """The type of the message; None if it is a part of every message."""
    method: str | None
    """The wire name of the method whose message it is; None for a type and for every message."""


def target_of(document: Document, documents: Documents, to: dict[str, str]) -> AugmentTarget | None:
    """Return what `to`, of an augment of `document`, names; None if it leads nowhere."""
    if "every" in to:
        return AugmentTarget(f"every {to['every']}", f"EVERY_{to['every'].upper()}", None, None)
    if "def" in to:
        kind = resolve(to["def"], document.name)
        return AugmentTarget(to["def"], snake_name(kind.name).upper(), kind, None)
    found = _row(document, documents, to["method"])
    if found is None or to["part"] not in found[2]:
        return None
    home, wire, row = found
    constant = f"{constant_name(wire)}_{to['part'].upper()}"
    kind = resolve(row[to["part"]], home.name)
    return AugmentTarget(f"{wire} {to['part']}", constant, kind, wire)


def _row(
    document: Document, documents: Documents, text: str
) -> tuple[Document, str, dict[str, Any]] | None:
    protocol, _, wire = text.rpartition("#")
    for home in documents.extended(document):
        if protocol in ("", home.name) and wire in home.content["methods"]:
            return home, wire, home.content["methods"][wire]
    return None
