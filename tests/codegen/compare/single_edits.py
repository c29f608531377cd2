"""The two tables of single edits as documents: an old and a new one for each row."""

from __future__ import annotations

__all__ = ("POSITIONS", "Edit", "edits_of_documents", "edits_of_types")

import json
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from tests.codegen.compare.documents import Node
from tests.codegen.documents import protocol

FOLDER = Path(__file__).parent
POSITIONS = {"Params": "request", "Result": "result", "Event": "notification", "File": "file"}
"""The types of a row of the first table, and where each is sent."""
ROW = {"section": "1", "summary": "It."}


class Edit(NamedTuple):
    """One row: documents before and after, and what is right."""

    name: str
    old: Node
    new: Node
    verdicts: dict[str, str]
    """The verdict by the name of the type; by an empty name if it is about the whole document."""
    rule: str | None


def edits_of_types() -> list[Edit]:
    """Return the rows of the first table; the type of each is sent on four ways."""
    table = _read("types")
    shared = {name: _type(node) for name, node in table["types"].items()}
    found = []
    for kind, place in (("required fields", "a"), ("optional fields", "a?"), ("objects", "")):
        for what, old, new, verdict, *rule in table[kind]:
            sides = ({"of": {place: side}} if place else side for side in (old, new))
            before, after = (_sent(_type(side), shared) for side in sides)
            levels = table["verdicts"][verdict].split()
            right = dict(zip(POSITIONS, levels, strict=True))
            found.append(Edit(f"{kind}: {what}", before, after, right, *(rule or [None])))
    return found


def edits_of_documents() -> list[Edit]:
    """Return the rows of the second table."""
    table = _read("documents")
    base = table["document"]
    base["$defs"] = {name: _definition(node) for name, node in base["$defs"].items()}
    found = []
    for what, how, path, value, verdict, *more in table["edits"]:
        rule, first = (*more, None, None)[:2]
        old = deepcopy(base)
        for place, setting in (first or {}).items():
            _edit(old, "remove" if setting is None else "set", place, setting)
        new = deepcopy(old)
        _edit(new, how, path, value)
        found.append(Edit(f"document: {what}", old, new, {"": verdict}, rule))
    return found


def _read(name: str) -> Any:
    return json.loads((FOLDER / f"single_edits_of_{name}.json").read_text(encoding="utf-8"))


def _sent(node: Node, shared: Node) -> Node:
    """Return a document in which a type is params, a result, an event and a file."""
    types = shared | dict.fromkeys(POSITIONS, node)
    references = {name: f"#/$defs/{name}" for name in POSITIONS}
    methods = {
        "ask": ROW
        | {"kind": "request", "from": "client"}
        | {"params": references["Params"], "result": references["Result"]},
        "called": ROW | {"kind": "notification", "from": "server", "params": references["Event"]},
    }
    records = {"file": ROW | {"type": references["File"]}}
    described = {name: {"description": "It."} | each for name, each in types.items()}
    made: Node = protocol(types=described, methods=methods, records=records)
    return deepcopy(made)


def _type(node: Any) -> Any:
    """Return a type that is written in the short notation as JSON Schema."""
    if isinstance(node, str):
        return {"$ref": f"#/$defs/{node[1:]}"} if node[0] == "@" else _kind(node)
    found = dict(node)
    if "of" in found:
        fields = found.pop("of")
        members = {name.rstrip("?"): _type(inner) for name, inner in fields.items()}
        required = [name for name in fields if not name.endswith("?")]
        found = {"type": "object", "properties": members, "required": required} | found
    for key in ("items", "additionalProperties"):
        if isinstance(found.get(key), str | dict):
            found[key] = _type(found[key])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in found:
            found[key] = [_type(branch) for branch in found[key]]
    return found


def _kind(name: str) -> Node:
    return {} if name == "any" else {"type": name}


def _definition(node: Any) -> Node:
    found: Node = _type(node)
    return {"description": "It."} | found


def _edit(content: Node, how: str, path: str, value: Any) -> None:
    *steps, last = (step.replace("~", "/") for step in path.split("/"))
    there: Any = content
    for step in steps:
        there = there[int(step)] if isinstance(there, list) else there[step]
    key = int(last) if isinstance(there, list) else last
    if how == "remove":
        del there[key]
    elif how == "append":
        there[key].append(value)
    elif how == "rename":
        there[value] = there.pop(key)
        if steps == ["$defs"]:
            _refer(content, f"#/$defs/{key}", f"#/$defs/{value}")
    else:
        there[key] = _definition(value) if steps == ["$defs"] else deepcopy(value)


def _refer(content: Node, old: str, new: str) -> None:
    """Let all references to a type lead to another name."""
    text = json.dumps(content).replace(json.dumps(old), json.dumps(new))
    content.clear()
    content.update(json.loads(text))
