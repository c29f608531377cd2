"""The official `schema.json` of a version of MCP as a document: draft-07 and 2020-12 alike.

Its unions (`ClientRequest` and similar) say who sends a message, its names say what the result is
(`ListToolsRequest`, `ListToolsResult`). It does not contain gates, sections and the errors of a
method. Types that no method and no error use are left out.
"""

from __future__ import annotations

__all__ = ("mcp_document", "read_mcp_schema")

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kinwire_codegen.imports.assembling import OWN_CODES, document_head
from kinwire_codegen.imports.drafts import DraftTypes, Node, definitions_of
from kinwire_codegen.imports.imported import Imported, ImportSource, UselessFileError
from kinwire_codegen.imports.names import defined_name, first_sentence
from kinwire_codegen.imports.reading import read_json
from kinwire_codegen.imports.unions import merged_object

ROLES = ("client", "server")
TASK = "CreateTaskResult"
_VERSION = re.compile(r"\d{4}-\d\d-\d\d|draft")


def read_mcp_schema(source: ImportSource) -> Imported:
    """Return the document of one version, which a folder or the file is named after.

    Raises:
        UselessFileError: it cannot be imported.
    """
    return mcp_document(read_json(source.path), source)


def _version(path: Path) -> str | None:
    """Return the version that a path names, None if it names none."""
    for part in (path.stem, *reversed(path.resolve().parent.parts)):
        if _VERSION.fullmatch(part):
            return part
    return None


def mcp_document(schema: Any, source: ImportSource) -> Imported:
    """Return the document of a schema; `source` has what the user chose.

    Raises:
        UselessFileError: there are no unions of requests in it, or its version is unknown.
    """
    definitions = definitions_of(schema)
    if "ClientRequest" not in definitions:
        raise _not_a_schema("it has no definition ClientRequest under $defs or definitions")
    types = DraftTypes(definitions, source.taken)
    errors = dict(_errors(definitions, types))
    methods = dict(_methods(definitions, types))
    types.finish()
    version = source.version or _version(source.path)
    if version is None:  # asked for last: the file may be of another kind
        raise UselessFileError("its version is unknown.", "Pass --as-version.")
    rows = _rows(definitions)
    absent = sorted(
        name for name in definitions if types.name_of(name) not in types.made and name not in rows
    )
    became = {name: _became(definitions, name, types) for name in absent}
    content = {
        **document_head(
            source.protocol or "mcp",
            "Model Context Protocol",
            version,
            f"MCP {version}, imported from its official schema.",
            {role: role for role in ROLES},
        ),
        "methods": methods,
        "errors": errors,
        "$defs": dict(sorted(types.made.items())),
    }
    return Imported(
        content,
        tuple(f"{name}: no message contains it" for name in absent if not became[name]),
        folded=tuple(f"{name} into {became[name]}" for name in absent if became[name]),
        widened=types.widened(),
        without_effect=types.without_effect(),
    )


def _not_a_schema(what: str) -> UselessFileError:
    return UselessFileError(f"{what}.", "Name another file or another kind.")


def _became(definitions: Node, name: str, types: DraftTypes) -> str:
    """Return what has the content of an absent definition; empty if nothing has."""
    node = definitions[name]
    if not isinstance(node, dict):
        return ""
    if name in (f"{role.title()}{kind}" for role in ROLES for kind in ("Request", "Notification")):
        return "methods"
    fields = _fields(node)
    if name.startswith("JSONRPC") or "jsonrpc" in fields:
        return "jsonrpc"
    if fields and fields.keys() <= {"method", "params"}:
        return "methods"
    if name.endswith("ResultResponse"):
        return "the results of methods"
    if "anyOf" in node:
        return "the types of its branches"
    holders = (
        types.name_of(one)
        for one, other in sorted(definitions.items())
        if one != name and fields and fields.items() <= _fields(other).items()
        if types.name_of(one) in types.made
    )
    return types.merged.get(name) or next(holders, "")


def _fields(node: Any) -> Node:
    found: Node = node.get("properties", {}) if isinstance(node, dict) else {}
    return found


def _rows(definitions: Node) -> set[str]:
    """Return the definitions that became rows and errors."""
    named = {n for role in ROLES for n, _ in _sent(definitions, role)}
    return named | {name for name in definitions if _code(definitions[name]) is not None}


def _sent(definitions: Node, role: str) -> Iterator[tuple[str, Node]]:
    """Yield the requests and notifications that one end sends, with the names of definitions."""
    for kind in ("Request", "Notification"):
        union = definitions.get(f"{role.title()}{kind}", {})
        for branch in union.get("anyOf", [union]):
            if "$ref" in branch:
                yield branch["$ref"].rpartition("/")[2], _followed(definitions, branch)
            elif "properties" in branch:  # a union of one is written out
                method = branch["properties"]["method"]
                yield _named(definitions, kind, method), branch


