"""The example of a method or tool as a call, a handler and a command of the shell."""

from __future__ import annotations

__all__ = ("example_of", "handler_code", "shell_line", "stub_call")

import json
import shlex
from collections.abc import Sequence
from typing import Any, NamedTuple

from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.emit.signatures import argument_name
from kinwire_codegen.load.document import Reference, members_of, resolve
from kinwire_codegen.load.names import snake_name

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
    if not _has_fields(links, kind):
        return f"await {stub}({literal(given)})"
    members = _members(links, kind, given)
    arguments = {argument_name(name): value for name, value in members.items()}
    return _call(f"await {stub}", arguments, 0)


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
    if members_of(links.documents, kind)[0]:
        return _call(f"return {returned}", _members(links, kind, result), 8)
    if not isinstance(result, dict | list):
        return f"return {literal(result)}"
    return f"return {literal(_Read(returned, result), 8, 8 + len('return '))}"


def _has_fields(links: Links, kind: Reference) -> bool:
    return bool(links.documents.definition(kind).keys() & {"properties", "allOf"})


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


def _members(links: Links, kind: Reference, given: Node) -> dict[str, Any]:
    """Return the members of an example by their names in Python; constants say themselves."""
    members, _ = members_of(links.documents, kind)
    found = {}
    for name, value in given.items():
        owner, node = members.get(name, (kind, {}))
        if "const" not in node:
            found[snake_name(name)] = _value(links, owner, node, value)
    return found


def _value(links: Links, owner: Reference, node: Node, value: Any) -> Any:
    """Return an example as a stub takes it: messages inside it are read from plain data."""
    if "$ref" in node:
        kind = resolve(node["$ref"], owner.protocol)
        if isinstance(value, dict) and members_of(links.documents, kind)[0]:
            return _Read(class_of(links, kind), value)
        return _value(links, kind, links.documents.definition(kind), value)
    for branch in (*node.get("oneOf", ()), *node.get("anyOf", ())):
        if _fits(links, owner, branch, value):
            return _value(links, owner, branch, value)
    if isinstance(value, list) and isinstance(node.get("items"), dict):
        return [_value(links, owner, node["items"], one) for one in value]
    others = node.get("additionalProperties")
    if isinstance(value, dict) and isinstance(others, dict):
        return {name: _value(links, owner, others, one) for name, one in value.items()}
    return value


def _fits(links: Links, owner: Reference, branch: Node, value: Any) -> bool:
    """Return whether a branch of a union is the one that an object or an array is an example of."""
    if "$ref" in branch:
        kind = resolve(branch["$ref"], owner.protocol)
        members, required = members_of(links.documents, kind)
        if not members:
            return _fits(links, kind, links.documents.definition(kind), value)
        constants = {name: node["const"] for name, (_, node) in members.items() if "const" in node}
        return (
            isinstance(value, dict)
            and required <= value.keys()
            and all(value.get(name, constant) == constant for name, constant in constants.items())
        )
    inner = (*branch.get("oneOf", ()), *branch.get("anyOf", ()))
    if inner:
        return any(_fits(links, owner, one, value) for one in inner)
    kind_of_value = "object" if isinstance(value, dict) else "array"
    return isinstance(value, dict | list) and branch.get("type") == kind_of_value


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
