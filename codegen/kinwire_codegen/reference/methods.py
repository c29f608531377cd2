"""The pages of methods and tools: what is sent, what comes back, and how that is written."""

from __future__ import annotations

__all__ = ("method_page", "tool_page")

import json
from collections.abc import Iterator
from typing import Any

from kinwire_codegen.document import TOOLS_CALL, Document, Reference, members_of, resolve
from kinwire_codegen.names import constant_name, snake_name
from kinwire_codegen.reference.links import Links
from kinwire_codegen.reference.parts import decision, head, member_table, table

Node = dict[str, Any]


def method_page(links: Links, document: Document, wire: str) -> str:
    """Return the page of a method."""
    row = document.content["methods"][wire]
    return "\n".join([*head(f"`{wire}`", document), *_method(links, document, wire, row)])


def tool_page(links: Links, document: Document, name: str) -> str:
    """Return the page of a tool."""
    row = document.table("tools")[name]
    return "\n".join([*head(f"`{name}`", document), *_tool(links, document, name, row)])


def _method(links: Links, document: Document, wire: str, row: Node) -> Iterator[str]:
    roles = document.content["roles"]
    ends = (roles["client"], roles["server"])
    arrow = {
        "client": f"{ends[0]} → {ends[1]}",
        "server": f"{ends[1]} → {ends[0]}",
        "both": f"{ends[0]} ↔ {ends[1]}",
    }[row["from"]]
    kind = "request or notification" if row["kind"] == "either" else row["kind"]
    yield from _badges(document, row, kind, arrow)
    yield from _told(row)
    for part in ("params", "result"):
        if part in row:
            reference = resolve(row[part], document.name)
            yield f'## <a id="{part}"></a>{part.title()}: {links.kind(reference)}'
            yield ""
            yield from member_table(links, reference, part, wire)
    yield from _errors(links, document, row, wire)
    if row.get("status") != "considered":
        yield from _in_python(links, document, wire, row)


def _tool(links: Links, document: Document, name: str, row: Node) -> Iterator[str]:
    yield from _badges(document, row, "tool", f"called through `{TOOLS_CALL}`")
    yield from _told(row)
    for part, title in (("params", "Arguments"), ("result", "Result")):
        reference = resolve(row[part], document.name)
        yield f'## <a id="{part}"></a>{title}: {links.kind(reference)}'
        yield ""
        yield from member_table(links, reference, part)
    yield from _errors(links, document, row, None)
    if row.get("status") != "considered":
        yield from _tool_in_python(links, document, name, row)


def _badges(document: Document, row: Node, kind: str, arrow: str) -> Iterator[str]:
    badges = [kind, arrow, f"{document.content['title']} {document.content['version']}"]
    badges.append(f"section {row['section']}")
    badges += [f"needs `{row['gate']}`"] if row.get("gate") else []
    badges += ["handled in order of arrival"] if row.get("order") else []
    badges += [f"**{row['status']}**"] if row.get("status", "stable") != "stable" else []
    yield " · ".join(badges)
    yield ""
    if row.get("aliases"):
        yield f"Also called {', '.join(f'`{alias}`' for alias in row['aliases'])}."
        yield ""


def _told(row: Node) -> Iterator[str]:
    yield " ".join(filter(None, (row["summary"], row.get("description"))))
    yield ""
    if row.get("status") == "considered":
        yield "The specification only considers it: there is a row for it, no stub and no handler."
        yield ""
    yield from decision(row)


def _errors(links: Links, document: Document, row: Node, wire: str | None) -> Iterator[str]:
    rows = [(links.error(document, name), "") for name in row.get("errors", ())]
    if wire is not None and row["kind"] != "notification":
        kind = resolve(row["params"], document.name)
        for other, augment in links.augments(kind, "params", wire):
            by = f"by `{augment['member']}`"
            rows += [(links.error(other, name), by) for name in augment.get("errors", ())]
    if rows:
        yield "## Errors"
        yield ""
        cells = [(told, by) for told, by in dict.fromkeys(rows)]
        yield from table(("code", "error", "protocol", "meaning", "added"), cells)


