"""An OpenRPC document as a document: methods with params by name and objects as results.

OpenRPC describes only what the client of a service sends, so every row is sent by the client.
Documents cannot represent params by position and results that are not objects: such methods are
left out. The `x-` members that `kinwire generate` writes are read.
"""

from __future__ import annotations

__all__ = ("NotOpenRpcError", "openrpc_document", "read_openrpc")

import re
from collections.abc import Iterator
from typing import Any

from kinwire_codegen.imports.drafts import DraftTypes, Node, defined_name
from kinwire_codegen.imports.imported import Imported, ImportSource, UselessFileError
from kinwire_codegen.imports.merging import merged
from kinwire_codegen.imports.names import pascal
from kinwire_codegen.imports.reading import read_json
from kinwire_codegen.load.names import class_name

_METHOD = re.compile(r"[A-Za-z$][A-Za-z0-9_$./-]*")
OWN = range(-32700, -32599)  # the codes of JSON-RPC itself


class NotOpenRpcError(Exception):
    """The file is not an OpenRPC document."""


class _CannotSay(Exception):  # noqa: N818 - it ends one method, not the import
    """A method that documents cannot represent."""


def read_openrpc(source: ImportSource) -> Imported:
    """Return the document of an OpenRPC file.

    Raises:
        UselessFileError: it cannot be imported.
    """
    try:
        return openrpc_document(
            read_json(source.path),
            protocol=source.protocol,
            version=source.version,
            taken=source.taken,
        )
    except NotOpenRpcError as error:
        hint = "Name another file or another kind."
        raise UselessFileError(f"{source.path}: {error}.", hint) from None


def openrpc_document(
    content: Any, *, protocol: str | None, version: str | None, taken: frozenset[str]
) -> Imported:
    """Return the document; `taken` are names that the generated code uses itself.

    Raises:
        NotOpenRpcError: it is not OpenRPC, or none of its methods can be represented.
    """
    if not isinstance(content, dict) or not isinstance(content.get("methods"), list):
        raise NotOpenRpcError("it has no list of methods")
    info = content.get("info", {})
    reader = _OpenRpcReader(content, taken)
    methods = dict(reader.methods())
    if not methods:
        why = "; ".join(reader.left_out[:3])
        raise NotOpenRpcError(f"none of its methods can be represented in a document ({why})")
    reader.types.finish()
    title = str(info.get("title") or "Imported")
    found = {
        "$schema": "meta.schema.json",
        "protocol": protocol or _protocol(title),
        "title": title,
        "version": version or str(info.get("version") or "1"),
        "description": str(info.get("description") or f"{title}, imported from OpenRPC."),
        "capability": None,
        "roles": {"client": "client", "server": "server"},
        "methods": methods,
        "errors": reader.errors,
        "$defs": dict(sorted(reader.types.made.items())),
    }
    return Imported(
        found,
        tuple(reader.left_out),
        widened=reader.types.widened(),
        without_effect=reader.types.without_effect(),
    )


def _protocol(title: str) -> str:
    words = re.findall(r"[a-z0-9]+", title.lower())
    name = "-".join(words) or "imported"
    return name if name[0].isalpha() else f"p-{name}"


