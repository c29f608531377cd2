"""Parts that several kinds of pages share: decisions, meanings, added fields, examples."""

from __future__ import annotations

__all__ = (
    "AUGMENT_COLUMNS",
    "as_json",
    "augment_cells",
    "decision",
    "meaning",
    "namesakes",
    "value_table",
    "vendor_items",
)

from collections.abc import Iterator
from typing import Any

from kinwire_codegen.docs.reference.blocks import (
    Block,
    Cell,
    Code,
    Decision,
    Heading,
    Items,
    Meaning,
    TableBlock,
    Text,
)
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.docs.reference.shapes import json_code
from kinwire_codegen.load.document import Document
from kinwire_codegen.load.notes import enum_values, vendor_entries, version_notes
from kinwire_codegen.load.parsing import json_text

LONGEST = 1_000
"""The characters that are shown of the value of a vendor's entry."""

AUGMENT_COLUMNS = ("field", "type", "written by", "section", "errors", "meaning")


def decision(node: dict[str, Any]) -> Iterator[Block]:
    """Yield how the document decides what the specification leaves open, if it does."""
    if "x-decision" in node:
        yield Decision(node["x-decision"])


def meaning(node: dict[str, Any], key: str, *more: str) -> Meaning:
    """Return the text of an entry under `key` with its versions, and the decision about it."""
    parts = (str(node.get(key, "")).strip(), *more, version_notes(node), *_values(node))
    text = " ".join(filter(None, (*parts, *_vendor_lines(node))))
    return Meaning(text, node.get("x-decision", ""))


def _values(node: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each value of an enum that is described."""
    for one in enum_values(node):
        if one.text:
            yield f"`{one.value}`: {one.text}"


def value_table(node: dict[str, Any]) -> Iterator[Block]:
    """Yield a table of the values of an enum, if the document says something of one."""
    if "enumValues" not in node:
        return
    has_names = any(one.constant for one in enum_values(node))
    rows: list[list[Cell]] = []
    for one in enum_values(node):
        name = [f"`{one.constant}`" if one.constant else ""] if has_names else []
        value = json_code(one.value)
        rows.append([value, *name, meaning(one.node, "description")])
    yield Heading("Values", anchor="values")
    yield TableBlock.of(("value", *(["name"] if has_names else []), "meaning"), rows)


def vendor_items(node: dict[str, Any]) -> Iterator[Block]:
    """Yield a list of the entries that vendors have added, if there are any."""
    lines = tuple(_vendor_lines(node))
    if lines:
        yield Text("Entries of vendors:")
        yield Items(lines)


def _vendor_lines(node: dict[str, Any]) -> Iterator[str]:
    for key, value in vendor_entries(node).items():
        yield f"`{key}`: {json_code(value, LONGEST)}"


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
    return Code("json", json_text(value, indent=2), caption)
