"""The modules of models: a class for each object with fields, a name for every other definition.

A small document has one, `models.py`; of a large one `models` is a package of several.

Shapes say what a model takes; datamodel-code-generator writes its fields and the imports.
"""

from __future__ import annotations

__all__ = ("make_models",)

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from datamodel_code_generator.imports import (
    IMPORT_ANNOTATED,
    IMPORT_TYPE_ALIAS_TYPE,
    Import,
    Imports,
)
from datamodel_code_generator.model.pydantic_v2 import DataModelField
from datamodel_code_generator.model.pydantic_v2.base_model import Constraints
from datamodel_code_generator.model.pydantic_v2.imports import IMPORT_FIELD, IMPORT_MODEL_VALIDATOR
from datamodel_code_generator.python_literal import PythonRuntimeExpression
from datamodel_code_generator.types import DataType, UnionIntFloat

from kinwire_codegen.emit.annotations import NONE, Annotations, Hint, joined, marked, plain
from kinwire_codegen.emit.division import divide
from kinwire_codegen.emit.package import OWNED, Package
from kinwire_codegen.emit.signatures import Parameter, ProtocolModels, argument_names
from kinwire_codegen.emit.values import value_classes
from kinwire_codegen.load.document import Document, Documents, Reference, resolve
from kinwire_codegen.load.names import field_names, quoted, snake_name, with_fields
from kinwire_codegen.load.notes import deprecation, described
from kinwire_codegen.load.shape_reading import admits_null
from kinwire_codegen.load.shapes import (
    Bound,
    ConstantShape,
    MemberShape,
    NamedShape,
    ObjectShape,
    Shape,
)

_DEPRECATED = Import.from_full_path("typing_extensions.deprecated")
_MISSING = Import.from_full_path("pydantic_core.MISSING")
"""Type checkers take the name in `pydantic` for a mere object."""
_ABSENT = plain("MISSING", _MISSING)
_COMMON = (
    IMPORT_ANNOTATED,
    IMPORT_FIELD,
    IMPORT_TYPE_ALIAS_TYPE,
    Import.from_full_path("typing.Final"),
)
_DEFINED = re.compile(r"(?:@[^\n]*\n)*(?:class )?(\w+).*", re.DOTALL)
"""The source of a definition; the group is the name, which is compared with the document's."""


def make_models(documents: Documents, package: Package) -> dict[str, ProtocolModels]:
    """Return the modules of types by protocol, unformatted.

    The documents must be free of findings.
    """
    return {document.name: _models(documents, document, package) for document in documents}


def _models(documents: Documents, document: Document, package: Package) -> ProtocolModels:
    modules = divide(document)
    if not modules:
        what = "Messages" if document.definitions else f"{document.content['title']} has no types"
        notes = Annotations(documents, document, package)
        made = _module(_Maker(documents, document, notes), sorted(document.definitions), what)
        sources = {f"{document.module}/models.py": made.source}
        return ProtocolModels(sources, {}, made.names, made.classes)
    found: dict[str, _Module] = {}
    homes = {name: module for module, members in modules.items() for name in members}
    for module, members in modules.items():
        notes = Annotations(documents, document, package, homes, module)
        maker = _Maker(documents, document, notes)
        found[module] = _module(maker, members, f"Messages: {module}")
    return ProtocolModels(
        {f"{document.module}/models/{module}.py": made.source for module, made in found.items()},
        {module: made.names for module, made in found.items()},
        tuple(sorted(name for made in found.values() for name in made.names)),
        {name: taken for made in found.values() for name, taken in made.classes.items()},
    )


class _Module(NamedTuple):
    """A module of models."""

    source: str
    names: tuple[str, ...]
    classes: dict[str, tuple[Parameter, ...]]


def _module(maker: _Maker, names: Iterable[str], what: str) -> _Module:
    """Return the module that has the definitions `names`, which are sorted."""
    protocol = maker.document.name
    ordered = _in_order([*map(maker.model, names)], protocol)
    late = {made.name for made in ordered}
    texts: list[str] = []
    for made in ordered:
        texts.append(made.source(protocol, late))
        late.remove(made.name)
    texts += value_classes(maker.document, names)
    body = "\n\n".join(texts)
    # Ruff would remove the others, which takes it longer than this.
    maker.imports.append(one for one in _COMMON if one.import_ in body)
    source = f'"""{what}. Generated {OWNED}."""\n\n{maker.imports.dump()}\n\n{body}\n'
    defined = [_DEFINED.sub(r"\1", text) for text in texts]
    classes = {made.name: _parameters(made) for made in ordered if isinstance(made, _Class)}
    return _Module(source, tuple(sorted(defined)), classes)


