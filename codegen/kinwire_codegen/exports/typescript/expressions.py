"""Shapes as type expressions of TypeScript.

Objects are type aliases without an index signature: misspelled fields of an object literal are
errors, and the types are assignable to `{ [key: string]: unknown }`, which an interface is not.
"""

from __future__ import annotations

__all__ = ("TypeNames", "expression", "literal", "property_key", "tuple_of")

import json
import re
from collections.abc import Iterable

from kinwire_codegen.load.document import Documents, Reference
from kinwire_codegen.load.shape_reading import ShapeReader, followed
from kinwire_codegen.load.shapes import (
    AnyShape,
    ConstantShape,
    ListShape,
    MapShape,
    MemberShape,
    NamedShape,
    ObjectShape,
    ScalarShape,
    Shape,
    UnionShape,
)

OPEN_OBJECT = "{ [key: string]: unknown }"

_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_RESERVED = re.compile(
    "break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|export|extends|"
    "false|finally|for|function|if|import|in|instanceof|new|null|return|super|switch|this|throw|"
    "true|try|typeof|var|void|while|with"
)
"""Words that are identifiers of properties, and not of elements of a tuple."""
_OPEN = {"string": "(string & {})", "number": "(number & {})"}
"""What keeps the known values of an open set in the suggestions of an editor."""


class TypeNames:
    """Names types from one generated file, and collects the imports that the names need."""

    def __init__(self, documents: Documents, home: str | None) -> None:
        """`home` is the protocol whose types need no prefix; None if all of them need one."""
        self._documents = documents
        self._home = home
        self._used: set[str] = set()

    def of(self, reference: Reference) -> str:
        """Return the name of a type in this file."""
        if reference.protocol == self._home:
            return reference.name
        self._used.add(reference.protocol)
        return f"{self._alias(reference.protocol)}.{reference.name}"

    def imports(self) -> list[str]:
        """Return the lines that import what was named."""
        return [
            f'import type * as {self._alias(name)} from "./{name}.js";'
            for name in sorted(self._used)
        ]

    def _alias(self, protocol: str) -> str:
        return f"{self._documents[protocol].module}Types"  # the module may be a reserved word


def expression(shape: Shape, names: TypeNames, reader: ShapeReader) -> str:
    """Return the type of a shape; fields of an object are on one line, without comments."""
    match shape:
        case NamedShape(reference=reference):
            return names.of(reference)
        case ListShape(items=items):
            return f"{_in_parentheses(expression(items, names, reader))}[]"
        case MapShape(values=values):
            return f"{{ [key: string]: {expression(values, names, reader)} }}"
        case UnionShape():
            return _union(shape, names, reader)
        case ObjectShape(members=members):
            return _object(members, names, reader)
    return _plain(shape)


def _plain(shape: AnyShape | ScalarShape | ConstantShape) -> str:
    match shape:
        case AnyShape():
            return "unknown"
        case ScalarShape(kind=kind):
            return "number" if kind == "integer" else kind
        case ConstantShape(values=values):
            return " | ".join(map(literal, values))


def _union(shape: UnionShape, names: TypeNames, reader: ShapeReader) -> str:
    constants = {
        "string" if isinstance(value, str) else "number"
        for one in followed(reader, shape)
        if isinstance(one, ConstantShape)
        for value in one.values
        if not isinstance(value, bool)
    }
    texts = []
    for branch in shape.branches:
        text = expression(branch, names, reader)
        texts.append(_OPEN[text] if text in constants else text)
    return "unknown" if "unknown" in texts else " | ".join(dict.fromkeys(texts))


def _object(members: Iterable[MemberShape], names: TypeNames, reader: ShapeReader) -> str:
    fields = "; ".join(
        f"{property_key(one.wire)}{'' if one.required else '?'}: "
        f"{expression(one.shape, names, reader)}"
        for one in members
    )
    return f"{{ {fields} }}" if fields else OPEN_OBJECT


def tuple_of(shape: ObjectShape, names: TypeNames, reader: ShapeReader) -> str:
    """Return the type of params that are an array on the wire, in the order of the fields."""
    are_labels = all(
        _IDENTIFIER.fullmatch(one.wire) and not _RESERVED.fullmatch(one.wire)
        for one in shape.members
    )
    elements = []
    for one in shape.members:
        text = expression(one.shape, names, reader)
        optional = "" if one.required else "?"
        if are_labels:
            elements.append(f"{one.wire}{optional}: {text}")
        else:
            elements.append(f"{_in_parentheses(text)}{optional}")
    return f"[{', '.join(elements)}]"


def literal(value: object) -> str:
    """Return a constant as a literal; JSON is TypeScript."""
    return json.dumps(value, ensure_ascii=False)


def property_key(wire: str) -> str:
    """Return a field's name as it is written in an object type."""
    return wire if _IDENTIFIER.fullmatch(wire) else literal(wire)


def _in_parentheses(text: str) -> str:
    return f"({text})" if " | " in text or " & " in text else text
