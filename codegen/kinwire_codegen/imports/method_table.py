"""Tables that say which definitions of a JSON Schema are the methods of a protocol.

`tables/` has those of known protocols, `method_table.schema.json` says how one is written. A place
is `NAME/POINTER`: a definition and a JSON pointer into it, which also goes through `$ref` and
`allOf`. In a rule a place that begins with a slash, or is empty, is one of the matched definition.
"""

from __future__ import annotations

__all__ = ("MethodTable", "TableError", "table_names", "table_of")

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinwire_codegen.imports.assembling import MethodDraft
from kinwire_codegen.imports.imported import UselessFileError
from kinwire_codegen.imports.names import defined_name, one_line
from kinwire_codegen.imports.reading import read_json
from kinwire_codegen.load.names import nearest

if TYPE_CHECKING:
    from jsonschema import ValidationError

Node = dict[str, Any]

_SCHEMA = "method_table.schema.json"
_FOLDER = resources.files(__package__ or "kinwire_codegen.imports")


class TableError(UselessFileError):
    """A table does not fit the schema that it is used with, or is not a table."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "Correct the table, or name another with --methods.")


def table_names() -> tuple[str, ...]:
    """Return the names of the tables that come with the package."""
    files = (_FOLDER / "tables").iterdir()
    return tuple(sorted(file.name.removesuffix(".json") for file in files))


def table_of(text: str) -> Node:
    """Return a table by its name, or from a file.

    Raises:
        TableError: there is no such table or file, or it is not a valid table.
        UselessFileError: the file cannot be read, or is not JSON.
    """
    from jsonschema import Draft202012Validator

    table: Node
    if text in table_names():
        table = json.loads((_FOLDER / "tables" / f"{text}.json").read_text(encoding="utf-8"))
    elif (path := Path(text)).is_file():
        table = read_json(path)
    else:
        known = ", ".join(table_names())
        raise TableError(f"there is no table or file {text!r}; the tables are {known}.")
    schema = json.loads((_FOLDER / _SCHEMA).read_text(encoding="utf-8"))
    checker = Draft202012Validator.FORMAT_CHECKER  # patterns
    validator = Draft202012Validator(schema, format_checker=checker)
    found = min(validator.iter_errors(table), key=_where, default=None)
    if found is not None:
        raise TableError(f"{text} is not a method table: at {found.json_path}, {found.message}.")
    return table


def _where(problem: ValidationError) -> str:
    return problem.json_path


@dataclass
class MethodTable:
    """A table applied to the definitions of a schema."""

    table: Node
    definitions: Node
    consumed: dict[str, str] = field(default_factory=dict[str, str])
    """Definitions that became methods and errors, each with what it became."""
    left_out: list[str] = field(default_factory=list)

    def methods(self) -> dict[str, MethodDraft]:
        """Return the methods: those that are named, then what the rules find.

        Raises:
            TableError: a place leads nowhere.
        """
        found = {
            name: self._named(name, row) for name, row in self.table.get("methods", {}).items()
        }
        for rule in self.table.get("rules", ()):
            for name, draft in self._found(rule):
                found.setdefault(name, draft)
        for pattern in self.table.get("envelopes", ()):
            for name in self.definitions:
                if re.fullmatch(pattern, name):
                    self.consumed.setdefault(name, "the messages of all methods")
        return found

    def markers(self) -> set[str]:
        """Return the keywords of vendors that say no more than the methods do."""
        given = [rule["method"] for rule in self.table.get("rules", ())]
        given += [
            rule["from"]["at"]
            for rule in self.table.get("rules", ())
            if isinstance(rule["from"], dict)
        ]
        return {place[1:] for place in given if place.startswith("/x-")}

    def records(self) -> dict[str, Node]:
        """Return files and stored objects by name, as documents have them, with their schemas."""
        given = self.table.get("records", {})
        return {name: row for name, row in given.items() if row["type"] in self.definitions}

    def errors(self) -> dict[str, Node]:
        """Return the errors by name."""
        found: dict[str, Node] = {}
        for rule in self.table.get("errors", ()):
            for name, error in self._codes(rule) if "values" in rule else self._errors(rule):
                found.setdefault(name, error)
        return found

    def _named(self, name: str, row: Node) -> MethodDraft:
        parts: Node = {}
        for part in ("params", "result", "partialResult"):
            if part in row:
                parts[part] = self._place(row[part], f"methods/{name}/{part}")
        kept = ("paramsBy", "since", "deprecated", "errors")
        more: Node = {key: row[key] for key in kept if key in row}
        if row["kind"] != "notification" and "result" not in parts:
            parts["result"] = {"type": "null"}
        text = row.get("description", "")
        return MethodDraft(row["kind"], row["from"], f"table, {name}", text, parts, more)

    def _place(self, place: str, where: str) -> Node:
        name, slash, pointer = place.partition("/")
        if name not in self.definitions:
            close = nearest(name, self.definitions)
            what = f"the table's {where} names {name!r}, which is not a definition of the schema"
            raise TableError(f"{what}." if close is None else f"{what}. Did you mean {close!r}?")
        node: Node | None = self._inside(name, slash + pointer)
        if node is None:
            raise TableError(f"{where} names {place!r}, and there is nothing at that place.")
        return node

    def _found(self, rule: Node) -> Iterator[tuple[str, MethodDraft]]:
        for name in self.definitions:
            match = re.fullmatch(rule["definitions"], name)
            wire = _constant(self._inside(name, rule["method"])) if match else None
            if match is None or wire is None:
                continue
            self.consumed[name] = wire
            parts: Node = {}
            params = self._inside(name, rule["params"]) if "params" in rule else None
            if params is not None and not isinstance(params.get("type"), list):  # any value
                parts["params"] = params
            if rule["kind"] == "request":
                result = self._result(rule, match, wire)
                if result is None:
                    self.left_out.append(f"{wire}: there is no definition of its result")
                    continue
                parts["result"] = result
            text = str(self._inside(name, "/description") or "")
            sender = self._sender(rule["from"], name)
            yield wire, MethodDraft(rule["kind"], sender, f"schema, {name}", text, parts)

    def _sender(self, given: Any, name: str) -> str:
        if isinstance(given, str):
            return given
        value = _constant(self._inside(name, given["at"]))
        if value not in given["values"]:
            known = ", ".join(given["values"])
            raise TableError(f"{name}{given['at']} is {value!r}, and the table knows only {known}.")
        return str(given["values"][value])

    def _result(self, rule: Node, match: re.Match[str], wire: str) -> Node | None:
        for template in rule.get("result", ()):
            name, slash, pointer = template.format(*match.groups()).partition("/")
            if name in self.definitions:
                self.consumed.setdefault(name, wire)
                found = self._inside(name, slash + pointer)
                if found is not None:
                    may_be_absent = pointer and not self._is_required(name, pointer)
                    return (
                        {"anyOf": [found, {"type": "null"}]} if may_be_absent and found else found
                    )
        return None

    def _is_required(self, name: str, pointer: str) -> bool:
        member = pointer.rpartition("/")[2]
        return any(
            member in view.get("required", ()) for view in self._views({"$ref": f"#/$defs/{name}"})
        )

    def _inside(self, name: str, pointer: str) -> Any:
        """Return what is at a pointer in a definition; None if there is nothing."""
        if not pointer:
            return {"$ref": f"#/$defs/{name}"}
        here: Any = {"$ref": f"#/$defs/{name}"}
        for step in pointer.split("/")[1:]:
            views = [view for view in self._views(here) if step in view]
            if not views:
                return None
            parts = [view[step] for view in views]
            # The views of several lists of fields are in the same order again.
            here = {"allOf": parts[::-1]} if step == "properties" else parts[0]
        return here

    def _views(self, node: Any) -> list[Node]:
        """Return a node and what it refers to and consists of, the most special first."""
        if not isinstance(node, dict):
            return []
        found = [node]
        for branch in reversed(node.get("allOf", ())):
            found += self._views(branch)
        if "$ref" in node:
            found += self._views(self.definitions.get(defined_name(node["$ref"])))
        return found

    def _codes(self, rule: Node) -> Iterator[tuple[str, Node]]:
        """Yield the errors of a definition that lists codes, each with a title."""
        node = self.definitions.get(rule["values"], {})
        self.consumed[rule["values"]] = "errors"
        for branch in (*node.get("oneOf", ()), *node.get("anyOf", ())):
            if isinstance(branch.get("const"), int) and branch.get("title"):
                text = one_line(branch.get("description") or branch["title"])
                name = "".join(word.capitalize() for word in branch["title"].split())
                yield (
                    name,
                    {"code": branch["const"], "message": branch["title"], "description": text},
                )

    def _errors(self, rule: Node) -> Iterator[tuple[str, Node]]:
        """Yield the errors that have a definition each."""
        for name in self.definitions:
            match = re.fullmatch(rule["definitions"], name)
            code = _constant(self._inside(name, rule["code"])) if match else None
            if match is None or not isinstance(code, int):
                continue
            self.consumed[name] = "errors"
            said = self._inside(name, rule.get("message", "/none")) or {}
            error: Node = {"code": code, "message": str(said.get("default") or match[1])}
            text = one_line(self._inside(name, "/description") or error["message"])
            data = self._inside(name, rule["data"]) if "data" in rule else None
            error |= {"description": text}
            yield match[1], error | ({"data": data} if _says(data) else {})


def _says(data: Any) -> bool:
    """Return whether a type of an error's data says more than that there may be any."""
    return isinstance(data, dict) and bool(data.keys() - {"description"})


def _constant(node: Any) -> Any:
    """Return the one value that a type takes, or the text of a marker."""
    if isinstance(node, str | int):
        return node
    if isinstance(node, dict):
        values = [node["const"]] if "const" in node else node.get("enum", [])
        return values[0] if len(values) == 1 else None
    return None
