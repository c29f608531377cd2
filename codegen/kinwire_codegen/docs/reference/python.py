"""The example of a method or tool as a call, a handler and a command of the shell."""

from __future__ import annotations

__all__ = ("example_of", "handler_code", "shell_line", "stub_call")

import json
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.emit.signatures import argument_names
from kinwire_codegen.load.document import Reference
from kinwire_codegen.load.names import field_names
from kinwire_codegen.load.shapes import (
    AnyShape,
    ListShape,
    MapShape,
    MemberShape,
    NamedShape,
    ObjectShape,
    Shape,
    UnionShape,
)

Node = dict[str, Any]

WIDTH = 100
_EMPTY: dict[str, Any] = {
    **{"object": {}, "array": [], "string": "", "integer": 0, "number": 0, "boolean": False}
}


class _Read(NamedTuple):
    """A message that is read from plain data."""

    kind: str
    """Its class, as users import it."""
    value: Any


def example_of(links: Links, kind: Reference) -> Any:
    """Return the first example of a type, an empty value if it has none."""
    definition = links.documents.definition(kind)
    kinds = definition.get("type", "object")
    empty = _EMPTY.get(kinds if isinstance(kinds, str) else kinds[0])
    return next(iter(definition.get("examples", ())), empty)


def stub_call(links: Links, stub: str, kind: Reference | None, given: Any) -> str:
    """Return the call of a stub with an example of its params; inner objects as they are read."""
    if kind is None:
        return f"await {stub}()"
    shape = links.reader.shape(kind)
    if not isinstance(shape, ObjectShape):
        return f"await {stub}({literal(given)})"
    members = _members(links, shape, given)
    names = argument_names((*field_names(one.wire for one in shape.members).values(), *members))
    return _call(f"await {stub}", {names[name]: value for name, value in members.items()}, 0)


def handler_code(
    links: Links, base: str, stub: str, kinds: Sequence[Reference | None], result: Any
) -> str:
    """Return a class of handlers whose one method answers with an example."""
    taken = "NoParams" if kinds[0] is None else class_of(links, kinds[0])
    returned = "None" if kinds[1] is None else class_of(links, kinds[1])
    first = f"    async def {stub}(self, params: {taken}) -> {returned}:"
    if len(first) > WIDTH:
        first = f"    async def {stub}(\n        self, params: {taken}\n    ) -> {returned}:"
    answer = "print(params)" if kinds[1] is None else _answer(links, kinds[1], returned, result)
    name = "Tools" if base.endswith("Tools") else "Handlers"
    return f"class {name}({base}):\n{first}\n        {answer}"


def _answer(links: Links, kind: Reference, returned: str, result: Any) -> str:
    shape = links.reader.shape(kind)
    if isinstance(shape, ObjectShape) and shape.members:
        return _call(f"return {returned}", _members(links, shape, result), 8)
    if not isinstance(result, dict | list):
        return f"return {literal(result)}"
    return f"return {literal(_Read(returned, result), 8, 8 + len('return '))}"


def shell_line(name: str, given: Node) -> str:
    """Return the command that sends an example to a server in a file."""
    words = [f"{member}{_typed(value)}" for member, value in given.items()]
    return " ".join(["kinwire call server.py", shlex.quote(name), *map(shlex.quote, words)])


def _typed(value: Any) -> str:
    if isinstance(value, str) and value and value == value.strip():
        return f"={value}"
    return f":={json.dumps(value, ensure_ascii=False)}"


def class_of(links: Links, kind: Reference) -> str:
    """Return the class of a type as users import it."""
    return f"{links.documents[kind.protocol].module}.{kind.name}"


def _members(links: Links, shape: ObjectShape, given: Node) -> dict[str, Any]:
    """Return the members of an example by their names in Python; constants say themselves."""
    members = {one.wire: one for one in shape.members}
    names = field_names(dict.fromkeys((*members, *given)))
    found = {}
    for name, value in given.items():
        one = members.get(name)
        if one is None or "const" not in one.node:
            inner = AnyShape() if one is None else one.shape
            found[names[name]] = _value(links, inner, value)
    return found


