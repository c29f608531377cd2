"""Pieces that pages are made of: notes, tables of members, examples."""

from __future__ import annotations

__all__ = ("cell", "decision", "examples", "head", "member_table", "table", "told")

import json
from collections.abc import Iterable, Iterator
from typing import Any

from kinwire_codegen.document import Document, Reference, members_of
from kinwire_codegen.package import OWNED
from kinwire_codegen.reference.links import Links
from kinwire_codegen.reference.shapes import shape


def head(title: str, document: Document) -> Iterator[str]:
    """Yield the title and where the page comes from."""
    yield f"# {title}"
    yield ""
    yield f"<!-- Generated from {document.file} {OWNED}. -->"
    yield ""


def decision(node: dict[str, Any]) -> Iterator[str]:
    """Yield what the document has decided of what the specification leaves open."""
    if "x-decision" in node:
        yield f"> **Decision:** {node['x-decision']}"
        yield ""


def cell(text: object) -> str:
    """Return `text` as it may stand in a table."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def told(node: dict[str, Any], member: str) -> str:
    """Return a member of an entry, and what was decided of it, for a table."""
    said = str(node.get(member, ""))
    if "x-decision" in node:
        said += f" **Decision:** {node['x-decision']}"
    return cell(said.strip())


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield a table; the cells are text of Markdown."""
    names = list(columns)
    yield f"| {' | '.join(names)} |"
    yield f"|{' --- |' * len(names)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def member_table(links: Links, kind: Reference, part: str = "", method: str = "") -> Iterator[str]:
    """Yield the members of a type and those that other protocols add, each with an anchor.

    `part` (`params` or `result`) and `method` say which message it is, if it is one.
    """
    anchor = f"{part}." if part else ""
    members, required = members_of(links.documents, kind)
    rows = [
        (
            f'<a id="{anchor}{name}"></a>`{name}`',
            cell(shape(links, node, owner.protocol)),
            "yes" if name in required else "no",
            told(node, "description"),
        )
        for name, (owner, node) in members.items()
    ]
    for document, row in links.augments(kind, part, method):
        where = f"[{document.name}](../../{document.name}/README.md#augments)"
        rows.append(
            (
                f'<a id="{anchor}{row["member"]}"></a>`{row["member"]}`',
                cell(links.named(row["schema"]["$ref"], document.name)),
                f"by {where}",
                told(row, "summary"),
            )
        )
    if rows:
        yield from table(("member", "type", "required", "meaning"), rows)


def examples(values: Iterable[Any]) -> Iterator[str]:
    """Yield each value as a block of JSON."""
    for value in values:
        yield "```json"
        yield json.dumps(value, indent=2, ensure_ascii=False)
        yield "```"
        yield ""