class _Alias(NamedTuple):
    """A name for a type."""

    name: str
    hint: Hint
    text: str | None

    @property
    def hints(self) -> tuple[Hint, ...]:
        return (self.hint,)

    def source(self, protocol: str, late: set[str]) -> str:
        """Return the definition; what it names of the types in `late` is defined further down."""
        hint = _written(self.hint, protocol, late)
        return f'{self.name} = TypeAliasType("{self.name}", {hint})\n{quoted(self.text)}\n'


class _ModelField(NamedTuple):
    """A field of a class."""

    name: str
    wire: str
    hint: Hint
    bounds: tuple[Bound, ...]
    default: Any
    """An ellipsis if it has none."""
    text: str | None

    def source(self, hint: str) -> str:
        """Return the declaration, with `hint` for its type."""
        required = self.default is ...
        field = DataModelField(
            name=self.name,
            alias=self.wire if self.wire != self.name else None,
            data_type=_type(hint),
            constraints=_constraints(self.bounds),
            required=required,
            default=None if required else self.default,
            nullable=False,
            use_annotated=True,
        )
        declared = f"{self.name}: {field.annotated or field.type_hint}"
        return declared if required else f"{declared} = {field.represented_default}"


class _Class(NamedTuple):
    """A class of messages."""

    name: str
    fields: tuple[_ModelField, ...]
    text: str | None
    decorators: tuple[str, ...]
    methods: tuple[str, ...]

    @property
    def hints(self) -> tuple[Hint, ...]:
        return tuple(field.hint for field in self.fields)

    def source(self, protocol: str, late: set[str]) -> str:
        """Return the definition; what it names of the types in `late` is defined further down."""
        lines = [*self.decorators, f"class {self.name}(Message):"]
        lines.append(quoted(self.text, "    ") or ("" if self.fields else "    pass"))
        for field in self.fields:
            lines.append(f"    {field.source(_written(field.hint, protocol, late))}")
            lines += [quoted(field.text, "    "), ""] if field.text else []
        return "\n".join((*lines, *self.methods, ""))


_Made = _Alias | _Class


def _in_order(found: list[_Made], protocol: str) -> list[_Made]:
    """Return the models so that what one needs comes first.

    Of a circle one comes too early.
    """
    order: dict[str, _Made] = {}
    waiting = {made.name: made for made in found}
    needs = {
        made.name: {name for hint in made.hints for name in hint.names(protocol)}
        & waiting.keys() - {made.name}
        for made in found
    }
    while waiting:
        ready = []
        for name in [*waiting]:
            if needs[name] <= order.keys():
                order[name] = waiting.pop(name)
                ready.append(name)
        if not ready:  # a circle: a class goes first, its annotations may be text
            classes = (name for name, made in waiting.items() if isinstance(made, _Class))
            first = next(classes, next(iter(waiting)))
            order[first] = waiting.pop(first)
    return [*order.values()]


def _written(hint: Hint, protocol: str, late: set[str]) -> str:
    """Return the source of a type: a text if it names what is defined further down."""
    return hint.text if late.isdisjoint(hint.names(protocol)) else repr(hint.text)


@lru_cache(maxsize=1024)
def _type(text: str) -> DataType:
    """Return a type for the generator, which rounds no bound to fit what it does not look into."""
    return DataType(alias=text)


