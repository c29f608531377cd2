"""The messages of a protocol as JSON Schemas: JSON-RPC around the params and the result."""

from __future__ import annotations

__all__ = ("MessageSchemas", "served_methods")

from typing import Any

from kinwire_codegen.exports.schema_types import SchemaTypes, pascal_name
from kinwire_codegen.load.document import Document, resolve

Row = dict[str, Any]
Schema = dict[str, Any]

_VERSION: Schema = {"const": "2.0"}
_ID: Schema = {"type": ["string", "integer"]}
_ERROR: Schema = {
    "type": "object",
    "properties": {"code": {"type": "integer"}, "message": {"type": "string"}, "data": {}},
    "required": ["code", "message"],
}


def served_methods(document: Document) -> list[tuple[str, Row]]:
    """Return the methods by all their names; those that are only considered are left out.

    The row of an alias has `aliasOf`, the first name of the method.
    """
    found: list[tuple[str, Row]] = []
    for wire, row in document.content["methods"].items():
        if row.get("status") != "considered":
            found.append((wire, row))
            found += ((alias, {**row, "aliasOf": wire}) for alias in row.get("aliases", ()))
    return found


class MessageSchemas:
    """The schemas of all messages of a document, each with an anchor, and a table of them."""

    def __init__(self, document: Document, types: SchemaTypes) -> None:
        self._document = document
        self._types = types
        self._anchors: set[str] = set()
        self.schemas: list[Schema] = []
        self.table: dict[str, Row] = {}
        """The rows by method: `request`, `notification` and `response` are anchors."""
        for wire, row in served_methods(document):
            self.table[wire] = self._row(wire, row)
        if self.schemas:
            self._add("ErrorResponse", "The answer to a request that failed.", error=_ERROR)

    def tools(self) -> dict[str, Row]:
        """Return the types of each tool."""
        return {
            name: {
                "arguments": self._reference(row["params"]),
                "result": self._reference(row["result"]),
            }
            for name, row in self._document.table("tools").items()
            if row.get("status") != "considered"
        }

    def _reference(self, text: str) -> str:
        return self._types.pointer(resolve(text, self._document.name))

    def _row(self, wire: str, row: Row) -> Row:
        keys = ("kind", "from", "gate", "errors", "aliasOf")
        made = {key: row[key] for key in keys if row.get(key) is not None}
        made |= {key: self._reference(row[key]) for key in ("params", "result") if key in row}
        name = pascal_name(wire)
        if row["kind"] != "notification":
            made["request"] = self._call(f"{name}Request", wire, row, has_id=True)
            text = f"The answer to `{wire}`."
            result = {"$ref": self._reference(row["result"])}
            made["response"] = self._add(f"{name}Response", text, result=result)
        if row["kind"] != "request":
            made["notification"] = self._call(f"{name}Notification", wire, row, has_id=False)
        return made

    def _call(self, name: str, wire: str, row: Row, *, has_id: bool) -> str:
        """Add a request or a notification; return its anchor."""
        properties: Schema = {"method": {"const": wire}}
        optional: tuple[str, ...] = ()
        if "params" in row:
            kind = resolve(row["params"], self._document.name)
            by_position = row.get("paramsBy") == "position"
            reference = {"$ref": self._types.pointer(kind)}
            properties["params"] = self._types.by_position(kind) if by_position else reference
            optional = ("params",) if self._types.is_optional(kind) else ()
        return self._add(name, row["summary"], *optional, has_id=has_id, **properties)

    def _add(
        self, name: str, text: str, *optional: str, has_id: bool = True, **properties: Schema
    ) -> str:
        anchor = self._types.free(name)
        while anchor in self._anchors:
            anchor += "Value"
        self._anchors.add(anchor)
        nobody = "error" in properties  # the id of a message that could not be read is null
        identity = {"id": {"type": [*_ID["type"], "null"]} if nobody else _ID} if has_id else {}
        whole = {"jsonrpc": _VERSION, **identity, **properties}
        excluded = [key for key in ("id", "result", "error") if key not in whole]
        self.schemas.append(
            {
                "$anchor": anchor,
                "title": anchor,
                "description": text,
                "type": "object",
                "properties": whole,
                "required": [key for key in whole if key not in optional],
                "not": {"anyOf": [{"required": [key]} for key in excluded]},
            }
        )
        return f"#{anchor}"
