"""The page of what a protocol tells beside its messages: tables, machines, limits, bindings."""

from __future__ import annotations

__all__ = ("data_page",)

import json
from collections.abc import Iterator
from typing import Any

from kinwire_codegen.document import Document
from kinwire_codegen.names import constant_name
from kinwire_codegen.reference.links import Links
from kinwire_codegen.reference.parts import cell, decision, head, table, told

Node = dict[str, Any]


def data_page(links: Links, document: Document) -> str | None:
    """Return the page, None if the protocol tells no such thing."""
    if not links.has_data(document):
        return None
    parts = [*_tables(links, document), *_machines(document), *_limits(document)]
    parts += [*_records(links, document), *_http(links, document), *_grpc(links, document)]
    title = f"{document.content['title']} {document.content['version']}: data"
    # What links make is for pages two folders down; this one is one folder down.
    return "\n".join([*head(title, document), *parts]).replace("](../../", "](../")


def _entry(name: str, node: Node, level: str = "###") -> Iterator[str]:
    yield f'{level} <a id="{name}"></a>{name}'
    yield ""
    yield f"{node['summary']} Section {node['section']}."
    yield ""
    yield from decision(node)


def _tables(links: Links, document: Document) -> Iterator[str]:
    if document.table("tables"):
        yield from ("## Tables", "")
    for name, node in document.table("tables").items():
        yield from _entry(name, node)
        kind = links.named(node["type"], document.name)
        yield f"`{document.module}.tables.{constant_name(name)}`, rows of {kind}."
        yield ""
        columns = list(dict.fromkeys(key for row in node["rows"] for key in row))
        rows = [[_shown(row[key]) if key in row else "" for key in columns] for row in node["rows"]]
        yield from table(columns, rows)


def _shown(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return cell(", ".join(value))
    return cell(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _machines(document: Document) -> Iterator[str]:
    if document.table("machines"):
        yield from ("## State machines", "")
    for name, node in document.table("machines").items():
        yield from _entry(name, node)
        final = f"; nothing leaves {', '.join(node['final'])}" if "final" in node else ""
        yield (
            f"`{document.module}.tables.{constant_name(name)}`: begins in {node['initial']}{final}."
        )
        yield ""
        rows = [
            (cell(step["from"]), cell(step["on"]), cell(step["to"]), told(step, "summary"))
            for step in node["transitions"]
        ]
        yield from table(("from", "on", "to", "meaning"), rows)


def _limits(document: Document) -> Iterator[str]:
    rows = [
        (
            f'<a id="{name}"></a>`{constant_name(name)}`',
            f"`{json.dumps(node['value'])}`",
            cell(node.get("unit", "")),
            cell(node["section"]),
            told(node, "summary") + (f" Error: {node['error']}." if "error" in node else ""),
        )
        for name, node in document.table("limits").items()
    ]
    if rows:
        yield from ("## Limits and defaults", "")
        yield f"In `{document.module}.tables`."
        yield ""
        yield from table(("name", "value", "unit", "section", "meaning"), rows)


def _records(links: Links, document: Document) -> Iterator[str]:
    if document.table("records"):
        yield from ("## Files and stored objects", "")
    for name, node in document.table("records").items():
        yield from _entry(name, node)
        form = f", as {node['format'].upper()}" if "format" in node else ""
        yield f"{links.named(node['type'], document.name)}{form}."
        yield ""
        if "places" in node:
            yield from (f"{number}. `{one}`" for number, one in enumerate(node["places"], 1))
            yield ""


def _http(links: Links, document: Document) -> Iterator[str]:
    http = document.content.get("http")
    if http is None:
        return
    yield from _entry("HTTP", http, "##")
    yield f"{http['verb']} below `{http['base']}`, `Content-Type: {http['contentType']}`."
    yield ""
    rows = [
        (
            f"`{name}`" + "".join(f", `{alias}`" for alias in node.get("aliases", ())),
            links.row(document.name, "methods", node["method"]),
            "JSON-RPC" if node["envelope"] == "jsonrpc" else "bare",
            cell(node.get("status", "")),
            told(node, "summary"),
        )
        for name, node in http["paths"].items()
    ]
    yield from table(("path", "method", "bodies", "status", "meaning"), rows)
    events = [
        (f"`{name}`", links.named(node["data"], document.name), told(node, "summary"))
        for name, node in http.get("events", {}).items()
    ]
    if events:
        yield from table(("event", "data", "meaning"), events)
    statuses = [(str(node["status"]), told(node, "when")) for node in http.get("statuses", ())]
    if statuses:
        yield from table(("status", "when"), statuses)


def _grpc(links: Links, document: Document) -> Iterator[str]:
    grpc = document.content.get("grpc")
    if grpc is None:
        return
    yield from _entry("gRPC", grpc, "##")
    yield f"Service `{grpc['package']}.{grpc['service']}`."
    yield ""
    rows = [
        (
            f"`{name}`",
            f"`{node['request']}`",
            ("stream of " if node.get("stream") else "") + f"`{node['response']}`",
            links.row(document.name, "methods", node["method"]),
            cell(node.get("status", "")),
            told(node, "summary"),
        )
        for name, node in grpc["rpcs"].items()
    ]
    yield from table(("rpc", "request", "response", "method", "status", "meaning"), rows)
    codes = [
        (f"`{node['code']}`", cell(node.get("error", "")), told(node, "summary"))
        for node in grpc.get("codes", ())
    ]
    if codes:
        yield from table(("code", "error", "meaning"), codes)
