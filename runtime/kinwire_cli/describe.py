"""`kinwire describe`: one method, type or error, as its document gives it."""

from __future__ import annotations

__all__ = ("DescribeCommand",)

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from textwrap import fill
from typing import Any, ClassVar, NamedTuple

from kinwire_cli.completion import complete_described, completed_by
from kinwire_cli.failure import UsageError, did_you_mean
from kinwire_cli.layout import columns, json_text
from kinwire_cli.notes import value_lines, version_notes
from kinwire_cli.protocols import (
    TABLES,
    Documents,
    TypeField,
    TypeReference,
    add_package,
    fields_of,
    protocol_documents,
    reference_from,
)
from kinwire_cli.shapes import limits_of, shape_of

_TYPE_WIDTH = 36  # of the column; what is longer goes on in the next line


class DescribeCommand:
    """`kinwire describe NAME`: `tools/call`, `Tool`, `ResourceNotFound`, -32002 or `mcp#Tool`."""

    name: ClassVar[str] = "describe"
    summary: ClassVar[str] = "describe a method, a tool of a protocol, a type or an error"
    group: ClassVar[str] = "protocols and generation"
    exit_codes: ClassVar[dict[int, str]] = {}
    examples: ClassVar[tuple[str, ...]] = (
        "kinwire describe tools/call",
        "kinwire describe mcp#Tool",
        "kinwire describe --format json -32002",
    )

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments."""
        text = "tools/call, Tool, ResourceNotFound, -32002; of one protocol: mcp#Tool"
        completed_by(parser.add_argument("entry", metavar="NAME", help=text), complete_described)
        parser.add_argument("--format", choices=("text", "json"), default="text")
        add_package(parser)

    def run(self, arguments: Namespace) -> int:
        """Print every entry of that name."""
        found = _find(arguments.entry, protocol_documents(arguments.package))
        if arguments.format == "json":
            print(json_text([_as_json(entry) for entry in found]))
        else:
            print("\n\n".join("\n".join(_lines(entry)) for entry in found))
        return 0


class DocumentEntry(NamedTuple):
    """One method, tool, type or error and the document that it stands in."""

    documents: Documents
    protocol: str
    table: str
    name: str

    @property
    def document(self) -> dict[str, Any]:
        return self.documents[self.protocol]

    @property
    def node(self) -> dict[str, Any]:
        node: dict[str, Any] = self.document[self.table][self.name]
        return node

    def is_called(self, text: str) -> bool:
        """Return whether `text` is its name or, of an error, its code."""
        return self.name == text or (self.table == "errors" and str(self.node["code"]) == text)


def _find(text: str, documents: Documents) -> list[DocumentEntry]:
    entries = [
        DocumentEntry(documents, protocol, table, name)
        for protocol, document in documents.items()
        for table in TABLES
        for name in document.get(table, ())
    ]
    protocol, _, wanted = text.rpartition("#")
    found = [e for e in entries if e.is_called(wanted) and protocol in ("", e.protocol)]
    if not found:
        raise UsageError(f"There is no {text!r}.", _hint(wanted, entries))
    return found


def _hint(wanted: str, entries: list[DocumentEntry]) -> str:
    if any(e.protocol == wanted and e.table == "methods" for e in entries):
        return f"kinwire list {wanted} shows its methods."
    names = {entry.name for entry in entries}
    return did_you_mean(wanted, names, "kinwire list shows the methods.")


def _as_json(entry: DocumentEntry) -> dict[str, Any]:
    kind = TABLES[entry.table]
    return {"protocol": entry.protocol, "entry": kind, "name": entry.name, **entry.node}


def _lines(entry: DocumentEntry) -> Iterator[str]:
    node, where = entry.node, f"{entry.document['title']} {entry.document['version']}"
    if entry.table in ("methods", "tools"):
        yield from _method_lines(entry, where)
    elif entry.table == "errors":
        yield f"{entry.name}  error {node['code']}  {where}"
        yield node["description"]
        yield from _notes(node)
        yield from _decision(node)
        if "data" in node:
            yield f"data: {shape_of({'$ref': node['data']})}"
    else:
        yield f"{entry.name}  type  {where}"
        yield from _type_lines(entry.documents, TypeReference(entry.protocol, entry.name))


def _method_lines(entry: DocumentEntry, where: str) -> Iterator[str]:
    node = entry.node
    sent_as: str = node.get("kind", "tool")
    if sent_as == "either":
        sent_as = "request or notification"
    yield f"{entry.name}  {sent_as}  {where}, {node['section']}"
    yield " ".join(filter(None, (node["summary"], node.get("description"))))
    yield from _notes(node)
    yield from _decision(node)
    facts = list(_facts(node, entry.document["roles"]))
    facts += [("errors", ", ".join(node["errors"]))] if node.get("errors") else []
    yield columns(facts)
    for part in ("params", "result", "partialResult", "registrationOptions"):
        if part in node:
            kind = reference_from(node[part], entry.protocol)
            yield f"\n{part}: {kind.name}"
            # A tool's are inside those of `tools/call`: what is added to messages is not in there.
            is_message = entry.table == "methods" and part in ("params", "result")
            part_of_message = part if is_message else ""
            yield from _type_lines(entry.documents, kind, entry.name, part_of_message)


def _facts(node: dict[str, Any], roles: dict[str, str]) -> Iterator[tuple[str, str]]:
    if "kind" in node:
        sender = "either side" if node["from"] == "both" else f"the {roles[node['from']]}"
        yield from (("sent by", sender), ("needs", node.get("gate") or "nothing"))
    else:
        yield "called by", "tools/call"
    if "aliases" in node:
        yield "also called", ", ".join(node["aliases"])
    if node.get("status", "stable") != "stable":
        yield "status", node["status"]


def _type_lines(
    documents: Documents, kind: TypeReference, method: str = "", part: str = ""
) -> Iterator[str]:
    """Yield what a type is or, if it is one, that part of a method."""
    node = documents[kind.protocol]["$defs"][kind.name]
    yield node["description"]
    yield from _notes(node)
    yield from _decision(node)
    rows = [
        (f"  {member.name}", _type(member.schema), member.need, _text(member))
        for member in fields_of(documents, kind, method, part)
    ]
    if rows:
        yield columns(rows)
    elif node.get("type") != "object" and "allOf" not in node:
        yield f"  {', '.join([shape_of(node), *limits_of(node)])}"
    yield from value_lines(node)
    for example in node.get("examples", ())[:1]:
        yield f"  example: {json.dumps(example, ensure_ascii=False)}"


def _type(member: dict[str, Any]) -> str:
    text = ", ".join([shape_of(member), *limits_of(member)])
    return fill(text, _TYPE_WIDTH, break_long_words=False, break_on_hyphens=False)


def _text(member: TypeField) -> str:
    return " ".join(filter(None, (member.description, version_notes(member.schema))))


def _notes(node: dict[str, Any]) -> Iterator[str]:
    text = version_notes(node)
    if text:
        yield text


def _decision(node: dict[str, Any]) -> Iterator[str]:
    if "x-decision" in node:
        yield f"Decision: {node['x-decision']}"
