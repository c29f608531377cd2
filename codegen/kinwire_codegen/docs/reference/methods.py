"""The pages of methods and tools: request, response, fields, errors and examples."""

from __future__ import annotations

__all__ = ("method_page", "tool_page")

from collections.abc import Iterator
from typing import Any

from kinwire_codegen.docs.reference.blocks import (
    Badges,
    Block,
    Code,
    Examples,
    Folded,
    Heading,
    Page,
    Tab,
    TableBlock,
    TableRow,
    Text,
)
from kinwire_codegen.docs.reference.fields import field_blocks
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.docs.reference.parts import as_json, decision, namesakes, vendor_items
from kinwire_codegen.docs.reference.python import example_of, handler_code, shell_line, stub_call
from kinwire_codegen.docs.reference.sequences import row_drawing, sequence_drawing
from kinwire_codegen.load.document import TOOLS_CALL, Document, resolve
from kinwire_codegen.load.names import constant_name, slug, snake_name
from kinwire_codegen.load.notes import deprecation, status_mark
from kinwire_codegen.load.sequences import Named

Node = dict[str, Any]


def method_page(links: Links, document: Document, wire: str) -> Page:
    """Return the page of a method."""
    row = document.content["methods"][wire]
    path = f"{document.name}/methods/{slug(wire)}"
    blocks = tuple(_method(links, document, wire, row))
    return Page(path, f"`{wire}`", "method", row["summary"], document, blocks)


def tool_page(links: Links, document: Document, name: str) -> Page:
    """Return the page of a tool."""
    row = document.table("tools")[name]
    path = f"{document.name}/tools/{slug(name)}"
    blocks = tuple(_tool(links, document, name, row))
    return Page(path, f"`{name}`", "tool", row["summary"], document, blocks)


def sender(document: Document, row: Node) -> str:
    """Return sender and receiver of a message, by the names of their roles."""
    roles = document.content["roles"]
    client, server = roles["client"], roles["server"]
    return {
        "client": f"{client} → {server}",
        "server": f"{server} → {client}",
        "both": f"{client} ↔ {server}",
    }[row.get("from", "client")]


def _method(links: Links, document: Document, wire: str, row: Node) -> Iterator[Block]:
    kind = "request or notification" if row["kind"] == "either" else row["kind"]
    yield from _badges(document, row, kind, sender(document, row))
    yield from _summary(row)
    yield from namesakes(links, document, "methods", wire)
    if row.get("status") != "considered":
        yield _examples(links, document, wire, row)
    for part in ("params", "result"):
        if part in row:
            reference = resolve(row[part], document.name)
            yield Heading(f"{part.title()}: {links.kind(reference)}", anchor=part)
            yield from field_blocks(links, document, reference, part, wire)
    yield from _further_parts(links, document, row)
    yield from _errors(links, document, row, wire)
    yield from _sequences(links, document, "methods", wire)


def _further_parts(links: Links, document: Document, row: Node) -> Iterator[Block]:
    """Yield the type of partial results, and how the method is registered."""
    for part, title in (
        ("partialResult", "Partial result"),
        ("registrationOptions", "Registration options"),
    ):
        if part in row:
            reference = resolve(row[part], document.name)
            yield Heading(f"{title}: {links.kind(reference)}", anchor=part)
            yield from field_blocks(links, document, reference, part)
    if "registrationMethod" in row:
        yield Text(f"Registered as `{row['registrationMethod']}`.")


def _tool(links: Links, document: Document, name: str, row: Node) -> Iterator[Block]:
    yield from _badges(document, row, "tool", f"called through `{TOOLS_CALL}`")
    yield from _summary(row)
    yield from namesakes(links, document, "tools", name)
    if row.get("status") != "considered":
        yield _tool_examples(links, document, name, row)
    for part, title in (("params", "Arguments"), ("result", "Result")):
        reference = resolve(row[part], document.name)
        yield Heading(f"{title}: {links.kind(reference)}", anchor=part)
        yield from field_blocks(links, document, reference, part)
    yield from _errors(links, document, row, None)
    yield from _sequences(links, document, "tools", name)


def _badges(document: Document, row: Node, kind: str, arrow: str) -> Iterator[Block]:
    badges = [kind, arrow, f"{document.content['title']} {document.content['version']}"]
    badges.append(f"section {row['section']}")
    badges += [f"since {row['since']}"] if "since" in row else []
    badges += [f"needs `{row['gate']}`"] if row.get("gate") else []
    badges += ["handled in order of arrival"] if row.get("order") else []
    badges += [f"**{status_mark(row)}**"] if status_mark(row) else []
    yield Badges(tuple(badges))
    if row.get("aliases"):
        yield Text(f"Also called {', '.join(f'`{alias}`' for alias in row['aliases'])}.")


def _summary(row: Node) -> Iterator[Block]:
    yield Text(" ".join(filter(None, (row["summary"], row.get("description"), deprecation(row)))))
    if row.get("status") == "considered":
        yield Text(
            "The specification only considers it. The bindings have a constant for it, but no"
            " stub and no handler."
        )
    yield from decision(row)
    yield from vendor_items(row)