def _named(definitions: Node, kind: str, method: Node) -> str:
    return next(
        (
            name
            for name, node in definitions.items()
            if name.endswith(kind)
            and not name.startswith(("Client", "Server"))
            and isinstance(node, dict)
            and node.get("properties", {}).get("method") == method
        ),
        kind,
    )


def _methods(definitions: Node, types: DraftTypes) -> Iterator[tuple[str, Node]]:
    senders: dict[str, tuple[str, Node, set[str]]] = {}
    for role in ROLES:
        for name, node in _sent(definitions, role):
            wire = node["properties"]["method"]["const"]
            senders.setdefault(wire, (name, node, set()))[2].add(role)
    for wire, (name, node, roles) in sorted(senders.items()):
        base = name.removesuffix("Request").removesuffix("Notification")
        kind = "request" if name.endswith("Request") else "notification"
        row = {
            "kind": kind,
            "from": roles.pop() if len(roles) == 1 else "both",
            "section": f"schema.json, {name}",
            "summary": first_sentence(node.get("description", "")) or f"`{wire}`.",
            "params": _part(definitions, types, f"{name}Params", [_params(node)]),
        }
        if kind == "request":
            answers = [*_results(definitions, base), *_task(definitions, node)]
            row["result"] = _part(definitions, types, f"{base}Answer", answers)
        yield wire, row


def _params(node: Node) -> Node:
    found: Node = node["properties"].get("params", {})
    return found


def _results(definitions: Node, base: str) -> list[Node]:
    """Return what answers a request: by the envelope of its result, else by its name."""
    envelope = definitions.get(f"{base}ResultResponse")
    if envelope is not None:
        result = envelope["properties"]["result"]
        return list(result.get("anyOf", [result]))
    name = f"{base}Result" if f"{base}Result" in definitions else "EmptyResult"
    return [{"$ref": f"#/$defs/{name}"}]


def _task(definitions: Node, node: Node) -> list[Node]:
    """Return what else answers a request that may be carried out as a task (2025-11-25)."""
    params = _followed(definitions, _params(node))
    branches = [_followed(definitions, branch) for branch in params.get("anyOf", [params])]
    if TASK in definitions and any("task" in one.get("properties", ()) for one in branches):
        return [{"$ref": f"#/$defs/{TASK}"}]
    return []


def _part(definitions: Node, types: DraftTypes, name: str, branches: list[Node]) -> str:
    """Return the type of params or of a result: an object, which unions are merged into."""
    followed = [
        inner
        for branch in branches
        for inner in _followed(definitions, branch).get("anyOf", [branch])
    ]
    whole = [_followed(definitions, branch) for branch in followed]
    if len(whole) == 1 and "$ref" in followed[0] and whole[0].keys() & {"properties", "allOf"}:
        return types.reference(_last_name(definitions, followed[0]))
    node = {"properties": {}, **merged_object(whole)}
    union = _last_name(definitions, branches[0])
    # The union of the params has a name of its own, which nothing else may need.
    own = len(branches) == 1 and union and json.dumps(definitions).count(f'/{union}"') == 1
    made = types.add(union, node, own=True) if own else types.add(name, node)
    for branch in (one for one in followed if "$ref" in one):
        types.merged.setdefault(_last_name(definitions, branch), made.rpartition("/")[2])
    return made


def _followed(definitions: Node, node: Node) -> Node:
    return definitions[_last_name(definitions, node)] if "$ref" in node else node


def _last_name(definitions: Node, node: Node) -> str:
    """Return the definition that a reference leads to, through other names of it."""
    names: list[str] = []
    while "$ref" in node:
        name = defined_name(node["$ref"])
        if name in names or name not in definitions:
            raise _not_a_schema(f"the reference {node['$ref']!r} leads to no definition")
        names.append(name)
        node = definitions[name]
    return names[-1] if names else ""


def _errors(definitions: Node, types: DraftTypes) -> Iterator[tuple[str, Node]]:
    """Yield the errors that the schema gives a code, except those of JSON-RPC."""
    for name, node in definitions.items():
        code = _code(node)
        if code is None or code in OWN_CODES:
            continue
        short = name.removesuffix("Error")
        row: Node = {
            "code": code,
            "message": " ".join(_words(short)),
            "description": first_sentence(node.get("description", "")) or f"`{short}`.",
        }
        data = _error_node(node).get("properties", {}).get("data")
        if data and data.get("properties"):
            row["data"] = types.add(f"{short}Data", data)
        yield short, row


def _code(node: Node) -> int | None:
    if not isinstance(node, dict):  # any value, or none
        return None
    found = _error_node(node).get("properties", {}).get("code", {}).get("const")
    return found if isinstance(found, int) else None


def _error_node(node: Node) -> Node:
    error: Node = node.get("properties", {}).get("error", node)
    branches = [branch for branch in error.get("allOf", ()) if "properties" in branch]
    return branches[0] if branches else error


def _words(name: str) -> list[str]:
    words: list[str] = []
    for letter in name:
        if letter.isupper() or not words:
            words.append(letter)
        else:
            words[-1] += letter
    return words
