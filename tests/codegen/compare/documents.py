"""Two small documents with a difference, for tests of the comparison."""

from __future__ import annotations

__all__ = (
    "WITHOUT_WARNING",
    "against",
    "at",
    "changing",
    "compared",
    "edited",
    "golden",
    "loaded",
    "on_the_wire",
    "toy",
    "verdicts",
)

import json
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from kinwire_codegen.compare import Comparison, DocumentChange, compare
from kinwire_codegen.compare.verdict import Category
from kinwire_codegen.load.document import Document, Documents
from kinwire_codegen.load.loading import load_documents
from tests.codegen.documents import protocol

Node = dict[str, Any]
WITHOUT_WARNING = "removed-without-deprecation"
GOLDEN = Path(__file__).parents[1] / "golden" / "schema"


def toy() -> Node:
    """A protocol with a request, a notification of the server, and types of most kinds."""
    text = {"type": "string"}
    members = {"a": text, "b": {"type": "integer"}, "c": {"$ref": "#/$defs/Part"}}
    types = {
        "AskParams": {"type": "object", "properties": members, "required": ["a"]},
        "AskResult": {"type": "object", "properties": members, "required": ["a"]},
        "NotifiedParams": {"type": "object", "properties": members, "required": ["a"]},
        "Part": {"type": "object", "properties": {"x": text}, "required": ["x"]},
    }
    row = {"section": "1", "summary": "It."}
    made = protocol(
        types={name: {"description": "A type."} | node for name, node in types.items()},
        roles={"client": "guest", "server": "host"},
        methods={
            "ask": row
            | {"kind": "request", "from": "client", "params": "#/$defs/AskParams"}
            | {"result": "#/$defs/AskResult"},
            "notified": row
            | {"kind": "notification", "from": "server"}
            | {"params": "#/$defs/NotifiedParams"},
        },
        errors={"Full": {"code": 1, "message": "Full", "description": "It is full."}},
    )
    found: Node = json.loads(json.dumps(made))  # nothing in it is shared
    return found


@cache
def _bundled() -> Documents:
    return load_documents(None)


def loaded(*contents: Node) -> Documents:
    """Return documents without a look at them."""
    ours = _bundled()
    found = {content["protocol"]: Document(content) for content in contents}
    return Documents({"jsonrpc": ours["jsonrpc"], **found}, ours.meta, tuple(sorted(found)))


def edited(content: Node, edit: Callable[[Node], object]) -> Node:
    """Return a copy of a document with a change."""
    copy = deepcopy(content)
    edit(copy)
    return copy


def against(old: Node, new: Node) -> Comparison:
    """Return what changed between two documents of one protocol."""
    return compare(loaded(old), loaded(new))


def compared(edit: Callable[[Node], object], old: Node | None = None) -> list[DocumentChange]:
    """Return what an edit of a document (default: the toy) changes, except words.

    That something was removed without being deprecated first is left out: each removal says it.
    """
    before = old if old is not None else toy()
    found = against(before, edited(before, edit)).changes
    return [one for one in found if one.rule.id[0] != "D" and one.rule.name != WITHOUT_WARNING]


def on_the_wire(edit: Callable[[Node], object], old: Node | None = None) -> list[DocumentChange]:
    """Return what an edit of a document (default: the toy) changes for peers."""
    return [one for one in compared(edit, old) if one.rule.category is Category.WIRE]


@cache
def golden() -> Documents:
    """Return documents that use every word of the document language."""
    return load_documents(GOLDEN)


def at(content: Node, path: str) -> Any:
    """Return what stands at a path of names with slashes between them."""
    here: Any = content
    for step in path.split("/"):
        here = here[int(step)] if isinstance(here, list) else here[step.replace("~", "/")]
    return here


def changing(path: str, key: str, value: Any) -> Callable[[Node], None]:
    """Return an edit that sets a member; None removes it."""

    def edit(content: Node) -> None:
        there = at(content, path) if path else content
        if value is None:
            del there[key]
        else:
            there[key] = json.loads(json.dumps(value))

    return edit


def verdicts(path: str, key: str, value: Any) -> list[tuple[str, str, list[str]]]:
    """Return rule, level and victims of what setting a member of the toy changes."""
    found = compared(changing(path, key, value))
    return [
        (change.rule.id, change.level.name, [str(victim) for victim in change.breaks])
        for change in found
        if change.rule.id.startswith("B")
    ]
