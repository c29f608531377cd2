"""`NAME.methods.js`: the constants of a document, as an ES module without imports."""

from __future__ import annotations

__all__ = ("constants_file", "named_values")

import re
from typing import Any

from kinwire_codegen.exports.messages import served_methods
from kinwire_codegen.exports.typescript.comments import header
from kinwire_codegen.load.document import Document
from kinwire_codegen.load.notes import EnumValue, enum_values
from kinwire_codegen.load.parsing import json_text

Row = dict[str, Any]


def constants_file(document: Document) -> str:
    """Return the file with the constants that `NAME.methods.d.ts` declares."""
    constants: dict[str, Any] = {}
    methods = served_methods(document)
    if methods:
        constants["methods"] = {wire: _method(row) for wire, row in methods}
    constants["errors"] = {
        name: {"code": row["code"], "message": row["message"]}
        for name, row in document.content["errors"].items()
    }
    enums = named_values(document)
    if enums:
        constants["enums"] = {
            name: {one.name: one.value for one in values} for name, values in enums.items()
        }
    lines = (f"export const {name} = {_json(value)};\n" for name, value in constants.items())
    return "\n".join([header(document, "Constants"), *lines])


def named_values(document: Document) -> dict[str, list[EnumValue]]:
    """Return the integers that have names, by the name of their enum."""
    named = {
        name: [one for one in enum_values(node) if one.name]
        for name, node in document.definitions.items()
    }
    return {name: values for name, values in named.items() if values}


def _method(row: Row) -> Row:
    keys = ("kind", "from", "gate", "aliasOf")
    return {key: row[key] for key in keys if row.get(key) is not None}


def _json(value: Any) -> str:
    text = json_text(value, indent=2)
    # In an object literal this name sets the prototype, unless it is computed.
    return re.sub(r'^( +)"__proto__":', r'\1["__proto__"]:', text, flags=re.MULTILINE)