class _OpenRpcReader:
    def __init__(self, content: Node, taken: frozenset[str]) -> None:
        self._content = content
        self.errors: Node = {}
        self.left_out: list[str] = []
        schemas = content.get("components", {}).get("schemas", {})
        classes = {class_name(name) for name in self._error_names()}
        self.types = DraftTypes(schemas, taken | classes)

    def methods(self) -> Iterator[tuple[str, Node]]:
        """Yield each row that can be said."""
        met: set[str] = set()
        for given in self._content["methods"]:
            method = self._followed(given)
            name = str(method.get("name", given))
            if "name" not in method or not _METHOD.fullmatch(name):
                self.left_out.append(f"{name}: not a valid method name")
                continue
            if name in met:
                self.left_out.append(f"{name}: it is there twice")
                continue
            met.add(name)
            try:
                yield name, self._row(method)
            except _CannotSay as reason:
                self.left_out.append(f"{name}: {reason}")

    def _row(self, method: Node) -> Node:
        if method.get("paramStructure") == "by-position":
            raise _CannotSay("its params are passed by position")
        kind = method.get("x-kind") or ("request" if "result" in method else "notification")
        row = {
            "kind": kind,
            "from": "client",
            "section": str(method.get("x-section") or "OpenRPC"),
            "summary": str(method.get("summary") or f"`{method['name']}`."),
        }
        params = self._params(method)  # makes no types, so none is left of what cannot be said
        result = self._result(method) if "result" in method else None
        row["params"] = self.types.add(*params)
        row |= {} if result is None else {"result": result}
        row |= {"description": method["description"]} if method.get("description") else {}
        row |= {"deprecated": True} if method.get("deprecated") else {}
        row |= {key: method[f"x-{key}"] for key in ("gate", "aliases") if method.get(f"x-{key}")}
        errors = [name for name in map(self._error, method.get("errors", ())) if name]
        return row | ({"errors": list(dict.fromkeys(errors))} if errors else {})

    def _params(self, method: Node) -> tuple[str, Node]:
        members: Node = {}
        required = []
        for given in method.get("params", ()):
            one = self._followed(given)
            if not isinstance(one.get("name"), str):
                raise _CannotSay("a param has no name, or is not in the file")
            schema = one.get("schema", {})
            words = {key: one[key] for key in ("description", "deprecated") if one.get(key)}
            members[one["name"]] = {**schema, **words} if isinstance(schema, dict) else {}
            required += [one["name"]] if one.get("required") else []
        name = method.get("x-params") or f"{pascal(method['name'])}Params"
        text = f"Parameters of `{method['name']}`."
        node = {"description": text, "type": "object", "properties": members, "required": required}
        return name, node

    def _result(self, method: Node) -> str:
        schema = self._followed(method["result"]).get("schema", {})
        whole = self._followed(schema) if isinstance(schema, dict) else {}
        branches = [self._followed(one) for key in ("oneOf", "anyOf") for one in whole.get(key, ())]
        if branches and all("properties" in one for one in branches):
            whole = merged(branches)
        elif (named := self._definition(schema)) and whole.keys() & {"properties", "allOf"}:
            return self.types.reference(named)
        if whole.get("type") != "object" and "properties" not in whole:
            raise _CannotSay("its result is not an object")
        return self.types.add(f"{pascal(method['name'])}Result", {"properties": {}, **whole})

    def _definition(self, schema: Any) -> str:
        """Return the definition that a schema is a mere reference to; empty if to none."""
        name = defined_name(schema["$ref"]) if isinstance(schema, dict) and "$ref" in schema else ""
        return name if name in self.types.source else ""

    def _error(self, given: Any) -> str | None:
        error = self._followed(given)
        code = error.get("code")
        if not isinstance(code, int) or code in OWN:
            return None
        known = next((n for n, row in self.errors.items() if row["code"] == code), None)
        if known is None:
            known = _error_name(error)
            if known in self.errors:
                known = f"{known}{abs(code)}"
            message = str(error.get("message") or known)
            self.errors[known] = {"code": code, "message": message, "description": message}
        return known

    def _error_names(self) -> Iterator[str]:
        for method in self._content["methods"]:
            errors = self._followed(method).get("errors", ())
            yield from (_error_name(self._followed(error)) for error in errors)

    def _followed(self, node: Any) -> Node:
        """Return what a reference inside the document leads to; an empty node if to nothing."""
        for _ in range(10):  # references to references: nobody writes more
            if not isinstance(node, dict) or "$ref" not in node:
                break
            here: Any = self._content
            for step in str(node["$ref"]).removeprefix("#/").split("/"):
                key = step.replace("~1", "/").replace("~0", "~")
                here = here.get(key) if isinstance(here, dict) else None
            node = here
        return node if isinstance(node, dict) else {}


def _error_name(error: Node) -> str:
    data = error.get("data")
    if isinstance(data, dict) and isinstance(data.get("name"), str):
        return pascal(data["name"])
    name = pascal(str(error.get("message") or f"Error {error.get('code')}"))[:60]
    return name.removesuffix("Error") or name
