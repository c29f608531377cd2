"""The errors of OpenRPC methods as the errors of a document, whose codes differ."""

from __future__ import annotations

__all__ = ("ErrorRows",)

from collections.abc import Iterator
from typing import Any

from kinwire_codegen.imports.drafts import DraftTypes, Node
from kinwire_codegen.imports.names import pascal
from kinwire_codegen.load.names import class_name

_JSONRPC = {
    -32700: "ParseError",
    -32600: "InvalidRequest",
    -32601: "MethodNotFound",
    -32602: "InvalidParams",
    -32603: "InternalError",
}
_GROUPS = ("error-groups", "x-error-group")
"""Lists of errors that methods share, which Ethereum's descriptions have."""


class ErrorRows:
    """Gathers errors while rows are made."""

    def __init__(self, methods: list[Any]) -> None:
        """Choose the names of the classes first, which no type may have then."""
        self.rows: Node = {}
        self.folded: list[str] = []
        """Errors that share the code of another one."""
        self.class_names = frozenset(
            class_name(_name(error))
            for method in methods
            if isinstance(method, dict)
            for error in _errors(method)
            if isinstance(error, dict)
        )

    def names(self, method: Node, types: DraftTypes) -> tuple[list[str], list[str]]:
        """Return the names of a method's errors, and what is wrong with the others."""
        names, wrong = [], []
        for error in _errors(method):
            code = error.get("code") if isinstance(error, dict) else None
            if not isinstance(code, int) or isinstance(code, bool):
                wrong.append(f"an error without a code: {str(error)[:80]}")
            else:
                names.append(self._error(code, error, f"{method['name']} {code}", types))
        return list(dict.fromkeys(names)), wrong

    def _error(self, code: int, error: Node, place: str, types: DraftTypes) -> str:
        message = str(error.get("message") or _name(error))
        if code in _JSONRPC:
            self._fold(f"{place} {message!r} into jsonrpc#{_JSONRPC[code]}")
            return f"jsonrpc#{_JSONRPC[code]}"
        known = next((name for name, row in self.rows.items() if row["code"] == code), None)
        if known is None:
            known = _name(error)
            if known in self.rows:
                known = f"{known}{abs(code)}"
            row: Node = {"code": code, "message": message, "description": message}
            row |= {key: one for key, one in error.items() if key.startswith("x-")}
            if "data" in error:
                row |= _data(error["data"], known, types)
            self.rows[known] = row
        elif self.rows[known]["message"] != message:
            self._fold(f"{place} {message!r} into {known}, which has the same code")
        return known

    def _fold(self, text: str) -> None:
        if text not in self.folded:
            self.folded.append(text)


def _data(data: Any, name: str, types: DraftTypes) -> Node:
    """Return the type of an error's data; a value that is not a schema is kept as an example."""
    if not isinstance(data, dict) or not data.keys() & {"type", "$ref", "properties", "oneOf"}:
        return {"x-openrpc-data": data}
    return {"data": types.named(data, f"{name}Data")}


def _errors(method: Node) -> Iterator[Any]:
    yield from method.get("errors") or ()
    for key in _GROUPS:
        for group in method.get(key) or ():
            yield from group.get("errors", ()) if isinstance(group, dict) else group


def _name(error: Node) -> str:
    name = pascal(str(error.get("message") or f"Error {error.get('code')}"))[:60]
    return name.removesuffix("Error") or name
