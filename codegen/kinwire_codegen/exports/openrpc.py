"""A protocol as OpenRPC 1.3: one document for each end that answers.

OpenRPC knows neither who sends a method nor a name for params: direction, kind and gate are in
`x-` entries, and only what one end receives is in a file. The rest of the protocol is in
`x-kinwire` entries of the file, its methods and its schemas, so that `kinwire import` returns the
whole protocol document from any of the files.
"""

from __future__ import annotations

__all__ = ("REST", "openrpc_files")

import json
from typing import Any

from kinwire_codegen.emit.package import OWNED
from kinwire_codegen.emit.rows import error_entry
from kinwire_codegen.load.document import Document, Documents, Reference, members_of, resolve
from kinwire_codegen.load.parsing import json_text
from kinwire_codegen.load.schemas import plain_type, reachable

Json = dict[str, Any]

REST = "x-kinwire"
"""The entry that has what OpenRPC does not say of a file, a method or a schema."""
_COVERED = {
    *("kind", "section", "params", "result", "errors", "summary", "description", "aliases"),
}
"""What a method says in OpenRPC's own words, or in entries of their own."""


def openrpc_files(documents: Documents, document: Document) -> dict[str, str]:
    """Return a file for each end that answers anything, by path."""
    files: dict[str, str] = {}
    for role, sender in (("server", "client"), ("client", "server")):
        rows = {
            wire: row
            for wire, row in document.content["methods"].items()
            if row["from"] in (sender, "both") and row.get("status") != "considered"
        }
        if rows:
            described = _described(documents, document, role, rows)
            rest = json.dumps(described.pop(REST))  # in one line, as no reader needs it
            text = json_text(described, indent=1, ascii_only=True).removesuffix("\n}")
            files[f"openrpc/{document.name}-{role}.json"] = f'{text},\n "{REST}": {rest}\n}}\n'
    return files


def _described(documents: Documents, document: Document, role: str, rows: Json) -> Json:
    content = document.content
    named = [
        resolve(row[part], document.name)
        for row in rows.values()
        for part in ("params", "result")
        if part in row
    ]
    kinds = reachable(documents, *named)
    return {
        "openrpc": "1.3.2",
        "x-generated": f"Generated from {document.file} {OWNED}.",
        "info": {
            "title": f"{content['title']}: what the {content['roles'][role]} answers",
            "version": content["version"],
            "description": content["description"],
        },
        "methods": [_method(documents, document, wire, row) for wire, row in rows.items()],
        "components": {
            "schemas": {kind.name: _schema(documents, kind, home=document.name) for kind in kinds}
        },
        REST: _rest(
            document, rows, {kind.name for kind in kinds if kind.protocol == document.name}
        ),
    }


def _schema(documents: Documents, kind: Reference, home: str) -> Json:
    made = plain_type(documents.definition(kind), kind.protocol, _pointer, REST)
    if kind.protocol != home:
        made[REST] = {"protocol": kind.protocol}  # it is not this protocol's own
    return made


def _rest(document: Document, rows: Json, named: set[str]) -> Json:
    """Return the parts of a document that the methods and schemas of the file do not have."""
    rest = {
        key: value for key, value in document.content.items() if key not in ("methods", "$defs")
    }
    rest["methods"] = {n: row for n, row in document.content["methods"].items() if n not in rows}
    rest["$defs"] = {n: node for n, node in document.definitions.items() if n not in named}
    return rest


def _method(documents: Documents, document: Document, wire: str, row: Json) -> Json:
    params = resolve(row["params"], document.name) if "params" in row else None
    members, required = members_of(documents, params) if params else ({}, set())
    made: Json = {
        "name": wire,
        "summary": row["summary"],
        "paramStructure": f"by-{row.get('paramsBy', 'name')}",
        "params": [
            _param(name, owner, node, name in required) for name, (owner, node) in members.items()
        ],
        **({"x-params": params.name} if params else {}),
        "x-kind": row["kind"],
        "x-section": row["section"],
    }
    if "description" in row:
        made["description"] = row["description"]
    if row.get("deprecated"):
        made["deprecated"] = True
    for key in ("gate", "aliases"):
        if row.get(key):
            made[f"x-{key}"] = row[key]
    made[REST] = {key: one for key, one in row.items() if key not in _COVERED or one in ([], "")}
    if "result" in row:
        result = resolve(row["result"], document.name)
        made["result"] = {"name": result.name, "schema": {"$ref": _pointer(result)}}
    if row.get("errors"):
        made["errors"] = [_error(documents, document, name) for name in row["errors"]]
    return made


def _param(name: str, owner: Reference, node: Json, required: bool) -> Json:
    schema = plain_type(node, owner.protocol, _pointer)
    description = schema.pop("description", None)
    made: Json = {"name": name, "required": required, "schema": schema}
    if description is not None:
        made["description"] = description
    if node.get("deprecated"):
        made["deprecated"] = True
    return made


def _error(documents: Documents, document: Document, name: str) -> Json:
    entry = error_entry(documents, document, name)
    data = {"protocol": entry["protocol"], "name": entry["name"]}  # as it is on the wire
    return {"code": entry["code"], "message": entry["message"], "data": data}


def _pointer(reference: Reference) -> str:
    return f"#/components/schemas/{reference.name}"
