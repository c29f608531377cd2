"""A JSON schema in a few words, and the tools of a server as lines of a terminal."""

from __future__ import annotations

__all__ = ("limits_of", "shape_of", "tool_lines", "whole_shape")

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from kinwire_cli.layout import first_line

if TYPE_CHECKING:
    from kinwire_protocols import mcp

_LIMITS = (
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "default",
)
_DEPTH = 2  # objects in objects whose members are shown
_WIDTH = 100  # characters of the members of an object; what follows is "..."
_CHOICES = 20  # of a member of an object; those of a parameter are all shown
_SIGNATURE_WIDTH = 60  # after a longer one the description has the next line


def shape_of(schema: Any) -> str:
    """Return the type: `integer`, `Tool[]`, `"a" | "b"`; what a peer sent may hold anything.

    A reference is its name, and an object no more than that: `whole_shape` has their members.
    """
    return _Shapes(None).of(schema, 0)


def whole_shape(schema: Any, root: Any) -> str:
    """Return the type with the members of objects: `{city: string, days?: integer}`.

    References lead into `root`. A type inside itself, and what lies deep, is its name; what is
    wide is cut short.
    """
    return _Shapes(root).of(schema, _DEPTH)


class _Shapes:
    """Words the schemas of one root; without a root there is nothing that references lead to."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._open: list[str] = []  # references whose members are being shown

    def of(self, schema: Any, depth: int) -> str:
        """Return the type, with the members of objects `depth` levels down."""
        match schema:
            case {"$ref": str(reference)}:
                return self._referred(reference, depth)
            case {"const": constant}:
                return json.dumps(constant, ensure_ascii=False)
            case {"enum": [*choices]}:
                return self._one_of([json.dumps(one, ensure_ascii=False) for one in choices], depth)
            case {"properties": {**members}} if members and depth:
                return self._object(schema, depth)
            case {"anyOf": [*choices]} | {"oneOf": [*choices]}:
                return self._one_of((self.of(choice, depth) for choice in choices), depth)
            case {"allOf": [only]}:
                return self.of(only, depth)
            case _:
                return self._plain(schema, depth)

    def _plain(self, schema: Any, depth: int) -> str:
        match schema:
            case {"type": "array", "items": {**items}}:
                return f"{_grouped(self.of(items, depth))}[]"
            case {"type": str(kind)}:
                return kind
            case {"type": [*kinds]}:
                return " | ".join(map(str, kinds))
            case _:
                return "any"

    def _referred(self, reference: str, depth: int) -> str:
        """Return the members of what is referred to, or its values if it has certain ones only."""
        from kinwire_cli.schema_places import referred  # help does without the runtime

        found: Any = referred(self._root, reference)
        match found:
            case {"enum": _} | {"const": _}:
                return self.of(found, depth)
            case {"properties": {**members}} if members and depth and reference not in self._open:
                self._open.append(reference)
                shape = self._object(found, depth)
                self._open.pop()
                return shape
            case _:
                return reference.rpartition("/")[2].lstrip("#") or "object"

    def _object(self, schema: Any, depth: int) -> str:
        shown: list[str] = []
        width = 0
        for name, member in schema["properties"].items():
            head = f"{name}: " if _is_required(name, schema) else f"{name}?: "
            text = head + self.of(member, depth - 1)
            text = text if len(text) <= _WIDTH else f"{head}..."
            width += len(text)
            if shown and width > _WIDTH:
                shown.append("...")
                break
            shown.append(text)
        return " | ".join([f"{{{', '.join(shown)}}}", *_kinds_beside_object(schema)])

    def _one_of(self, choices: Iterable[str], depth: int) -> str:
        most = None if self._root is None or depth == _DEPTH else _CHOICES
        left = iter(choices)
        return " | ".join([*islice(left, most), *(["..."] if any(True for _ in left) else [])])


def _kinds_beside_object(schema: Any) -> list[str]:
    match schema:
        case {"type": [*kinds]}:
            return [str(kind) for kind in kinds if kind != "object"]
        case _:
            return []


def _is_required(name: str, schema: Any) -> bool:
    match schema:
        case {"required": [*names]}:
            return name in names
        case _:
            return False


def limits_of(schema: dict[str, Any]) -> list[str]:
    """Return each limit as the schema words it: `minimum 0`, `default "utf-8"`."""
    return [
        f"{word} {json.dumps(schema[word], ensure_ascii=False)}"
        for word in _LIMITS
        if word in schema
    ]


def _grouped(shape: str) -> str:
    return f"({shape})" if " | " in shape else shape


def tool_lines(tools: Iterable[mcp.Tool]) -> Iterator[str]:
    """Yield a line a tool, and an indented one for each parameter that is described."""
    listed = [(_signature(tool), tool) for tool in tools]
    widths = (len(signature) for signature, _ in listed)
    width = max((width for width in widths if width <= _SIGNATURE_WIDTH), default=0)
    for signature, tool in listed:
        between = "\n    " if len(signature) > _SIGNATURE_WIDTH else "  "
        text = first_line(tool.description or "")
        yield from f"{signature:<{width}}{between}{text}".rstrip().split("\n")
        for name, schema in (tool.input_schema.properties or {}).items():
            description = schema.get("description")
            if isinstance(description, str) and description.strip():
                yield f"    {first_line(name)}: {first_line(description)}"


def _signature(tool: mcp.Tool) -> str:
    from kinwire_protocols.base import to_wire

    required = tool.input_schema.required or ()
    root = to_wire(tool.input_schema)
    shown = [
        f"{name}: {whole_shape(schema, root)}"
        + ("" if name in required else " = " + _default(schema))
        for name, schema in (tool.input_schema.properties or {}).items()
    ]
    return first_line(f"{tool.name}({', '.join(shown)})")


def _default(schema: dict[str, Any]) -> str:
    return json.dumps(schema["default"], ensure_ascii=False) if "default" in schema else "..."
