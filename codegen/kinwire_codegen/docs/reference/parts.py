"""Parts that several kinds of pages share: decisions, meanings, added fields, examples."""

from __future__ import annotations

__all__ = (
    "AUGMENT_COLUMNS",
    "as_json",
    "augment_cells",
    "decision",
    "meaning",
    "namesakes",
)

import json
from collections.abc import Iterator
from typing import Any

from kinwire_codegen.docs.reference.blocks import Block, Cell, Code, Decision, Meaning, Text
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.load.document import Document

AUGMENT_COLUMNS = ("field", "type", "written by", "section", "errors", "meaning")


def decision(node: dict[str, Any]) -> Iterator[Block]:
    """Yield how the document decides what the specification leaves open, if it does."""
    if "x-decision" in node:
        yield Decision(node["x-decision"])


def meaning(node: dict[str, Any], key: str, *more: str) -> Meaning:
    """Return the text of an entry under `key`, and the decision about the entry."""
    text = " ".join(filter(None, (str(node.get(key, "")).strip(), *more)))
    return Meaning(text, node.get("x-decision", ""))


def augment_cells(links: Links, document: Document, row: dict[str, Any]) -> tuple[Cell, ...]:
    """Return the cells of `AUGMENT_COLUMNS` for a field that `document` adds."""
    return (
        f"`{row['member']}`",
        links.named(row["schema"]["$ref"], document.name),
        document.content["roles"].get(row["from"], "both"),
        row["section"],
        ", ".join(f"`{name}`" for name in row.get("errors", ())),
        meaning(row, "summary"),
    )


def namesakes(links: Links, document: Document, table: str, name: str) -> Iterator[Block]:
    """Yield links to entries of the same name in other protocols."""
    others = [
        f"[{other.content['title']}]({links.entry(other.name, table, name)})"
        for other in links.chosen
        if other is not document and name in other.table(table)
    ]
    if others:
        yield Text(f"Also defined, with another meaning, by {', '.join(others)}.")


def as_json(value: Any, caption: str = "") -> Code:
    """Return a value as a block of JSON."""
    return Code("json", json.dumps(value, indent=2, ensure_ascii=False), caption)
