"""The modules of models: a class for each object with fields, a name for every other definition.

A small document has one, `models.py`; of a large one `models` is a package of several.

Shapes say what a model takes; datamodel-code-generator writes the models and their imports.
"""

from __future__ import annotations

__all__ = ("make_models",)

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from datamodel_code_generator.imports import IMPORT_ANNOTATED, Import, Imports
from datamodel_code_generator.model import DataModel
from datamodel_code_generator.model.base import ALL_MODEL
from datamodel_code_generator.model.pydantic_v2 import BaseModel, DataModelField
from datamodel_code_generator.model.pydantic_v2.base_model import Constraints
from datamodel_code_generator.model.pydantic_v2.imports import IMPORT_FIELD, IMPORT_MODEL_VALIDATOR
from datamodel_code_generator.model.type_alias import TypeAliasTypeBackport
from datamodel_code_generator.python_literal import PythonRuntimeExpression
from datamodel_code_generator.reference import Reference as Name
from datamodel_code_generator.types import DataType, UnionIntFloat

from kinwire_codegen.emit.annotations import NONE, Annotations, Hint, joined, marked, plain
from kinwire_codegen.emit.division import divide
from kinwire_codegen.emit.package import OWNED, Package
from kinwire_codegen.emit.signatures import Parameter, ProtocolModels
from kinwire_codegen.emit.values import value_classes
from kinwire_codegen.load.document import Document, Documents, Reference, resolve
from kinwire_codegen.load.names import field_names, printable, snake_name, with_fields
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
    *TypeAliasTypeBackport.DEFAULT_IMPORTS,
    IMPORT_ANNOTATED,
    IMPORT_FIELD,
    Import.from_full_path("typing.Final"),
)
_DEFINED = re.compile(r"\s*(?:@[^\n]*\n)*(?:class )?(\w+).*", re.DOTALL)
"""A rendered model, of which the group is the name."""


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
    for module, members in modules.items():
        maker = _Maker(documents, document, Annotations(documents, document, package, members))
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
    ordered = _in_order([*map(maker.model, names)], maker.document.name)
    _with_late_names(ordered, maker.document.name)
    texts = [made.render() for made in ordered]
    texts += value_classes(maker.document, names)
    body = "\n\n".join(map(printable, texts))
    maker.imports.append(one for one in _COMMON if one.import_ in body)
    source = f'"""{what}. Generated {OWNED}."""\n\n{maker.imports.dump()}\n\n{body}\n'
    defined = [_DEFINED.sub(r"\1", text) for text in texts]
    classes = {made.model.path: made.parameters for made in ordered if not made.model.is_alias}
    return _Module(source, tuple(sorted(defined)), classes)


class _Made(NamedTuple):
    """A model, the types of its fields in the same order, and what its class takes."""

    model: DataModel
    hints: list[Hint]
    parameters: tuple[Parameter, ...] = ()

    def render(self) -> str:
        """Return the source, with the summary of a class in the first line of its docstring."""
        return self.model.render().replace('):\n    """\n    ', '):\n    """', 1)

    def needs(self, protocol: str) -> set[str]:
        """Return the other definitions of `protocol` that it names."""
        named = {name for hint in self.hints for name in hint.names(protocol)}
        return named - {self.model.path}


def _in_order(found: list[_Made], protocol: str) -> list[_Made]:
    """Return the models so that what one needs comes first.

    Of a circle one comes too early. The generator's sorting would put what needs the circle before
    it, too.
    """
    order: dict[str, _Made] = {}
    waiting = {made.model.path: made for made in found}
    needs = {path: made.needs(protocol) & waiting.keys() for path, made in waiting.items()}
    while waiting:
        ready = []
        for path in [*waiting]:
            if needs[path] <= order.keys():
                order[path] = waiting.pop(path)
                ready.append(path)
        if not ready:  # a circle: a class goes first, its annotations may be text
            classes = (path for path, made in waiting.items() if not made.model.is_alias)
            first = next(classes, next(iter(waiting)))
            order[first] = waiting.pop(first)
    return [*order.values()]


