"""Pages about all protocols: errors by code, capabilities, added fields, and pictures."""

from __future__ import annotations

__all__ = ("across_pages",)

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from kinwire_codegen.docs.reference.blocks import (
    Block,
    Decision,
    Drawing,
    Heading,
    Items,
    Page,
    TableBlock,
    TableRow,
    Text,
)
from kinwire_codegen.docs.reference.links import Entry, Links
from kinwire_codegen.docs.reference.parts import AUGMENT_COLUMNS, augment_cells
from kinwire_codegen.docs.reference.sequences import sequence_drawing
from kinwire_codegen.load.document import Document
from kinwire_codegen.load.names import class_name

Node = dict[str, Any]


def across_pages(links: Links) -> Iterator[Page]:
    """Yield the pages that have an entry."""
    for title, path, summary, make in (
        (
            "Error codes",
            "errors",
            "The meaning of each code in each protocol, and the methods that return it.",
            _errors,
        ),
        (
            "Capabilities",
            "capabilities",
            "The capability that must be negotiated before a method may be sent.",
            _capabilities,
        ),
        (
            "Added fields",
            "added-fields",
            "The fields that one protocol adds to messages of another.",
            _augments,
        ),
        (
            "Message sequences",
            "sequences",
            "The order of messages, drawn from the protocol documents.",
            _sequences,
        ),
        (
            "State machines",
            "state-machines",
            "The states of servers, tasks and channels, and the transitions between them.",
            _machines,
        ),
    ):
        blocks = tuple(make(links))
        if blocks:
            yield Page(path, title, "reference", summary, None, (Text(summary), *blocks))


def _errors(links: Links) -> Iterator[Block]:
    by_code = links.errors_by_code
    if by_code:
        yield Text(
            "A code alone does not identify an error: protocol and method belong to its meaning."
        )
        rows = [
            TableRow((f"[`{code}`](#error.{code})", _names(found), _collision(found)))
            for code, found in by_code.items()
        ]
        yield TableBlock(("code", "errors", "meanings"), tuple(rows))
    for code, found in by_code.items():
        yield Heading(f"`{code}`", anchor=f"error.{code}")
        if len(found) > 1:
            yield Text(f"{_collision(found)}: {_names(found)}.")
        for document, name, entry in found:
            yield from _error(links, document, name, entry)


def _names(found: list[tuple[Document, str, Node]]) -> str:
    return ", ".join(
        f"[{name}](#{document.name}.{name}) ({document.content['title']})"
        for document, name, _ in found
    )


def _collision(found: list[tuple[Document, str, Node]]) -> str:
    return f"**{len(found)} meanings**" if len(found) > 1 else "1"


def _error(links: Links, document: Document, name: str, entry: Node) -> Iterator[Block]:
    yield Heading(f"{name} in {document.content['title']}", 3, f"{document.name}.{name}")
    yield Text(entry["description"])
    facts = [f"Class `{document.module}.{class_name(name)}`", f"message “{entry['message']}”"]
    facts += [f"section {entry['section']}"] if "section" in entry else []
    facts += [f"data {links.named(entry['data'], document.name)}"] if "data" in entry else []
    yield Text(", ".join(facts) + ".")
    if "x-decision" in entry:
        yield Decision(entry["x-decision"])
    users = links.returned_by.get((document.name, name), ())
    if users:
        yield Text("Returned by:")
        yield Items(tuple(links.entries(users)))


def _capabilities(links: Links) -> Iterator[Block]:
    if any(row.get("gate") for each in links.chosen for row in each.table("methods").values()):
        yield Text(
            "The side before the colon has to offer the capability: `server` or `client`. Where the"
            " name of a protocol is before it, both sides have to."
        )
    for document in links.chosen:
        gates: dict[str, list[tuple[str, str, Node]]] = defaultdict(list)
        for table in ("methods", "tools"):
            for wire, row in document.table(table).items():
                gates[row.get("gate") or ""].append((table, wire, row))
        if not gates:
            continue
        yield Heading(document.content["title"], anchor=document.name)
        if document.content.get("capability"):
            offered = f"`capabilities.{document.content['capability']}`"
            yield Text(f"Negotiated in `initialize`, at {offered}.")
        rows = [
            TableRow(_gate(links, document, gate, found), f"{document.name}.{gate or 'none'}")
            for gate, found in sorted(gates.items())
        ]
        roles = document.content["roles"]
        yield TableBlock(
            ("capability", f"{roles['client']} sends", f"{roles['server']} sends"), tuple(rows)
        )


def _gate(
    links: Links, document: Document, gate: str, found: list[tuple[str, str, Node]]
) -> tuple[str, str, str]:
    sent: dict[str, list[Entry]] = {"client": [], "server": []}
    for table, wire, row in found:
        sender = row.get("from", "client")
        for side in ("client", "server") if sender == "both" else (sender,):
            sent[side].append((document, table, wire))
    cells = [", ".join(links.entries(sent[side])) or "-" for side in ("client", "server")]
    return f"`{gate}`" if gate else "not needed", cells[0], cells[1]


def _augments(links: Links) -> Iterator[Block]:
    by_target: dict[str, list[TableRow]] = defaultdict(list)
    for document, row, target, _ in links.targets:
        home = f"[{document.content['title']}](../../{document.name}/README.md#augments)"
        cells = (home, *augment_cells(links, document, row))
        anchor = f"{document.name}.{target.label}.{row['member']}".replace(" ", ".")
        by_target[links.target(target)].append(TableRow(cells, anchor, 1))
    if by_target:
        yield Text("Several protocols may add fields to one message without a conflict.")
    for where, rows in sorted(by_target.items()):
        anchor = where.partition(" (")[0].replace(" ", ".")
        yield Heading(f"To {where}", anchor=f"to.{anchor}")
        yield TableBlock(("protocol", *AUGMENT_COLUMNS), tuple(rows))


def _sequences(links: Links) -> Iterator[Block]:
    for document in links.chosen:
        if document.table("sequences"):
            yield Heading(document.content["title"], anchor=document.name)
        for name, node in document.table("sequences").items():
            place = f"../../{document.name}/data.md#{name}"
            yield Heading(f"[{name}]({place})", 3, f"{document.name}.{name}")
            yield Text(node["summary"])
            yield sequence_drawing(links, document, name)


def _machines(links: Links) -> Iterator[Block]:
    for document in links.chosen:
        for name, node in document.table("machines").items():
            place = f"../../{document.name}/data.md#{name}"
            yield Heading(f"[{name}]({place}) of {document.content['title']}", anchor=name)
            yield Text(node["summary"])
            yield Drawing("machine", {"name": name, **node})
