"""The pages of a protocol's data: tables, state machines, sequences, limits and bindings."""

from __future__ import annotations

__all__ = ("data_pages",)

import json
from collections.abc import Callable, Iterator
from typing import Any

from kinwire_codegen.docs.reference.blocks import (
    Block,
    Drawing,
    Heading,
    Items,
    Page,
    TableBlock,
    TableRow,
    Text,
)
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.docs.reference.parts import decision, meaning
from kinwire_codegen.docs.reference.sequences import sequence_drawing, sequence_table
from kinwire_codegen.load.document import Document
from kinwire_codegen.load.names import anchor, constant_name

Node = dict[str, Any]


LISTED = 10
"""The number of entries up to which one page has all of them; of more, each has its own page."""

_Write = Callable[[Links, Document, str, Node], Iterator[Block]]


def data_pages(links: Links, document: Document) -> Iterator[Page]:
    """Yield the page of all data, and pages of single entries if there are many of them."""
    if not links.has_data(document):
        return
    divided = sum(len(document.table(table)) for table, _, _ in _KINDS) > LISTED
    blocks: list[Block] = []
    pages: list[Page] = []
    for table, title, write in _KINDS:
        entries = document.table(table).items()
        blocks += [Heading(title)] if entries else []
        for name, node in entries:
            inner = tuple(write(links, document, name, node))
            if divided:
                path = f"{document.name}/data/{anchor(name)}"
                text = (Text(_about(node)), *decision(node), *inner)
                pages.append(Page(path, name, "data", node["summary"], document, text))
                place = f"[{name}](../../{path}.md)"
                blocks += [Heading(place, 3, anchor(name)), Text(_about(node))]
            else:
                blocks += [*_entry(name, node), *inner]
        blocks += _limits(document) if table == "sequences" else []
    blocks += [*_http(links, document), *_grpc(links, document)]
    title = f"{document.content['title']} {document.content['version']}: data"
    summary = "Tables, state machines, sequences, limits, files and bindings."
    yield Page(f"{document.name}/data", title, "data", summary, document, tuple(blocks))
    yield from pages


def _entry(name: str, node: Node, level: int = 3) -> Iterator[Block]:
    yield Heading(name, level, anchor(name))
    yield Text(_about(node))
    yield from decision(node)


def _about(node: Node) -> str:
    return f"{node['summary']} Section {node['section']}."


def _table(links: Links, document: Document, name: str, node: Node) -> Iterator[Block]:
    kind = links.named(node["type"], document.name)
    yield Text(f"`{document.module}.tables.{constant_name(name)}`, rows of {kind}.")
    columns = list(dict.fromkeys(key for row in node["rows"] for key in row))
    rows = [[_shown(row[key]) if key in row else "" for key in columns] for row in node["rows"]]
    yield TableBlock.of(columns, rows)


def _shown(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _machine(links: Links, document: Document, name: str, node: Node) -> Iterator[Block]:
    final = f"; final: {', '.join(node['final'])}" if "final" in node else ""
    constant = f"{document.module}.tables.{constant_name(name)}"
    states = links.named(node["states"], document.name)
    yield Text(f"`{constant}`, states of {states}. Initial state: {node['initial']}{final}.")
    yield Drawing("machine", {"name": name, **node})
    rows = [
        (step["from"], step["on"], step["to"], meaning(step, "summary"))
        for step in node["transitions"]
    ]
    yield TableBlock.of(("from", "on", "to", "meaning"), rows)


def _sequence(links: Links, document: Document, name: str, node: Node) -> Iterator[Block]:
    yield sequence_drawing(links, document, name)
    yield sequence_table(links, document, name)


def _limits(document: Document) -> Iterator[Block]:
    rows = [
        TableRow(
            (
                f"`{constant_name(name)}`",
                f"`{json.dumps(node['value'])}`",
                str(node.get("unit", "")),
                node["section"],
                meaning(node, "summary", f"Error: {node['error']}." if "error" in node else ""),
            ),
            name,
        )
        for name, node in document.table("limits").items()
    ]
    if rows:
        yield Heading("Limits and defaults")
        yield Text(f"In `{document.module}.tables`.")
        yield TableBlock(("name", "value", "unit", "section", "meaning"), tuple(rows))


def _record(links: Links, document: Document, name: str, node: Node) -> Iterator[Block]:
    form = f", as {node['format'].upper()}" if "format" in node else ""
    yield Text(f"{links.named(node['type'], document.name)}{form}.")
    if "places" in node:
        yield Items(tuple(f"`{one}`" for one in node["places"]), ordered=True)


_KINDS: tuple[tuple[str, str, _Write], ...] = (
    ("tables", "Tables", _table),
    ("machines", "State machines", _machine),
    ("sequences", "Sequences", _sequence),
    ("records", "Files and stored objects", _record),
)


def _http(links: Links, document: Document) -> Iterator[Block]:
    http = document.content.get("http")
    if http is None:
        return
    yield from _entry("HTTP", http, 2)
    yield Text(f"{http['verb']} below `{http['base']}`, `Content-Type: {http['contentType']}`.")
    rows = [
        (
            f"`{name}`" + "".join(f", `{alias}`" for alias in node.get("aliases", ())),
            links.row(document.name, "methods", node["method"]),
            "JSON-RPC" if node["envelope"] == "jsonrpc" else "bare",
            str(node.get("status", "")),
            meaning(node, "summary"),
        )
        for name, node in http["paths"].items()
    ]
    yield TableBlock.of(("path", "method", "bodies", "status", "meaning"), rows)
    events = [
        (f"`{name}`", links.named(node["data"], document.name), meaning(node, "summary"))
        for name, node in http.get("events", {}).items()
    ]
    if events:
        yield TableBlock.of(("event", "data", "meaning"), events)
    statuses = [(str(node["status"]), meaning(node, "when")) for node in http.get("statuses", ())]
    if statuses:
        yield TableBlock.of(("status", "when"), statuses)


def _grpc(links: Links, document: Document) -> Iterator[Block]:
    grpc = document.content.get("grpc")
    if grpc is None:
        return
    yield from _entry("gRPC", grpc, 2)
    yield Text(f"Service `{grpc['package']}.{grpc['service']}`.")
    rows = [
        (
            f"`{name}`",
            f"`{node['request']}`",
            ("stream of " if node.get("stream") else "") + f"`{node['response']}`",
            links.row(document.name, "methods", node["method"]),
            str(node.get("status", "")),
            meaning(node, "summary"),
        )
        for name, node in grpc["rpcs"].items()
    ]
    yield TableBlock.of(("rpc", "request", "response", "method", "status", "meaning"), rows)
    codes = [
        (f"`{node['code']}`", str(node.get("error", "")), meaning(node, "summary"))
        for node in grpc.get("codes", ())
    ]
    if codes:
        yield TableBlock.of(("code", "error", "meaning"), codes)
