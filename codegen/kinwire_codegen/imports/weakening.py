"""Imported types made so that bindings keep what is left of them; what they lose is listed."""

from __future__ import annotations

__all__ = ("weakened",)

from collections.abc import Callable, Collection, Iterator
from typing import Any

from kinwire_codegen.lint.types import types_have_an_end
from kinwire_codegen.load.document import Document, Documents, Reference, all_types
from kinwire_codegen.load.findings import Fault
from kinwire_codegen.load.shape_reading import ShapeReader

Node = dict[str, Any]

_HOME = "imported"
_ROUNDS = 20  # one fault may hide another


def weakened(
    made: dict[str, Node], free: Callable[[str], str], roots: Collection[str] = ()
) -> list[str]:
    """Change types that no binding keeps in place, and return what was lost.

    `made` has the types by name, `free` returns a name like the given one that no type has. A
    type that nothing refers to any more is dropped, unless it is one of `roots`.
    """
    lost: dict[str, None] = {}
    used = _used(made)
    for name in _circles(made):
        made[name] = {"description": made[name]["description"]}
        lost[f"{name}: it is defined by itself"] = None
    for _ in range(_ROUNDS):
        faults = list(_faults(made))
        if not faults:
            break
        for place, what, _ in faults:
            steps = _steps(place)
            said = _weaken(made, steps, what, free)
            lost |= {f"{'/'.join(steps[1:])}: {said}": None} if said else {}
        used |= _used(made)  # types that were named just now too
    while gone := used & made.keys() - _used(made) - set(roots):
        for name in gone:
            del made[name]
    return list(lost)


def _circles(made: dict[str, Node]) -> Iterator[str]:
    """Yield types that are themselves by other names, until no more are; the caller opens them."""
    document = Document({"protocol": _HOME, "$defs": made})
    documents = Documents({_HOME: document}, {})
    while fault := next(types_have_an_end(document, documents), None):
        yield _steps(fault[0])[-1]


def _used(made: dict[str, Node]) -> set[str]:
    """Return the types that others refer to."""
    found = (node for one in made.values() for node, _ in all_types(one, ()))
    return {node["$ref"].rpartition("/")[2] for node in found if "$ref" in node}


def _faults(made: dict[str, Node]) -> Iterator[Fault]:
    document = Document({"protocol": _HOME, "$defs": made})
    reader = ShapeReader(Documents({_HOME: document}, {}))
    for name in made:
        yield from reader.faults(Reference(_HOME, name))


def _steps(place: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in place.split("/")[1:]]


def _weaken(
    made: dict[str, Node], steps: list[str], what: str, free: Callable[[str], str]
) -> str | None:
    """Remove the fault at a place, and return what is lost; None if nothing is."""
    holder, node = _found(made, steps)
    if node is None:
        return None
    last = steps[-1]
    if last == "oneOf" and "properties" not in holder:
        holder["anyOf"] = holder.pop("oneOf")
        return "that only one branch may fit"
    if "allOf" in (node if isinstance(node, dict) else {}) and len(steps) > 2:
        _name(
            made,
            holder,
            last,
            node,
            free("".join(step[:1].upper() + step[1:] for step in steps[1:])),
        )
        return None
    if what.startswith("a value that is not an object"):
        return _make_object(node)
    if isinstance(holder, list):
        holder.remove(node)
        if not holder or steps[-2] == "anyOf":  # groups that go together, or nothing
            del _found(made, steps[:-1])[0][steps[-2]]
    else:
        _drop(holder, last, node, steps)
    return what


def _make_object(node: Node) -> str | None:
    """Say that a type with fields is an object; a type without any becomes any value."""
    if any("properties" in part for part in (node, *node.get("allOf", ()))):
        node["type"] = "object"
        return None
    for key in node.keys() - {"description"}:
        del node[key]
    return "it extends what is not an object with properties"


def _name(made: dict[str, Node], holder: Any, last: str, node: Node, name: str) -> None:
    made[name] = {"description": node.get("description", "Imported."), **node}
    reference = {"$ref": f"#/$defs/{name}"}
    if isinstance(holder, list):
        holder[int(last)] = reference
    else:
        holder[last] = reference


def _drop(holder: Node, last: str, node: Any, steps: list[str]) -> None:
    """Remove a keyword, or leave a type open."""
    is_type = isinstance(node, dict) and (len(steps) == 2 or steps[-2] == "properties")
    if is_type:
        holder[last] = {key: value for key, value in node.items() if key == "description"}
    else:
        del holder[last]


def _found(made: dict[str, Node], steps: list[str]) -> tuple[Any, Any]:
    """Return what is at a place and what holds it; None if it is not there any more."""
    holder: Any = None
    here: Any = {"$defs": made}
    for step in steps:
        holder = here
        if isinstance(here, list):
            here = here[int(step)] if int(step) < len(here) else None
        else:
            here = here.get(step) if isinstance(here, dict) else None
        if here is None:
            return holder, None
    return holder, here
