"""Rows of methods, tools and augments as the templates read them: with names and imports."""

from __future__ import annotations

__all__ = (
    "AugmentRow",
    "Maker",
    "Row",
    "RowError",
    "ToolRow",
    "added_errors",
    "augment_rows",
    "error_entry",
    "method_rows",
    "row_error",
    "tool_rows",
)

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kinwire_codegen.emit.package import Package
from kinwire_codegen.emit.signatures import Parameter, ProtocolModels
from kinwire_codegen.load.augmented import AugmentTarget, target_of
from kinwire_codegen.load.document import (
    Document,
    Documents,
    Reference,
    members_of,
    named,
    resolve,
)
from kinwire_codegen.load.names import class_name, constant_name, snake_name
from kinwire_codegen.load.notes import deprecation, status_of
from kinwire_codegen.load.schemas import as_input_schema
from kinwire_codegen.load.shape_reading import admits_null
from kinwire_codegen.load.shapes import NamedShape


@dataclass(frozen=True, slots=True)
class RowError:
    """One error that a method may be answered with."""

    home: str
    """The Python package of the protocol that declares it."""
    alias: str
    """What that protocol's errors module is called where the row stands."""
    name: str
    description: str

    @property
    def path(self) -> str:
        return f"{self.alias}.{self.name}"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row of the method table as the templates read it."""

    wire: str
    content: dict[str, Any]
    params: str
    """The type of the params; `NoParams` if it takes none."""
    params_home: str | None
    """The module that has it; None for `NoParams`."""
    result: str | None
    result_home: str | None
    is_object: bool
    """Whether the params have fields, which are the arguments of the stub."""
    positions: tuple[str, ...]
    """The fields in their order on the wire, if they go by position."""
    parameters: tuple[Parameter, ...]
    errors: tuple[RowError, ...]
    imports: frozenset[str]
    """What its annotations need, except types of documents."""
    message_imports: frozenset[str]
    """The types of its params and its result."""
    stub_imports: frozenset[str]
    """The types of documents that its stub names."""

    @property
    def attribute(self) -> str:
        return snake_name(self.wire)

    @property
    def constant(self) -> str:
        """The name of the row in its module."""
        return self.attribute.upper()

    @property
    def models_import(self) -> str | None:
        """The import of the params' module, under a name that no argument of a stub has."""
        if self.params_home is None:
            return None
        package = self.params_home.removesuffix(".models")
        return f"from {package} import models as {self._models}"

    @property
    def params_class(self) -> str:
        """The type of the params as a stub writes it."""
        return f"{self._models}.{self.params}" if self.params_home else self.params

    @property
    def _models(self) -> str:
        return f"_{str(self.params_home).split('.')[-2]}_models"

    @property
    def kind(self) -> str:
        return str(self.content["kind"])

    @property
    def sender(self) -> str:
        return str(self.content["from"])

    @property
    def status(self) -> str:
        return status_of(self.content)

    @property
    def deprecation(self) -> str | None:
        """Why it is deprecated; None if it is not."""
        return deprecation(self.content)

    @property
    def considered(self) -> bool:
        """Whether it is only described: without stub and handler."""
        return self.status == "considered"

    @property
    def chosen(self) -> tuple[Parameter, ...]:
        """The parameters that leave something to choose; a constant tag does not."""
        return tuple(one for one in self.parameters if not one.is_constant)


@dataclass(frozen=True, kw_only=True)
class ToolRow(Row):
    """One row of the table of tools."""

    caller: str
    """The module of the protocol whose `tools/call` it goes through."""
    whole: bool
    """Whether the result is that of `tools/call` itself."""
    definition: dict[str, Any]
    taken: bool
    """Whether its name in Python is that of a method already."""

    @property
    def attribute(self) -> str:
        return snake_name(self.wire) + ("_tool" if self.taken else "")


@dataclass(frozen=True, kw_only=True)
class AugmentRow:
    """One member that the protocol adds to a message of another."""

    content: dict[str, Any]
    target: AugmentTarget
    value: str
    """The name of the member's type."""
    value_home: str
    message_home: str | None
    nullable: bool
    errors: tuple[RowError, ...]
    type_imports: frozenset[str]

    @property
    def constant(self) -> str:
        return f"{self.target.constant}_{constant_name(self.content['member']).strip('_')}"

    @property
    def annotation(self) -> str:
        """What the member reads as, the value for absent included."""
        return f"{self.value} | {'MISSING' if self.nullable else 'None'}"

    @property
    def message(self) -> str | None:
        """The class of the message; None for a part of every one."""
        return self.target.kind.name if self.target.kind else None


