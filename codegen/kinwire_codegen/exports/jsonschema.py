"""The types and messages of a protocol as one JSON Schema that needs nothing else (2020-12).

The schema itself takes a whole message: a request, a notification or a response. Each kind of
message has an anchor, such as `mcp.json#ToolsCallRequest`; `NAME/methods.json` lists them. A type
of the document is `#/$defs/NAME`. Types of other protocols are there as far as they are used. A
file that people write, which is a record with places, has a schema of its own, for editors.
"""

from __future__ import annotations

__all__ = ("jsonschema_files",)

import re
from typing import Any
from urllib.parse import quote

from kinwire_codegen.emit.package import OWNED
from kinwire_codegen.exports.messages import MessageSchemas
from kinwire_codegen.exports.schema_types import SchemaTypes, pascal_name
from kinwire_codegen.load.document import Document, Documents, Reference, resolve
from kinwire_codegen.load.parsing import json_text

Schema = dict[str, Any]


def jsonschema_files(documents: Documents, document: Document) -> dict[str, str]:
    """Return the files by their paths."""
    types = SchemaTypes(documents, document.name, _kinds(document))
    messages = MessageSchemas(document, types)
    schema = _head(document) | {"title": f"{pascal_name(document.name)}Message"}
    schema["description"] = f"A message of {_title(document)}. {document.content['description']}"
    if messages.schemas:
        # json-schema-to-typescript looks for types that no message uses only below an object.
        schema |= {"type": "object", "properties": {"jsonrpc": {"const": "2.0"}}}
        schema["anyOf"] = messages.schemas
    files = {document.name: schema | {"$defs": types.definitions()}}
    if messages.table:
        files[f"{document.name}/methods"] = {
            "$comment": _comment(document),
            "schema": schema["$id"],
            "methods": messages.table,
            "tools": messages.tools(),
        }
    for name, record in document.table("records").items():
        if "places" in record:
            kind = resolve(record["type"], document.name)
            files[f"{document.name}/{_file_name(name)}"] = _record(documents, document, name, kind)
    return {
        f"json-schema/{name}.json": json_text(content, indent=1) + "\n"
        for name, content in files.items()
    }


def _kinds(document: Document) -> list[Reference]:
    """Return the types of a document, and those that its methods and tools name."""
    rows = (*document.table("methods").values(), *document.table("tools").values())
    named = (row[part] for row in rows for part in ("params", "result") if part in row)
    own = (Reference(document.name, name) for name in document.definitions)
    return [*own, *(resolve(text, document.name) for text in named)]


def _record(documents: Documents, document: Document, name: str, kind: Reference) -> Schema:
    types = SchemaTypes(documents, document.name, [kind])
    head = _head(document, _file_name(name)) | {"title": f"{_title(document)}: {name}"}
    return head | {"$ref": types.pointer(kind), "$defs": types.definitions()}


def _head(document: Document, *parts: str) -> Schema:
    names = (document.name, document.content["version"], *parts)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ":".join(("urn:kinwire", *(quote(name, safe="") for name in names))),
        "$comment": _comment(document),
    }


def _comment(document: Document) -> str:
    return f"Generated from {document.file} {OWNED}."


def _title(document: Document) -> str:
    return f"{document.content['title']} {document.content['version']}"


def _file_name(record: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", record.lower())