def _value(links: Links, shape: Shape, value: Any) -> Any:
    """Return an example as a stub takes it: messages inside it are read from plain data."""
    match shape:
        case NamedShape(kind):
            there = links.reader.shape(kind)
            if isinstance(there, ObjectShape) and there.members and isinstance(value, dict):
                return _Read(class_of(links, kind), value)
            return _value(links, there, value)
        case UnionShape(branches):
            fitting = (one for one in branches if _fits(links, one, value))
            return _value(links, next(fitting, AnyShape()), value)
        case ListShape(items) if isinstance(value, list):
            return [_value(links, items, one) for one in value]
        case MapShape(values) if isinstance(value, dict):
            return {name: _value(links, values, one) for name, one in value.items()}
    return value


def _fits(links: Links, shape: Shape, value: Any) -> bool:
    """Return whether a branch of a union is the one that an object or an array is an example of."""
    shape = links.reader.follow(shape)
    match shape:
        case UnionShape(branches):
            return any(_fits(links, one, value) for one in branches)
        case ObjectShape(members) if members:
            return isinstance(value, dict) and all(_is_like(one, value) for one in members)
        case ListShape():
            return isinstance(value, list)
        case MapShape() | ObjectShape():
            return isinstance(value, dict)
    return False


def _is_like(member: MemberShape, value: Node) -> bool:
    """Return whether an object has a field if it must, and its constant if it is one."""
    if member.wire not in value:
        return not member.required
    return "const" not in member.node or bool(value[member.wire] == member.node["const"])


def _read(message: _Read, indent: int | None, used: int) -> str:
    """Return the code that reads a message."""
    one_line = f"from_wire({message.kind}, {literal(message.value)})"
    if indent is None or used + len(one_line) <= WIDTH:
        return one_line
    inner = " " * (indent + 4)
    value = literal(message.value, indent + 4, indent + 5)
    return f"from_wire(\n{inner}{message.kind},\n{inner}{value},\n{' ' * indent})"


def _call(name: str, arguments: dict[str, Any], indent: int) -> str:
    given = ", ".join(f"{key}={literal(value)}" for key, value in arguments.items())
    if indent + len(name) + len(given) + 2 <= WIDTH:
        return f"{name}({given})"
    inner = " " * (indent + 4)
    lines = [
        f"{inner}{key}={literal(value, indent + 4, indent + len(key) + 6)},"
        for key, value in arguments.items()
    ]
    return "\n".join([f"{name}(", *lines, f"{' ' * indent})"])


def literal(value: Any, indent: int | None = None, used: int = 0) -> str:
    """Return plain data as Python; `indent` lays out what is too long for a line.

    `used` is how much of the line other things take, before and after.
    """
    if isinstance(value, _Read):
        return _read(value, indent, used)
    if isinstance(value, str):
        return _text(value)
    if not isinstance(value, dict | list) or not value:
        return repr(value)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    one_line = f"{opening}{', '.join(_entries(value, None))}{closing}"
    if indent is None or used + len(one_line) <= WIDTH:
        return one_line
    inner = " " * (indent + 4)
    lines = [f"{inner}{entry}," for entry in _entries(value, indent + 4)]
    return "\n".join([opening, *lines, " " * indent + closing])


def _entries(value: Any, indent: int | None) -> list[str]:
    used = 0 if indent is None else indent + 1
    if isinstance(value, list):
        return [literal(one, indent, used) for one in value]
    named = [(f"{_text(key)}: ", one) for key, one in value.items()]
    return [name + literal(one, indent, used + len(name)) for name, one in named]


def _text(value: str) -> str:
    """Return a text in double quotes, unless it has some itself."""
    plain = repr(value)
    return f'"{plain[1:-1]}"' if plain[0] == "'" and '"' not in value else plain
