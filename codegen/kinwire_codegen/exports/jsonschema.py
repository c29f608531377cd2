"""The types of a protocol as one JSON Schema that refers to nothing outside (2020-12).

A type of the document is `#/$defs/NAME`, as it is there. Types of protocols that it extends are
added as far as they are used. A file that people write, which is a record with places, has a schema
of its own for editors.
"""

from __future__ import annotations

__all__ = ("jsonschema_files",)

import json
import re
from typing import Any

from kinwire_codegen.emit.package import OWNED
from kinwire_codegen.load.document import Document, Documents, Reference, resolve
from kinwire_codegen.load.schemas import plain_type, reachable


def jsonschema_files(documents: Documents, document: Document) -> dict[str, str]:
    """Return the files by their paths."""
    types = [Reference(document.name, one) for one in document.definitions]
    title = f"{document.content['title']} {document.content['version']}"
    files = {document.name: _schema(documents, document, title, types)}
    for name, record in document.table("records").items():
        if "places" in record:
            kind = resolve(record["type"], document.name)
            whole = {"$ref": _pointer(kind)}
            schema = _schema(documents, document, f"{title}: {name}", [kind]) | whole
            files[f"{document.name}/{_file_name(name)}"] = schema
    return {
        f"json-schema/{name}.json": json.dumps(schema, ensure_ascii=False, indent=1) + "\n"
        for name, schema in files.items()
    }


def _schema(
    documents: Documents, document: Document, title: str, kinds: list[Reference]
) -> dict[str, Any]:
    """Return a schema with `kinds` and all that they are made of."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": f"Generated from {document.file} {OWNED}.",
        "title": title,
        "$defs": {
            kind.name: plain_type(documents.definition(kind), kind.protocol, _pointer)
            for kind in sorted(reachable(documents, *kinds), key=lambda kind: kind.name)
        },
    }


def _file_name(record: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", record.lower())


def _pointer(reference: Reference) -> str:
    return f"#/$defs/{reference.name}"