class _Maker:
    """Makes the models of one module."""

    def __init__(self, documents: Documents, document: Document, notes: Annotations) -> None:
        self.document = document
        self._reader = documents.shapes
        self._notes = notes
        self.imports = Imports()
        """What the models use."""
        self.imports.append([notes.shared("base", "Message")])

    def model(self, name: str) -> _Made:
        """Return the class of a definition, or its name for a type."""
        definition = self.document.definitions[name]
        shape = self._reader.shape(Reference(self.document.name, name))
        text = described(definition)
        if not isinstance(shape, ObjectShape):
            hint = self._alias(name, shape)
            self._import(hint)
            return _Alias(name, hint, text)
        attributes = field_names(member.wire for member in shape.members)
        fields = tuple(self._field(attributes[one.wire], one) for one in shape.members)
        return _Class(
            name,
            fields,
            with_fields(text, ((one.name, one.text) for one in fields)),
            self._decorators(definition),
            tuple(self._alternatives(attributes, shape.alternatives)),
        )

    def _import(self, kind: Hint) -> None:
        needed = (*kind.imports, *map(self._notes.import_of, kind.types))
        self.imports.append(one for one in needed if one is not None)

    def _decorators(self, definition: dict[str, Any]) -> tuple[str, ...]:
        """Return what marks a deprecated class for type checkers: decoding must not warn."""
        text = deprecation(definition)
        if text is None:
            return ()
        self.imports.append(_DEPRECATED)
        return (f"@deprecated({text!r}, category=None)",)

    def _alias(self, name: str, shape: Shape) -> Hint:
        kind = self._notes.type(shape)
        short = self.document.definitions[name].get("shorthand")
        if not short:
            return kind
        whole = self._notes.type(NamedShape(resolve(short["$ref"], self.document.name)))
        mark = self._notes.shared("base", "Shorthand")
        return marked(kind, mark, whole, snake_name(short["member"]))

    def _field(self, attribute: str, member: MemberShape) -> _ModelField:
        # Not pydantic's `deprecated`: a read would warn, and take a dozen times as long.
        hint, bounds = self._notes.outer(member.shape)
        hint, default = self._with_default(hint, member)
        self._import(hint)
        return _ModelField(attribute, member.wire, hint, bounds, default, described(member.node))

    def _with_default(self, kind: Hint, member: MemberShape) -> tuple[Hint, Any]:
        """Return the type of a field and its default, an ellipsis for a field without one."""
        constants = member.shape.values if isinstance(member.shape, ConstantShape) else ()
        constant = constants[0] if len(constants) == 1 else None
        if member.required:
            return kind, ... if constant is None else constant
        default = member.node.get("default")
        if default is not None:
            # A constant with a default does not stand in every message.
            kind = joined(kind, NONE) if constant is not None else kind
            return kind, self._default(kind, default)
        if admits_null(self._reader, member.shape):
            return joined(kind, _ABSENT), PythonRuntimeExpression(_MISSING, "", "")
        return joined(kind, NONE), None

    def _default(self, kind: Hint, value: Any) -> Any:
        if not isinstance(value, list | dict):
            return value
        # Inner values are read from the wire, so that their names are those of the document.
        read = self._notes.shared("base", "from_wire")
        self.imports.append([read, IMPORT_FIELD])
        made = f"{read.import_}({kind.text}, {value!r})"
        return PythonRuntimeExpression(IMPORT_FIELD, "", f"(default_factory=lambda: {made})")

    def _alternatives(
        self, attributes: Mapping[str, str], groups: tuple[tuple[tuple[str, ...], ...], ...]
    ) -> Iterator[str]:
        for number, alternatives in enumerate(groups, 1):
            tuples = (tuple(attributes[wire] for wire in group) for group in alternatives)
            check = self._notes.shared("constraints", "must_have_one")
            needed = [check, IMPORT_MODEL_VALIDATOR, Import.from_full_path("typing.Self")]
            self.imports.append(needed)
            yield (
                '\n    @model_validator(mode="after")\n'
                f"    def _has_one_of_{number}(self) -> Self:\n"
                f"        return {check.import_}(self, {', '.join(map(repr, tuples))})"
            )


def _parameters(made: _Class) -> tuple[Parameter, ...]:
    """Return what a class takes."""
    arguments = argument_names(field.name for field in made.fields)
    return tuple(_parameter(field, arguments[field.name]) for field in made.fields)


def _parameter(field: _ModelField, argument: str) -> Parameter:
    hint, default = field.hint, field.default
    is_constant = hint.bare_text == f"Literal[{default!r}]"
    absent = isinstance(default, PythonRuntimeExpression) and default.import_ is _MISSING
    others = not (default is ... or default is None or absent or is_constant)
    if others:
        hint = joined(hint, _ABSENT)
    source = "MISSING" if absent or others else repr(default)
    return Parameter(
        name=field.name,
        argument=argument,
        annotation=hint.bare_text,
        default=None if default is ... else source,
        is_constant=is_constant,
        sends_only_if_given=others,
        description=field.text,
        imports=frozenset(f"from {one.from_} import {one.import_}" for one in hint.imports),
        types=hint.types,
    )


def _constraints(bounds: tuple[Bound, ...]) -> Constraints | None:
    """Return the bounds as arguments of `Field`, unchecked: a check would round large ones."""
    exact: dict[str, Any] = {
        name: UnionIntFloat(value) if isinstance(value, int | float) and len(name) == 2 else value
        for name, value in bounds
    }
    return Constraints.model_construct(**exact) if bounds else None
