"""Examples and defaults that do not fit the types they are written at: lint refuses them."""

from __future__ import annotations

__all__ = ("drop_misfits",)

from typing import Any

from kinwire_codegen.lint.examples import misfits
from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.findings import Place

Node = dict[str, Any]


def drop_misfits(content: Node) -> list[str]:
    """Take them out of a document, and return what was taken out, each with the reason."""
    document = Document(content)
    found: dict[Place, str] = {}
    for place, error in misfits(document, Documents({document.name: document}, {})):
        found.setdefault(place, error.message)
    for place in sorted(found, key=lambda place: str(place[-1]).zfill(9), reverse=True):
        _remove(content, place)
    return [f"{_words(place)}: it does not fit its type: {found[place][:200]}" for place in found]


def _remove(content: Node, place: Place) -> None:
    holders: list[Any] = [content]
    for step in place[:-1]:
        holders.append(holders[-1][step])
    del holders[-1][place[-1]]
    if place[-2] == "examples" and not holders[-1]:
        del holders[-2]["examples"]


def _words(place: Place) -> str:
    return "/".join(str(step) for step in place[1:])
