"""The modules of models: a class for each object with fields, a name for every other definition."""

from __future__ import annotations

__all__ = ("models",)

from collections.abc import Iterable, Mapping
from textwrap import indent
from typing import Any, NamedTuple

from kinwire_codegen.emit.annotations import Annotations
from kinwire_codegen.emit.package import OWNED
from kinwire_codegen.load.document import Document, Documents, Reference, resolve
from kinwire_codegen.load.names import docstring, field_names, snake_name
from kinwire_codegen.load.shape_reading import ShapeReader, admits_null
from kinwire_codegen.load.shapes import (
    ConstantShape,
    MemberShape,
    ObjectShape,
    Shape,
)


class _Written(NamedTuple):
    """One definition in Python."""

    name: str
    text: str
    imports: set[str]
    needs: set[str]
    """What has to stand before it."""
    is_class: bool


def models(documents: Documents, shared: str) -> dict[str, str]:
    """Return the module of each protocol's types, by path below the package, unformatted.

    `shared` is the package that has the base classes. The documents must be free of findings.
    """
    reader = ShapeReader(documents)
    return {
        f"{document.module}/models.py": _module(documents, document, reader, shared)
        for document in documents
    }


def _module(documents: Documents, document: Document, reader: ShapeReader, shared: str) -> str:
    if not document.definitions:
        return f'"""{document.content["title"]} has no types. Generated {OWNED}."""\n'
    maker = _Maker(documents, document, reader, shared)
    late: set[str] = set()
    order = _in_order([maker.written(name, ()) for name in sorted(document.definitions)])
    texts = []
    imports: set[str] = set()
    for name, unmet in order:
        one = maker.written(name, unmet)
        imports |= one.imports
        texts.append(one.text)
        late |= unmet
    header = f'"""Messages. Generated {OWNED}."""'
    return "\n\n".join([header, "\n".join(sorted(imports)), *texts]) + "\n"


def _in_order(found: list[_Written]) -> list[tuple[str, set[str]]]:
    """Return the names so that what one needs comes first, each with what cannot."""
    order: list[tuple[str, set[str]]] = []
    done: set[str] = set()
    waiting = found
    while waiting:
        left = []
        for one in waiting:
            if one.needs - {one.name} <= done:
                done.add(one.name)
                order.append((one.name, one.needs - done | one.needs & {one.name}))
            else:
                left.append(one)
        if len(left) == len(waiting):  # a circle: a class goes first, its annotations may be text
            first = next((one for one in left if one.is_class), left[0])
            left.remove(first)
            order.append((first.name, first.needs - done))
            done.add(first.name)
        waiting = left
    return order


class _Maker:
    """Writes the definitions of one document."""

    def __init__(
        self, documents: Documents, document: Document, reader: ShapeReader, shared: str
    ) -> None:
        self._documents = documents
        self._document = document
        self._reader = reader
        self._shared = shared

    def written(self, name: str, unmet: Iterable[str]) -> _Written:
        """Return a definition; annotations that name one of the `unmet` are text."""
        shape = self._reader.shape(Reference(self._document.name, name))
        notes = Annotations(self._documents, self._reader, self._document.name, self._shared)
        description = self._document.definitions[name]["description"]
        if isinstance(shape, ObjectShape):
            text = _Class(notes, self._reader, {*unmet}).text(name, description, shape)
        else:
            text = self._alias(notes, name, shape, {*unmet})
            text += f"\n{_doc(description)}\n"
        return _Written(name, text, notes.imports, notes.named, isinstance(shape, ObjectShape))

    def _alias(self, notes: Annotations, name: str, shape: Shape, unmet: set[str]) -> str:
        notes.imports.add("from typing_extensions import TypeAliasType")
        value = notes.text(shape)
        short = self._document.definitions[name].get("shorthand")
        if short:
            kind = resolve(short["$ref"], self._document.name).name
            mark = f'{notes.mark("base", "Shorthand")}({kind}, "{snake_name(short["member"])}")'
            value = notes.annotated(value, mark)
        return f'{name} = TypeAliasType("{name}", {_late(value, notes, unmet)})'


class _Class:
    """Writes one class."""

    def __init__(self, notes: Annotations, reader: ShapeReader, unmet: set[str]) -> None:
        self._notes = notes
        self._reader = reader
        self._unmet = unmet

    def text(self, name: str, description: str, shape: ObjectShape) -> str:
        """Return the whole class."""
        attributes = field_names(member.wire for member in shape.members)
        lines = [f"class {name}({self._notes.mark('base', 'Message')}):", _indented(description)]
        for member in shape.members:
            lines += ["", self._field(attributes[member.wire], member)]
            if "description" in member.node:
                lines.append(_indented(member.node["description"]))
        for number, groups in enumerate(shape.alternatives, 1):
            lines += ["", self._alternatives(attributes, groups, number)]
        return "\n".join(lines) + "\n"

    def _field(self, attribute: str, member: MemberShape) -> str:
        notes = self._notes
        notes.named, before = set(), notes.named
        text, bounds = notes.outer(member.shape)
        text, default = self._with_default(text, member)
        arguments = [f"alias={member.wire!r}"] if member.wire != attribute else []
        arguments += [f"{key}={value!r}" for key, value in bounds]
        arguments += ["deprecated=True"] if member.node.get("deprecated") else []
        if arguments:
            text = notes.annotated(text, notes.field(arguments))
        text = _late(text, notes, self._unmet)
        notes.named |= before
        return f"    {attribute}: {text}" + (f" = {default}" if default else "")

    def _with_default(self, text: str, member: MemberShape) -> tuple[str, str | None]:
        """Return the annotation of a field and its default, None for a field without one."""
        if member.required:
            match member.shape:
                case ConstantShape(values=(value,)):
                    return text, repr(value)
            return text, None
        default = member.node.get("default")
        if default is not None:
            # A constant with a default does not stand in every message.
            text = (
                f"{text} | None"
                if isinstance(member.shape, ConstantShape) and len(member.shape.values) == 1
                else text
            )
            return text, self._default(text, member.shape, default)
        if admits_null(self._reader, member.shape):
            # Type checkers take the name in `pydantic` for a mere object.
            self._notes.imports.add("from pydantic_core import MISSING")
            return f"{text} | MISSING", "MISSING"
        return f"{text} | None", "None"

    def _default(self, text: str, shape: Shape, value: Any) -> str:
        if not isinstance(value, list | dict):
            return repr(value)
        # Inner values are read from the wire, so that their names are those of the document.
        made = f"{self._notes.mark('base', 'from_wire')}({text}, {value!r})"
        return self._notes.field([f"default_factory=lambda: {made}"])

    def _alternatives(
        self, attributes: Mapping[str, str], groups: tuple[tuple[str, ...], ...], number: int
    ) -> str:
        named = ", ".join(repr(tuple(attributes[wire] for wire in group)) for group in groups)
        self._notes.imports |= {"from typing import Self", "from pydantic import model_validator"}
        check = self._notes.mark("constraints", "must_have_one")
        return (
            '    @model_validator(mode="after")\n'
            f"    def _has_one_of_{number}(self) -> Self:\n"
            f"        return {check}(self, {named})"
        )


def _late(text: str, notes: Annotations, unmet: set[str]) -> str:
    """Return an annotation as text if it names what is defined further down."""
    return repr(text) if notes.named & unmet else text


def _doc(text: str) -> str:
    return f'"""{docstring(text)}"""'


def _indented(text: str) -> str:
    return indent(_doc(text), "    ")