def _in_python(links: Links, document: Document, wire: str, row: Node) -> Iterator[str]:
    module, stub = document.module, snake_name(wire)
    kinds = [resolve(row[part], document.name) for part in ("params", "result") if part in row]
    params, result = (_example(links, kind) for kind in (kinds[0], kinds[-1]))
    message: Node = {"jsonrpc": "2.0", "id": 1, "method": wire, "params": params}
    if row["kind"] == "notification":
        del message["id"]
    answer = {"jsonrpc": "2.0", "id": 1, "result": result}
    yield from _block("Messages", "json", message, *([answer] if "result" in row else ()))
    caller = "Client" if row["from"] == "server" else "Server"
    call = f"{module}.{caller}(peer).{stub}({_arguments(links, kinds[0], params)})"
    yield from _code("Client" if caller == "Server" else "Sender", [f"await {call}"])
    base = "ServerHandlers" if caller == "Server" else "ClientHandlers"
    returned = f"{_class(links, kinds[1])}" if "result" in row else "None"
    yield from _code(
        "Handler",
        [
            f"class Handlers({module}.{base}):",
            f"    async def {stub}(self, params: {_class(links, kinds[0])}) -> {returned}: ...",
        ],
    )
    yield f"Row: `{module}.methods.{constant_name(wire)}`."
    yield ""


def _tool_in_python(links: Links, document: Document, name: str, row: Node) -> Iterator[str]:
    module = document.module
    stub = snake_name(name)
    if stub in {snake_name(wire) for wire in document.content["methods"]}:
        stub += "_tool"
    params, result = (resolve(row[part], document.name) for part in ("params", "result"))
    given = _example(links, params)
    call = {"name": name, "arguments": given}
    request = {"jsonrpc": "2.0", "id": 1, "method": TOOLS_CALL, "params": call}
    yield from _block("Messages", "json", request, _example(links, result))
    arguments = _arguments(links, params, given)
    yield from _code("Client", [f"await {module}.Server(peer).{stub}({arguments})"])
    yield from _code(
        "Handler",
        [
            f"class Tools({module}.ServerTools):",
            f"    async def {stub}(self, params: {_class(links, params)})"
            f" -> {_class(links, result)}: ...",
        ],
    )
    yield f"Row: `{module}.tools.{stub.upper()}`."
    yield ""


def _block(title: str, language: str, *values: Any) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    for value in values:
        yield f"```{language}"
        yield json.dumps(value, indent=2, ensure_ascii=False)
        yield "```"
        yield ""


def _code(title: str, lines: list[str]) -> Iterator[str]:
    yield f"## {title}"
    yield ""
    yield from ("```python", *lines, "```", "")


def _example(links: Links, kind: Reference) -> Any:
    return next(iter(links.documents.definition(kind).get("examples", ())), {})


def _class(links: Links, kind: Reference) -> str:
    return f"{links.documents[kind.protocol].module}.{kind.name}"


def _arguments(links: Links, kind: Reference, given: Node) -> str:
    """Return an example of params as arguments of a stub; inner objects as they are read."""
    members, _ = members_of(links.documents, kind)
    found = []
    for name, value in given.items():
        owner, node = members.get(name, (kind, {}))
        if "const" not in node:
            found.append(f"{snake_name(name)}={_value(links, owner, node, value)}")
    return ", ".join(found)


def _value(links: Links, owner: Reference, node: Node, value: Any) -> str:
    if "$ref" in node and isinstance(value, dict):
        kind = resolve(node["$ref"], owner.protocol)
        if members_of(links.documents, kind)[0]:
            return f"from_wire({_class(links, kind)}, {value!r})"
    return repr(value)