@dataclass(frozen=True)
class Maker:
    """What rows are made from."""

    documents: Documents
    document: Document
    protocol_models: Mapping[str, ProtocolModels]
    package: Package

    def module_of(self, reference: Reference) -> str:
        """Return the module that has a type."""
        module = self.documents[reference.protocol].module
        return f"{self.package.home(module)}.{module}.models"

    def type_import(self, reference: Reference) -> str:
        return f"from {self.module_of(reference)} import {reference.name}"

    def common(self, wire: str, content: dict[str, Any]) -> dict[str, Any]:
        """Return what rows of methods and of tools have in common."""
        params = self._params(content)
        result = resolve(content["result"], self.document.name) if "result" in content else None
        parameters = self._parameters(params)
        chosen = [one for one in parameters or () if not one.is_constant]
        types = {reference for one in chosen for reference in one.types}
        types |= {one for one in (result, params if parameters is None else None) if one}
        members = members_of(self.documents, params)[0] if params else {}
        return {
            "wire": wire,
            "content": content,
            "params": params.name if params else "NoParams",
            "params_home": self.module_of(params) if params else None,
            "result": result.name if result else None,
            "result_home": self.module_of(result) if result else None,
            "is_object": params is None or parameters is not None,
            "positions": tuple(members) if content.get("paramsBy") == "position" else (),
            "parameters": parameters or (),
            "errors": self.errors(content),
            "imports": frozenset(line for one in chosen for line in one.imports),
            "message_imports": frozenset(self.type_import(one) for one in (params, result) if one),
            "stub_imports": frozenset(map(self.type_import, types)),
        }

    def _params(self, content: dict[str, Any]) -> Reference | None:
        """Return the type of the params, past names of names; None if it takes none."""
        if "params" not in content:
            return None
        return named(self.documents, resolve(content["params"], self.document.name))

    def _parameters(self, params: Reference | None) -> tuple[Parameter, ...] | None:
        """Return the fields of the params, None if their type is not a class."""
        return self.protocol_models[params.protocol].classes.get(params.name) if params else ()

    def errors(self, content: dict[str, Any]) -> tuple[RowError, ...]:
        return tuple(
            row_error(self.documents, self.document, name) for name in content.get("errors", ())
        )


def method_rows(maker: Maker) -> list[Row]:
    """Return the rows of the protocol's methods."""
    methods = maker.document.content["methods"]
    return [Row(**maker.common(wire, content)) for wire, content in methods.items()]


def tool_rows(maker: Maker) -> Iterator[ToolRow]:
    """Yield the rows of the protocol's tools."""
    documents, document = maker.documents, maker.document
    caller = documents.caller(document)
    if caller is None:
        return
    home, call = caller
    taken = {snake_name(wire) for wire in document.content["methods"]}
    for wire, content in document.table("tools").items():
        params = resolve(content["params"], document.name)
        result = resolve(content["result"], document.name)
        definition = {
            "name": wire,
            "description": " ".join(filter(None, (content["summary"], content.get("description")))),
            "inputSchema": as_input_schema(documents, params),
            **content.get("entry", {}),
        }
        yield ToolRow(
            **maker.common(wire, content),
            caller=home.module,
            whole=result == resolve(call["result"], home.name),
            definition=definition,
            taken=snake_name(wire) in taken,
        )


def augment_rows(maker: Maker) -> Iterator[AugmentRow]:
    """Yield the rows of what the protocol adds to messages of others."""
    documents, document = maker.documents, maker.document
    for content in document.augments:
        target = target_of(document, documents, content["to"])
        if target is None:
            raise ValueError(f"lint lets no such target pass: {content['to']}")
        value = resolve(content["schema"]["$ref"], document.name)
        kinds = [value, *([target.kind] if target.kind else [])]
        yield AugmentRow(
            content=content,
            target=target,
            value=value.name,
            value_home=maker.module_of(value),
            message_home=maker.module_of(target.kind) if target.kind else None,
            nullable=admits_null(documents.shapes, NamedShape(value)),
            errors=maker.errors(content),
            type_imports=frozenset(map(maker.type_import, kinds)),
        )


def row_error(documents: Documents, document: Document, text: str) -> RowError:
    """Return the error that `text`, in `document`, names."""
    entry = error_entry(documents, document, text)
    home = documents[entry["protocol"]].module
    alias = "errors" if home == document.module else f"{home}_errors"
    return RowError(home, alias, class_name(entry["name"]), entry["description"])


def error_entry(documents: Documents, document: Document, text: str) -> dict[str, Any]:
    """Return the entry of the error that `text`, in `document`, names, with name and protocol."""
    protocol, _, name = text.rpartition("#")
    home = documents[protocol or document.name]
    return {"name": name, "protocol": home.name, **home.content["errors"][name]}


def added_errors(rows: list[AugmentRow]) -> dict[str | None, tuple[RowError, ...]]:
    """Return what augments add to the errors of methods; None stands for every method."""
    found: dict[str | None, dict[RowError, None]] = {}
    for row in rows:
        if row.errors:
            found.setdefault(row.target.method, {}).update(dict.fromkeys(row.errors))
    return {method: tuple(errors) for method, errors in found.items()}
