"""Pieces that pages are made of: notes, tables of members, examples."""

from __future__ import annotations

__all__ = (
    "AUGMENT_COLUMNS",
    "as_json",
    "augment_cells",
    "decision",
    "described",
    "member_table",
    "namesakes",
)

import json
from collections.abc import Iterator
from typing import Any

from kinwire_codegen.document import Document, Reference, members_of
from kinwire_codegen.reference.blocks import (
    Block,
    Cell,
    Code,
    Decision,
    Described,
    TableBlock,
    TableRow,
    Text,
)
from kinwire_codegen.reference.links import Links
from kinwire_codegen.reference.shapes import shape

AUGMENT_COLUMNS = ("member", "type", "written by", "section", "errors", "meaning")


def decision(node: dict[str, Any]) -> Iterator[Block]:
    """Yield what the document has decided of what the specification leaves open."""
    if "x-decision" in node:
        yield Decision(node["x-decision"])


def described(node: dict[str, Any], member: str, *more: str) -> Described:
    """Return a member of an entry, and what was decided of it, for a table."""
    said = " ".join(filter(None, (str(node.get(member, "")).strip(), *more)))
    return Described(said, node.get("x-decision", ""))


def member_table(
    links: Links, kind: Reference, part: str = "", method: str = ""
) -> Iterator[Block]:
    """Yield the members of a type and those that other protocols add, each with an anchor.

    `part` (`params` or `result`) and `method` say which message it is, if it is one.
    """
    anchor = f"{part}." if part else ""
    members, required = members_of(links.documents, kind)
    rows = [
        TableRow(
            (
                f"`{name}`",
                shape(links, node, owner.protocol),
                "yes" if name in required else "no",
                described(node, "description"),
            ),
            anchor + name,
        )
        for name, (owner, node) in members.items()
    ]
    for document, row in links.augments(kind, part, method):
        where = f"[{document.name}](../../{document.name}/README.md#augments)"
        named = links.named(row["schema"]["$ref"], document.name)
        cells = (f"`{row['member']}`", named, f"by {where}", described(row, "summary"))
        rows.append(TableRow(cells, anchor + row["member"]))
    if rows:
        yield TableBlock(("member", "type", "required", "meaning"), tuple(rows), members=True)


def augment_cells(links: Links, document: Document, row: dict[str, Any]) -> tuple[Cell, ...]:
    """Return the cells of a member that `document` adds, in the order of the columns."""
    return (
        f"`{row['member']}`",
        links.named(row["schema"]["$ref"], document.name),
        document.content["roles"].get(row["from"], "both"),
        row["section"],
        ", ".join(f"`{name}`" for name in row.get("errors", ())),
        described(row, "summary"),
    )


def namesakes(links: Links, document: Document, table: str, name: str) -> Iterator[Block]:
    """Yield where other protocols have something of the same name."""
    others = [
        f"[{other.content['title']}]({links.entry(other.name, table, name)})"
        for other in links.chosen
        if other is not document and name in other.table(table)
    ]
    if others:
        yield Text(f"The same name is something of its own in {', '.join(others)}.")


def as_json(value: Any) -> Code:
    """Return a value as a block of JSON."""
    return Code("json", json.dumps(value, indent=2, ensure_ascii=False))
