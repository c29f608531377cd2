"""The methods of an OpenRPC description as rows of a document."""

from __future__ import annotations

__all__ = ("MethodRows",)

import re
from collections.abc import Iterator
from typing import Any

from kinwire_codegen.imports.drafts import DraftTypes, Mark, Node
from kinwire_codegen.imports.names import one_line, pascal, summary_and_rest
from kinwire_codegen.imports.openrpc_errors import ErrorRows
from kinwire_codegen.imports.reading import MALFORMED
from kinwire_codegen.imports.well_formed import MalformedSchemaError
from kinwire_codegen.lint import RESERVED_METHODS
from kinwire_codegen.load.names import snake_name

_METHOD = re.compile(r"[A-Za-z$][A-Za-z0-9_$./-]*")
_LONGEST = 100
_KEPT = ("tags", "externalDocs", "links", "servers")


class _CannotSay(Exception):  # noqa: N818 - it ends one method, not the import
    """A method that documents cannot represent."""


class MethodRows:
    """Makes a row of each method."""

    def __init__(self, types: DraftTypes, errors: ErrorRows, *, by_position: bool) -> None:
        self._types = types
        self._errors = errors
        self._by_position = by_position
        self._examples: list[tuple[str, Any]] = []
        self.left_out: list[str] = []
        self.widened: list[str] = []

    def read(self, methods: list[Any]) -> Iterator[tuple[str, Node]]:
        """Yield each row that documents can represent."""
        names: dict[str, str] = {}
        for method in methods:
            name = method.get("name") if isinstance(method, dict) else None
            before = self._types.mark(), frozenset(self._errors.rows)
            try:
                if not isinstance(name, str):
                    raise _CannotSay("it has no name, or is not in the file")
                _check_name(name, names)
                names[snake_name(name)] = name
                yield name, self._row(name, method)
            except (_CannotSay, MalformedSchemaError) as reason:
                self._forget(*before)
                self.left_out.append(f"{name or str(method)[:80]}: {reason}")
            except MALFORMED:
                self._forget(*before)
                self.left_out.append(f"{name}: it is not a well-formed method")

    def _forget(self, types: Mark, errors: frozenset[str]) -> None:
        """Remove what a method added that is left out."""
        self._types.forget(types)
        for name in self._errors.rows.keys() - errors:
            del self._errors.rows[name]

    def add_examples(self) -> None:
        """Write the examples of methods at the types of params and results, once these are made."""
        for reference, value in self._examples:
            node = self._types.made.get(reference.rpartition("/")[2])
            if node is not None and value not in node.setdefault("examples", []):
                node["examples"].append(value)

    def _row(self, name: str, method: Node) -> Node:
        descriptors = self._params(name, method)
        text = str(method.get("description") or "")
        summary, rest = one_line(str(method.get("summary") or "")), text
        if not summary:
            summary, rest = summary_and_rest(text)
        row: Node = {
            "kind": "request" if "result" in method else "notification",
            "from": "client",
            "section": "OpenRPC",
            "summary": summary or f"`{name}`.",
        }
        by_position = self._is_by_position(method)
        if descriptors:
            row["params"] = self._params_type(name, descriptors, by_position=by_position)
            row |= {"paramsBy": "position"} if by_position else {}
        if "result" in method:
            row["result"] = self._result(name, method["result"])
        if rest and rest != summary:
            row["description"] = rest
        if method.get("deprecated"):
            row["deprecated"] = True
        errors, wrong = self._errors.names(method, self._types)
        self.left_out += [f"{name}: {what}" for what in wrong]
        row |= {"errors": errors} if errors and "result" in row else {}
        row |= {f"x-openrpc-{_dashed(key)}": method[key] for key in _KEPT if method.get(key)}
        row |= {key: value for key, value in method.items() if key.startswith("x-")}
        self._note_examples(row, method, [one["name"] for one in descriptors])
        return row

    def _params(self, name: str, method: Node) -> list[Node]:
        found: dict[str, Node] = {}
        for one in method.get("params") or ():
            if not isinstance(one, dict) or not isinstance(one.get("name"), str):
                raise _CannotSay("a param has no name, or is not in the file")
            if one["name"] in found:
                self.left_out.append(f"{name}: the param {one['name']!r} is there twice")
            found.setdefault(one["name"], one)
        return list(found.values())

    def _is_by_position(self, method: Node) -> bool:
        structure = method.get("paramStructure", "either")
        return bool(structure == "by-position" or (structure == "either" and self._by_position))

    def _params_type(self, name: str, descriptors: list[Node], *, by_position: bool) -> str:
        members: Node = {}
        required: list[str] = []
        optional = ""
        for one in descriptors:
            members[one["name"]] = _described(one)
            if not one.get("required"):
                optional = one["name"]
            elif by_position and optional:
                what = f"{name}: {one['name']!r} is required behind {optional!r}, which is not"
                self.widened.append(what)
            else:
                required.append(one["name"])
        node = {
            "description": f"Parameters of `{name}`.",
            "type": "object",
            "properties": members,
            "required": required,
        }
        return self._types.add(f"{pascal(name)}Params", node)

    def _result(self, name: str, result: Any) -> str:
        if not isinstance(result, dict):
            raise _CannotSay("its result is not in the file")
        schema = _described(result, name_too=True)
        if schema.keys() - {"description"} == {"$ref"}:
            schema = {"$ref": schema["$ref"]}
        return self._types.named(schema, f"{pascal(name)}Result")

    def _note_examples(self, row: Node, method: Node, names: list[str]) -> None:
        for pairing in method.get("examples") or ():
            if not isinstance(pairing, dict):
                continue
            given: Node = {}
            for index, one in enumerate(pairing.get("params") or ()):
                fallback = names[index] if index < len(names) else str(index)
                known = one.get("name") in names
                given[one["name"] if known else fallback] = one.get("value")
            if "params" in row and given:
                self._examples.append((row["params"], given))
            answer = pairing.get("result")
            if "result" in row and isinstance(answer, dict) and "value" in answer:
                self._examples.append((row["result"], answer["value"]))


def _check_name(name: str, names: dict[str, str]) -> None:
    other = names.get(snake_name(name))
    if not _METHOD.fullmatch(name) or len(name) > _LONGEST:
        raise _CannotSay("not a valid method name")
    if other == name:
        raise _CannotSay("it is there twice")
    if other is not None:
        raise _CannotSay(f"it is {snake_name(name)!r} in Python, as {other!r} is")
    if snake_name(name) in RESERVED_METHODS:
        raise _CannotSay(f"{snake_name(name)!r} is a name that the generated code uses itself")


def _described(descriptor: Node, *, name_too: bool = False) -> Node:
    """Return the schema of a param or a result, with what is said of it there."""
    schema = descriptor.get("schema", {})
    words = {key: one for key, one in descriptor.items() if key.startswith("x-")}
    words |= {"deprecated": True} if descriptor.get("deprecated") else {}
    text = descriptor.get("description") or descriptor.get("summary")
    words |= {"description": str(text)} if text else {}
    if schema is False:
        schema = {"not": {}}
    found = {**schema, **words} if schema is not True else words
    if name_too and not found.keys() & {"description", "title"} and descriptor.get("name"):
        found["description"] = str(descriptor["name"])
    return found


def _dashed(name: str) -> str:
    return re.sub(r"([A-Z])", r"-\1", name).lower()
