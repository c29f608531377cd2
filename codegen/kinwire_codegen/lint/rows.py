"""Lints of rows: methods, tools, and members that a protocol adds to third-party messages."""

from __future__ import annotations

__all__ = ("ROW_RULES",)

from collections.abc import Iterator

from kinwire_codegen.load.augmented import AugmentTarget, target_of
from kinwire_codegen.load.document import Document, Documents, Rule, members_of, resolve
from kinwire_codegen.load.findings import Fault, pointer
from kinwire_codegen.load.names import snake_name
from kinwire_codegen.load.shape_reading import followed
from kinwire_codegen.load.shapes import ListShape, MapShape, NamedShape, ObjectShape, Shape


def tools_carry_objects(document: Document, documents: Documents) -> Iterator[Fault]:
    for name, row in document.table("tools").items():
        for part in ("params", "result"):
            definition = documents.definition(resolve(row[part], document.name))
            if not definition.keys() & {"properties", "allOf"}:
                what = f"{row[part]} is not an object with properties"
                hint = "Name an object type; give it properties."
                yield pointer("tools", name, part), what, hint


def params_are_structured(document: Document, documents: Documents) -> Iterator[Fault]:
    """Yield params that are neither an object nor an array: JSON-RPC has no others."""
    reader = documents.shapes
    for name, row in document.table("methods").items():
        if "params" not in row:
            if "paramsBy" in row:
                yield pointer("methods", name, "paramsBy"), "there are no params", "Remove it."
            continue
        shape = NamedShape(resolve(row["params"], document.name))
        kinds = {type(one) for one in followed(reader, shape)}
        if not kinds <= {ObjectShape, MapShape, ListShape}:
            what = f"{row['params']} may be something else than an object or an array"
            yield pointer("methods", name, "params"), what, "Give it a field, or a place in a list."
        if row.get("paramsBy") == "position":
            yield from _positions(name, reader.follow(shape))


def _positions(name: str, shape: Shape) -> Iterator[Fault]:
    place = pointer("methods", name, "params")
    if not isinstance(shape, ObjectShape):
        what = "params by position are not an object with properties"
        yield place, what, "Name an object type: its fields are the positions."
        return
    optional = next((one.wire for one in shape.members if not one.required), None)
    late = [one.wire for one in shape.members if one.required]
    names = [one.wire for one in shape.members]
    if optional is not None and late and names.index(optional) < names.index(late[-1]):
        what = f"{optional!r} may be absent and stands before {late[-1]!r}, which may not"
        yield place, what, "Put the fields that may be absent last."


def tools_can_be_called(document: Document, documents: Documents) -> Iterator[Fault]:
    if document.table("tools") and documents.caller(document) is None:
        what = "neither this protocol nor one that it extends has a method 'tools/call'"
        yield "/tools", what, "Extend one that has it, such as mcp."


def tools_stay_apart(document: Document, documents: Documents) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    aliases: dict[str, str] = {}
    for name, row in document.table("tools").items():
        first = seen.setdefault(snake_name(name), name)
        if first != name:
            what = f"{name!r} and {first!r} are both {snake_name(name)!r} in Python"
            yield pointer("tools", name), what, "Rename one of them."
        for alias in row.get("aliases", ()):
            first = aliases.setdefault(alias, name)
            if alias in document.table("tools"):
                what = f"the alias {alias!r} is also the name of a tool"
                yield pointer("tools", name, "aliases"), what, "Remove it."
            elif first != name:
                what = f"the alias {alias!r} is also one of {first!r}"
                yield pointer("tools", name, "aliases"), what, "Remove one of them."


def augments_add_something_new(document: Document, documents: Documents) -> Iterator[Fault]:
    for index, row in enumerate(document.augments):
        place = ("augments", index)
        target = target_of(document, documents, row["to"])
        if len({"every", "def", "method"} & row["to"].keys()) != 1 or target is None:
            what = "its target is not a message of a protocol that this one extends"
            hint = "Give one of def, method with part, or every; name a method of that protocol."
            yield pointer(*place, "to"), what, hint
            continue
        if target.kind is not None and target.kind.protocol == document.name:
            what = f"{target.label} is of this protocol"
            yield pointer(*place, "to"), what, "Add the member to the type itself."
        owner = _owner(target, row["member"], document, index, documents)
        if owner is not None:
            what = f"{row['member']!r} is added to {target.label}, which has it by {owner}"
            yield pointer(*place, "member"), what, "Choose another name."


def _owner(
    target: AugmentTarget, member: str, document: Document, index: int, documents: Documents
) -> str | None:
    """Return what else gives the target a member of that name, None if nothing does."""
    if target.kind is not None and member in members_of(documents, target.kind)[0]:
        return f"its own type {target.kind.name}"
    for other in documents:
        for position, row in enumerate(other.augments):
            if (other.name, position) >= (document.name, index) or row["member"] != member:
                continue
            if target_of(other, documents, row["to"]) == target:
                return other.name
    return None


ROW_RULES: tuple[Rule, ...] = (
    tools_carry_objects,
    params_are_structured,
    tools_can_be_called,
    tools_stay_apart,
    augments_add_something_new,
)
