"""The types of a protocol as one JSON Schema that refers to nothing outside (2020-12).

A type of the document is `#/$defs/NAME`, as it is there. Types of protocols that it extends are
added as far as they are used.
"""

from __future__ import annotations

__all__ = ("jsonschema_files",)

import json

from kinwire_codegen.document import Document, Documents, Reference
from kinwire_codegen.package import OWNED
from kinwire_codegen.schemas import plain_type, reachable


def jsonschema_files(documents: Documents, document: Document) -> dict[str, str]:
    """Return the file by its path."""
    kinds = reachable(documents, *(Reference(document.name, one) for one in document.definitions))
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": f"Generated from {document.file} {OWNED}.",
        "title": f"{document.content['title']} {document.content['version']}",
        "$defs": {
            kind.name: plain_type(documents.definition(kind), kind.protocol, _pointer)
            for kind in sorted(kinds, key=lambda kind: kind.name)
        },
    }
    text = json.dumps(schema, ensure_ascii=False, indent=1)
    return {f"json-schema/{document.name}.json": text + "\n"}


def _pointer(reference: Reference) -> str:
    return f"#/$defs/{reference.name}"