def _with_late_names(ordered: list[_Made], protocol: str) -> None:
    """Make text of the types that name what is defined further down."""
    late = {made.model.path for made in ordered}
    for model, hints, _ in ordered:
        for field, hint in zip(model.fields, hints, strict=True):
            if hint.names(protocol) & late:
                field.replace_data_type(_type(repr(hint.text)))
        late.remove(model.path)


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
        """What the models use; ruff removes the rest. `DataModel.imports` is slow."""
        self.imports.append([notes.shared("base", "Message")])

    def model(self, name: str) -> _Made:
        """Return the class of a definition, or its name for a type."""
        definition = self.document.definitions[name]
        shape = self._reader.shape(Reference(self.document.name, name))
        wanted: dict[str, Any] = {
            "reference": Name(path=name, name=name),
            "description": described(definition),
            "extra_template_data": defaultdict(
                dict, {ALL_MODEL: {"use_single_line_docstring": True}}
            ),
        }
        if not isinstance(shape, ObjectShape):
            hint = self._alias(name, shape)
            self._import(hint)
            field = DataModelField(data_type=_type(hint.text), required=True)
            return _Made(TypeAliasTypeBackport(fields=[field], **wanted), [hint])
        attributes = field_names(member.wire for member in shape.members)
        found = [self._field(attributes[one.wire], one) for one in shape.members]
        parameters = tuple(parameter for _, _, parameter in found)
        listed = ((one.name, one.description) for one in parameters)
        wanted["description"] = with_fields(wanted["description"], listed)
        made = BaseModel(
            fields=[field for field, _, _ in found],
            custom_base_class=f"{self._notes.package.shared}.base.Message",
            decorators=self._decorators(definition),
            **wanted,
        )
        for number, groups in enumerate(shape.alternatives, 1):
            made.methods.append(self._alternatives(attributes, groups, number))
        return _Made(made, [hint for _, hint, _ in found], parameters)

    def _import(self, kind: Hint) -> None:
        needed = (*kind.imports, *map(self._notes.import_of, kind.types))
        self.imports.append(one for one in needed if one is not None)

    def _decorators(self, definition: dict[str, Any]) -> list[str]:
        """Return what marks a deprecated class for type checkers: decoding must not warn."""
        text = deprecation(definition)
        if text is None:
            return []
        self.imports.append(_DEPRECATED)
        return [f"@deprecated({text!r}, category=None)"]

    def _alias(self, name: str, shape: Shape) -> Hint:
        kind = self._notes.type(shape)
        short = self.document.definitions[name].get("shorthand")
        if not short:
            return kind
        whole = self._notes.type(NamedShape(resolve(short["$ref"], self.document.name)))
        mark = self._notes.shared("base", "Shorthand")
        return marked(kind, mark, whole, snake_name(short["member"]))

    def _field(self, attribute: str, member: MemberShape) -> tuple[DataModelField, Hint, Parameter]:
        kind, bounds = self._notes.outer(member.shape)
        kind, default = self._with_default(kind, member)
        # Not pydantic's `deprecated`: a read would warn, and take a dozen times as long.
        text = described(member.node)
        extras = {} if text is None else {"description": text}
        field = DataModelField(
            name=attribute,
            alias=member.wire if member.wire != attribute else None,
            data_type=_type(kind.text),
            constraints=_constraints(bounds),
            extras=extras,
            required=default is ...,
            default=None if default is ... else default,
            nullable=False,
            use_annotated=True,
            use_field_description=True,
            use_inline_field_description=True,
        )
        self._import(kind)
        return field, kind, _parameter(attribute, kind, default, text)

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
        self, attributes: Mapping[str, str], groups: tuple[tuple[str, ...], ...], number: int
    ) -> str:
        named = ", ".join(repr(tuple(attributes[wire] for wire in group)) for group in groups)
        check = self._notes.shared("constraints", "must_have_one")
        self.imports.append([check, IMPORT_MODEL_VALIDATOR, Import.from_full_path("typing.Self")])
        return (
            '@model_validator(mode="after")\n'
            f"    def _has_one_of_{number}(self) -> Self:\n"
            f"        return {check.import_}(self, {named})"
        )


def _parameter(name: str, kind: Hint, default: Any, text: str | None) -> Parameter:
    is_constant = kind.bare_text == f"Literal[{default!r}]"
    absent = isinstance(default, PythonRuntimeExpression) and default.import_ is _MISSING
    others = not (default is ... or default is None or absent or is_constant)
    if others:
        kind = joined(kind, _ABSENT)
    source = "MISSING" if absent or others else repr(default)
    return Parameter(
        name=name,
        annotation=kind.bare_text,
        default=None if default is ... else source,
        is_constant=is_constant,
        sends_only_if_given=others,
        description=text,
        imports=frozenset(f"from {one.from_} import {one.import_}" for one in kind.imports),
        types=kind.types,
    )


def _constraints(bounds: tuple[Bound, ...]) -> Constraints | None:
    """Return the bounds as arguments of `Field`, unchecked: a check would round large ones."""
    exact: dict[str, Any] = {
        name: UnionIntFloat(value) if isinstance(value, int | float) and len(name) == 2 else value
        for name, value in bounds
    }
    return Constraints.model_construct(**exact) if bounds else None
