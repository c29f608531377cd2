"""The pages of methods and tools: what is sent, what comes back, and how that is written."""

from __future__ import annotations

__all__ = ("method_page", "tool_page")

from collections.abc import Iterable, Iterator
from typing import Any

from kinwire_codegen.document import TOOLS_CALL, Document, resolve
from kinwire_codegen.names import constant_name, snake_name
from kinwire_codegen.reference.blocks import (
    Badges,
    Block,
    Code,
    Examples,
    Heading,
    Page,
    Tab,
    TableBlock,
    TableRow,
    Text,
)
from kinwire_codegen.reference.links import Links, slug
from kinwire_codegen.reference.parts import as_json, decision, member_table, namesakes
from kinwire_codegen.reference.python import example_of, handler_code, shell_line, stub_call
from kinwire_codegen.reference.sequences import row_drawing, sequence_drawing
from kinwire_codegen.sequences import Named

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
    """Return who sends a message to whom, in the protocol's words."""
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
    yield from _told(row)
    yield from namesakes(links, document, "methods", wire)
    yield row_drawing(Named(document, "methods", wire))
    for part in ("params", "result"):
        if part in row:
            reference = resolve(row[part], document.name)
            yield Heading(f"{part.title()}: {links.kind(reference)}", anchor=part)
            yield from member_table(links, reference, part, wire)
    yield from _errors(links, document, row, wire)
    yield from _sequences(links, document, "methods", wire)
    if row.get("status") != "considered":
        yield from _examples(links, document, wire, row)


def _tool(links: Links, document: Document, name: str, row: Node) -> Iterator[Block]:
    yield from _badges(document, row, "tool", f"called through `{TOOLS_CALL}`")
    yield from _told(row)
    yield from namesakes(links, document, "tools", name)
    yield row_drawing(Named(document, "tools", name))
    for part, title in (("params", "Arguments"), ("result", "Result")):
        reference = resolve(row[part], document.name)
        yield Heading(f"{title}: {links.kind(reference)}", anchor=part)
        yield from member_table(links, reference, part)
    yield from _errors(links, document, row, None)
    yield from _sequences(links, document, "tools", name)
    if row.get("status") != "considered":
        yield from _tool_examples(links, document, name, row)


def _badges(document: Document, row: Node, kind: str, arrow: str) -> Iterator[Block]:
    badges = [kind, arrow, f"{document.content['title']} {document.content['version']}"]
    badges.append(f"section {row['section']}")
    badges += [f"since {row['since']}"] if "since" in row else []
    badges += [f"needs `{row['gate']}`"] if row.get("gate") else []
    badges += ["handled in order of arrival"] if row.get("order") else []
    badges += [f"**{row['status']}**"] if row.get("status", "stable") != "stable" else []
    yield Badges(tuple(badges))
    if row.get("aliases"):
        yield Text(f"Also called {', '.join(f'`{alias}`' for alias in row['aliases'])}.")


def _told(row: Node) -> Iterator[Block]:
    yield Text(" ".join(filter(None, (row["summary"], row.get("description")))))
    if row.get("status") == "considered":
        yield Text(
            "The specification only considers it: there is a row for it, no stub, no handler."
        )
    yield from decision(row)


def _sequences(links: Links, document: Document, table: str, wire: str) -> Iterator[Block]:
    """Yield where else the message stands: its own protocol's sequences are drawn."""
    found = links.sequences.get((document.name, table, wire), ())
    if found:
        yield Heading("In sequence", anchor="sequences")
    for other, name in found:
        place = f"../../{other.name}/data.md#{name}"
        summary = other.table("sequences")[name]["summary"]
        of = "" if other is document else f" of {other.content['title']}"
        yield Text(f"[{name}]({place}){of}: {summary}")
        if other is document:
            yield sequence_drawing(links, document, name)


def _errors(links: Links, document: Document, row: Node, wire: str | None) -> Iterator[Block]:
    found = [(links.error(document, name), "") for name in row.get("errors", ())]
    if wire is not None and row["kind"] != "notification":
        kind = resolve(row["params"], document.name)
        for other, augment in links.augments(kind, "params", wire):
            by = f"by `{augment['member']}`"
            found += [(links.error(other, name), by) for name in augment.get("errors", ())]
    if found:
        yield Heading("Errors", anchor="errors")
        columns = ("code", "error", "protocol", "meaning", "added")
        yield TableBlock(columns, tuple(_with_anchors(dict.fromkeys(found))))


def _with_anchors(found: Iterable[tuple[tuple[str, ...], str]]) -> Iterator[TableRow]:
    """Yield a row an error; where several have one code, the first has the code's anchor."""
    seen: set[str] = set()
    for cells, by in found:
        anchor = f"error.{cells[0].strip('`')}"
        yield TableRow((*cells, by), "" if anchor in seen else anchor)
        seen.add(anchor)


def _examples(links: Links, document: Document, wire: str, row: Node) -> Iterator[Block]:
    module, stub = document.module, snake_name(wire)
    kinds = [resolve(row[part], document.name) for part in ("params", "result") if part in row]
    params, result = (example_of(links, kind) for kind in (kinds[0], kinds[-1]))
    message: Node = {"jsonrpc": "2.0", "id": 1, "method": wire, "params": params}
    if row["kind"] == "notification":
        del message["id"]
    answer = {"jsonrpc": "2.0", "id": 1, "result": result}
    to_server = row["from"] != "server"
    side = "Server" if to_server else "Client"
    tabs = [
        Tab("Messages", tuple(map(as_json, (message, answer) if "result" in row else (message,)))),
        _python(
            "Client" if to_server else "Sender",
            stub_call(links, f"{module}.{side}Stub(peer).{stub}", kinds[0], params),
        ),
        _python("Handler", handler_code(links, f"{module}.{side}Handlers", stub, kinds, result)),
    ]
    if _is_offered_by_the_command(document, wire, row):
        tabs.append(_shell(wire, params))
    yield Heading("Example", anchor="example")
    yield Examples(tuple(tabs))
    yield Text(f"Row: `{module}.methods.{constant_name(wire)}`.")


def _tool_examples(links: Links, document: Document, name: str, row: Node) -> Iterator[Block]:
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
        Tab("Messages", (as_json(request), as_json(result))),
        _python("Client", called),
        _python("Handler", handler_code(links, f"{module}.ServerTools", stub, kinds, result)),
    ]
    if _speaks_mcp(links, document):
        tabs.append(_shell(name, params))
    yield Heading("Example", anchor="example")
    yield Examples(tuple(tabs))
    yield Text(f"Row: `{module}.tools.{stub.upper()}`.")


def _is_offered_by_the_command(document: Document, wire: str, row: Node) -> bool:
    """Return whether `kinwire call` sends the request; it negotiates MCP and no extension."""
    asked = row["from"] != "server" and "result" in row
    return document.name == "mcp" and asked and wire != "initialize"


def _speaks_mcp(links: Links, document: Document) -> bool:
    """Return whether the protocol's tools are called through MCP, as the command does it."""
    return "mcp" in {document.name, *(one.name for one in links.documents.extended(document))}


def _python(title: str, code: str) -> Tab:
    return Tab(title, (Code("python", code),))


def _shell(name: str, params: Node) -> Tab:
    return Tab("Shell", (Code("sh", shell_line(name, params)),))