def _sequences(links: Links, document: Document, table: str, wire: str) -> Iterator[Block]:
    """Yield the picture of the message, and the sequences that it is part of.

    Sequences of its own protocol are drawn; there is a link to others.
    """
    yield Heading("In sequence", anchor="sequences")
    yield row_drawing(Named(document, table, wire))
    for other, name in links.sequences.get((document.name, table, wire), ()):
        place = f"../../{other.name}/data.md#{name}"
        summary = other.table("sequences")[name]["summary"]
        of = "" if other is document else f" of {other.content['title']}"
        yield Text(f"[{name}]({place}){of}: {summary}")
        if other is document:
            yield sequence_drawing(links, document, name)


ErrorCells = tuple[str, str, str, str]
"""Code, error, protocol and meaning."""


def _errors(links: Links, document: Document, row: Node, wire: str | None) -> Iterator[Block]:
    """Yield the errors of a method, and folded those that fields of other protocols add."""
    seen: set[str] = set()
    own = list(dict.fromkeys(links.error(document, name) for name in row.get("errors", ())))
    added = [] if wire is None else list(_added_errors(links, document, row, wire))
    if own or added:
        yield Heading("Errors", anchor="errors")
    if own:
        columns = ("code", "error", "protocol", "meaning")
        yield TableBlock(columns, tuple(_error_row(cells, "", seen) for cells in own))
    if added:
        rows = tuple(_error_row(cells, by, seen) for cells, by in added)
        count = f"{len(rows)} error{'' if len(rows) == 1 else 's'}"
        table = TableBlock(("code", "error", "protocol", "meaning", "because of"), rows)
        yield Folded(f"{count} because of fields that other protocols add", (table,))


def _added_errors(
    links: Links, document: Document, row: Node, wire: str
) -> Iterator[tuple[ErrorCells, str]]:
    """Yield each error that an added field leads to, with that field."""
    if row["kind"] == "notification":
        return
    if "params" not in row:
        return
    kind = resolve(row["params"], document.name)
    for other, augment in links.augments(kind, "params", wire):
        for name in dict.fromkeys(augment.get("errors", ())):
            yield links.error(other, name), f"`{augment['member']}`"


def _error_row(cells: ErrorCells, by: str, seen: set[str]) -> TableRow:
    """Return a row; where several errors have one code, the first has the anchor of the code."""
    anchor = f"error.{cells[0].strip('`')}"
    is_first = anchor not in seen
    seen.add(anchor)
    return TableRow((*cells, by) if by else cells, anchor if is_first else "")


def _examples(links: Links, document: Document, wire: str, row: Node) -> Examples:
    module, stub = document.module, snake_name(wire)
    kinds = [
        resolve(row[part], document.name) if part in row else None for part in ("params", "result")
    ]
    params, result = (None if kind is None else example_of(links, kind) for kind in kinds)
    to_server = row["from"] != "server"
    side = "Server" if to_server else "Client"
    tabs = [
        Tab("Messages", tuple(_messages(wire, row, params, result))),
        _python(
            "Client" if to_server else "Sender",
            stub_call(links, f"{module}.{side}Stub(peer).{stub}", kinds[0], params),
        ),
        _python("Handler", handler_code(links, f"{module}.{side}Handlers", stub, kinds, result)),
    ]
    if kinds[0] and isinstance(params, dict) and _is_offered_by_the_command(document, wire, row):
        tabs.append(_shell(wire, params))
    return Examples(tuple(tabs), f"Constant: `{module}.methods.{constant_name(wire)}`.")


def _messages(wire: str, row: Node, params: Any, result: Any) -> Iterator[Code]:
    message: Node = {"jsonrpc": "2.0", "id": 1, "method": wire}
    if "params" in row:
        message["params"] = [*params.values()] if row.get("paramsBy") == "position" else params
    if row["kind"] == "notification":
        del message["id"]
    yield as_json(message, "Notification" if row["kind"] == "notification" else "Request")
    if "result" in row:
        yield as_json({"jsonrpc": "2.0", "id": 1, "result": result}, "Response")


def _tool_examples(links: Links, document: Document, name: str, row: Node) -> Examples:
    module = document.module
    stub = snake_name(name)
    if stub in {snake_name(wire) for wire in document.content["methods"]}:
        stub += "_tool"
    kinds = [resolve(row[part], document.name) for part in ("params", "result")]
    params, result = (example_of(links, kind) for kind in kinds)
    call = {"name": name, "arguments": params}
    request = {"jsonrpc": "2.0", "id": 1, "method": TOOLS_CALL, "params": call}
    called = stub_call(links, f"{module}.ServerStub(peer).{stub}", kinds[0], params)
    tabs = [
        Tab("Messages", (as_json(request, "Request"), as_json(result, "Result"))),
        _python("Client", called),
        _python("Handler", handler_code(links, f"{module}.ServerTools", stub, kinds, result)),
    ]
    if _speaks_mcp(links, document):
        tabs.append(_shell(name, params))
    return Examples(tuple(tabs), f"Constant: `{module}.tools.{stub.upper()}`.")


def _is_offered_by_the_command(document: Document, wire: str, row: Node) -> bool:
    """Return whether `kinwire call` can send the request: it negotiates only MCP."""
    asked = row["from"] != "server" and "result" in row
    return document.name == "mcp" and asked and wire != "initialize"


def _speaks_mcp(links: Links, document: Document) -> bool:
    """Return whether the protocol's tools are called through MCP, as `kinwire call` does it."""
    return "mcp" in {document.name, *(one.name for one in links.documents.extended(document))}


def _python(title: str, code: str) -> Tab:
    return Tab(title, (Code("python", code),))


def _shell(name: str, params: Node) -> Tab:
    return Tab("Shell", (Code("sh", shell_line(name, params)),))
