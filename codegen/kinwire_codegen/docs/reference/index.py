"""The pages that lead to the others: one for each protocol, and the first of all."""

from __future__ import annotations

__all__ = ("group_pages", "protocol_page", "start_page")

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from kinwire_codegen.docs.reference.blocks import (
    Block,
    Heading,
    Items,
    Page,
    ProtocolCards,
    TableBlock,
    TableRow,
    Text,
)
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.docs.reference.parts import (
    AUGMENT_COLUMNS,
    augment_cells,
    decision,
    meaning,
    vendor_items,
)
from kinwire_codegen.load.document import Document, Reference
from kinwire_codegen.load.names import class_name
from kinwire_codegen.load.notes import status_mark

TITLES = {"methods": "Methods", "tools": "Tools"}


def start_page(links: Links) -> Page:
    """Return the first page: the protocols, and every code with all its meanings."""
    cards = ProtocolCards(tuple(links.chosen))
    summary = "The protocols, and every error code with all its meanings."
    return Page("README", "Reference", "start", summary, None, (cards, *_codes(links)))


def _codes(links: Links) -> Iterator[Block]:
    if not links.errors_by_code:
        return
    yield Heading("Error codes")
    yield Text(
        "A code may have different meanings in different protocols: a code alone does not"
        " identify an error."
    )
    meanings = {
        code: [
            f"[{document.name} {name}](../../{document.name}/README.md#{name})"
            for document, name, _ in found
        ]
        for code, found in links.errors_by_code.items()
    }
    rows = [
        (f"`{code}`", ", ".join(names), "several meanings" if len(names) > 1 else "")
        for code, names in meanings.items()
    ]
    yield TableBlock.of(("code", "errors", ""), rows)


def protocol_page(links: Links, document: Document) -> Page:
    """Return the page that leads to everything of one protocol."""
    content = document.content
    title = f"{content['title']} {content['version']}"
    blocks = [Text(content["description"]), *decision(content), *vendor_items(content)]
    blocks += _offers(links, document)
    blocks += [*_rows(links, document), *_augments(links, document), *_errors(links, document)]
    if links.has_data(document):
        place = f"../../{document.name}/data.md"
        blocks += [Heading("Data"), Text(f"Tables, limits and bindings are on [a page]({place}).")]
    blocks += [Heading("Types", anchor="types")]
    blocks += _groups(links, document, "$defs") or [_types(links, document, document.definitions)]
    path, summary = f"{document.name}/README", content["description"]
    return Page(path, title, "protocol", summary, document, tuple(blocks))


def _offers(links: Links, document: Document) -> Iterator[Block]:
    capability = document.content.get("capability")
    if capability is None:
        return
    aliases = document.content.get("capabilityAliases", ())
    also = f", also read at {', '.join(f'`{one}`' for one in aliases)}" if aliases else ""
    yield Text(f"Negotiated in `initialize`, at `capabilities.{capability}`{also}.")
    roles = document.content["roles"]
    offers = document.content.get("offers", {}).items()
    yield Items(
        tuple(
            f"A {roles[role]} offers {links.named(kind, document.name)}." for role, kind in offers
        )
    )


def group_pages(links: Links, document: Document) -> Iterator[Page]:
    """Yield a page for each group of a table that the page of the protocol has no room for."""
    title = document.content["title"]
    for table, word in (*TITLES.items(), ("$defs", "Types")):
        for group in links.groups(document, table):
            summary = f"{len(group.names)} {word.lower()} of {title}: {_span(group.names)}."
            shown = _types if table == "$defs" else partial(_table, table=table)
            path = f"{document.name}/lists/{group.file}"
            blocks = (Text(summary), shown(links, document, group.names))
            yield Page(path, f"`{group.label}`", "list", summary, document, blocks)


def _span(names: Sequence[str]) -> str:
    return " to ".join(f"`{name}`" for name in dict.fromkeys((names[0], names[-1])))


def _groups(links: Links, document: Document, table: str) -> list[Block]:
    """Return the list of the groups of a table, nothing if it has none."""
    groups = links.groups(document, table)
    rows = [(links.group_link(document, group), str(len(group.names))) for group in groups]
    return [TableBlock.of(("group", "entries"), rows)] if rows else []


def _types(links: Links, document: Document, names: Iterable[str]) -> Block:
    return Items(tuple(links.kind(Reference(document.name, name)) for name in names))


def _rows(links: Links, document: Document) -> Iterator[Block]:
    for table, title in TITLES.items():
        names = document.table(table)
        if names:
            yield Heading(title, anchor=table)
            groups = _groups(links, document, table)
            yield from groups or [_table(links, document, names, table)]


def _table(links: Links, document: Document, names: Iterable[str], table: str) -> Block:
    """Return methods or tools with what there is to say of them in a few words."""
    rows = [
        (
            links.row(document.name, table, wire),
            row.get("kind", "tool"),
            document.content["roles"].get(row.get("from", "client"), "both"),
            row["summary"],
            f"`{row['gate']}`" if row.get("gate") else "",
            row.get("since", ""),
            row["section"],
            status_mark(row),
        )
        for wire, row in ((wire, document.table(table)[wire]) for wire in names)
    ]
    columns = ("kind", "sent by", "meaning", "gate", "since", "section", "status")
    return TableBlock.of((table[:-1], *columns), rows)


def _augments(links: Links, document: Document) -> Iterator[Block]:
    rows = [
        (links.target(target), *augment_cells(links, document, row))
        for owner, row, target, _ in links.targets
        if owner is document
    ]
    if rows:
        yield Heading("Fields added to other messages", anchor="augments")
        yield TableBlock.of(("to", *AUGMENT_COLUMNS), rows)


def _errors(links: Links, document: Document) -> Iterator[Block]:
    rows = []
    for name, error in document.content["errors"].items():
        data = f"Data: {links.named(error['data'], document.name)}." if "data" in error else ""
        cells = (
            f"`{error['code']}`",
            name,
            f"`{document.module}.{class_name(name)}`",
            error["message"],
            error.get("section", ""),
            meaning(error, "description", data),
        )
        rows.append(TableRow(cells, name, column=1))
    if rows:
        yield Heading("Errors", anchor="errors")
        yield TableBlock(("code", "error", "class", "message", "section", "meaning"), tuple(rows))
