"""The types of all protocols, each with the examples that its document gives."""

from __future__ import annotations

__all__ = ("DOCUMENTS", "EXAMPLES", "alone", "generated_type", "validator")

from functools import cache
from importlib import import_module
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from pydantic import create_model
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from kinwire_codegen.load.loading import load_documents
from kinwire_protocols.base import Message, from_wire, to_wire

_LOADED = load_documents(None)  # those that the generated package brings
DOCUMENTS = list(_LOADED)
EXAMPLES = [
    (document.name, name, example)
    for document in DOCUMENTS
    for name, definition in document.definitions.items()
    for example in definition["examples"]
]


def generated_type(protocol: str, name: str) -> Any:
    """Return the class or the alias that was made of a definition."""
    module = _LOADED[protocol].module
    return getattr(import_module(f"kinwire_protocols.{module}.models"), name)


def alone(protocol: str, name: str, value: Any) -> Any:
    """Return `value` as it goes out again after it came in as a member of that type.

    Raises:
        pydantic.ValidationError: it does not fit.
    """
    return to_wire(from_wire(_holder(protocol, name), {"value": value}))["value"]


def validator(protocol: str, name: str, judge: Any = Draft202012Validator) -> Validator:
    """Return the JSON Schema validator of a definition, of the class `judge`."""
    schema = {"$ref": f"{_LOADED[protocol].file}#/$defs/{name}"}
    made: Validator = judge(schema, registry=_registry())
    return made


@cache
def _registry() -> Registry[Any]:
    resources = [(one.file, DRAFT202012.create_resource(one.content)) for one in DOCUMENTS]
    return Registry[Any]().with_resources(resources)


@cache
def _holder(protocol: str, name: str) -> type[Message]:
    # A union or a text has no class; on the wire it is always a member of something.
    member: Any = (generated_type(protocol, name), ...)
    return create_model(f"Holds{name}", __base__=Message, value=member)
