"""OpenRPC that `kinwire generate` wrote, which has the whole protocol document in it."""

from __future__ import annotations

__all__ = ("is_own", "own_document")

from typing import Any

from kinwire_codegen.exports.openrpc import REST
from kinwire_codegen.imports.drafts import Node
from kinwire_codegen.imports.imported import UselessFileError
from kinwire_codegen.imports.names import defined_name

_HINT = f"Remove the entry {REST} at the end to import the file like any other description."


def is_own(content: Any) -> bool:
    """Return whether `kinwire generate` wrote an OpenRPC description."""
    return isinstance(content, dict) and isinstance(content.get(REST), dict)


def own_document(content: Node) -> Node:
    """Return the protocol document that a description was generated from, with later edits.

    Raises:
        UselessFileError: a method or type was added that has no such entry, or the params of a
            method are not those of their type.
    """
    rest: Node = content[REST]
    schemas: Node = content["components"]["schemas"]
    homes = {name: _home(node) for name, node in schemas.items()}
    own = {name: _type(node, homes) for name, node in schemas.items() if not homes[name]}
    methods = {one["name"]: _row(one, schemas, homes, rest) for one in content["methods"]}
    found = {key: value for key, value in rest.items() if key not in ("methods", "$defs")}
    info = content["info"]
    return found | {
        "version": info["version"],
        "description": info["description"],
        "methods": rest["methods"] | methods,
        "$defs": rest["$defs"] | own,
    }


def _home(schema: Node) -> str:
    """Return the protocol that a schema was taken from, empty for the file's own."""
    rest = schema.get(REST)
    return str(rest.get("protocol", "")) if isinstance(rest, dict) else ""


def _type(node: Any, homes: dict[str, str]) -> Any:
    """Return a schema as the document writes it."""
    if isinstance(node, list):
        return [_type(inner, homes) for inner in node]
    if not isinstance(node, dict):
        return node
    made: Node = {}
    for key, value in node.items():
        if key == "$ref":
            made[key] = _reference(value, homes)
        elif key == "properties":
            made[key] = {name: _type(inner, homes) for name, inner in value.items()}
        elif key in ("anyOf", "oneOf", "allOf", "items", "additionalProperties"):
            made[key] = _type(value, homes)
        elif key != REST:
            made[key] = value
    return made | node.get(REST, {})


def _reference(text: str, homes: dict[str, str]) -> str:
    name = defined_name(text)
    home = homes.get(name, "")
    return f"{home}.json#/$defs/{name}" if home else f"#/$defs/{name}"


def _row(method: Node, schemas: Node, homes: dict[str, str], rest: Node) -> Node:
    name = method["name"]
    if not isinstance(method.get(REST), dict):
        raise UselessFileError(f"the method {name!r} has no entry {REST}.", _HINT)
    row: Node = {"kind": method["x-kind"], "section": method["x-section"]}
    row |= {key: method[key] for key in ("summary", "description") if key in method}
    row |= {"aliases": method["x-aliases"]} if "x-aliases" in method else {}
    if "x-params" in method:
        _check_params(method, schemas)
        row["params"] = _reference(f"#/components/schemas/{method['x-params']}", homes)
    if "result" in method:
        row["result"] = _reference(method["result"]["schema"]["$ref"], homes)
    if "errors" in method:
        row["errors"] = [_error(error["data"], rest["protocol"]) for error in method["errors"]]
    return {**row, **method[REST]}


def _error(data: Node, home: str) -> str:
    return str(data["name"]) if data["protocol"] == home else f"{data['protocol']}#{data['name']}"


def _check_params(method: Node, schemas: Node) -> None:
    """Refuse params that are not the fields of their type: the type alone would be read."""
    fields: set[str] = set()
    waiting = [schemas[method["x-params"]]]
    while waiting:
        here = waiting.pop()
        fields |= here.get("properties", {}).keys()
        waiting += here.get("allOf", ())
        waiting += [schemas[defined_name(here["$ref"])]] if "$ref" in here else []
    if {param["name"] for param in method["params"]} != fields:
        what = f"the params of {method['name']!r} are not the fields of {method['x-params']!r}."
        raise UselessFileError(what, "Change the schema in the same way, or both back.")
