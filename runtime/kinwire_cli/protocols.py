"""The protocols that the generated packages hold, and the fields that their documents give a type.

The protocols are found by looking: a new document adds one. The documents are valid, as the
generated package holds none that lint refused.
"""

from __future__ import annotations

__all__ = (
    "TABLES",
    "Documents",
    "TypeField",
    "TypeReference",
    "add_package",
    "chosen_tables",
    "fields_of",
    "package_tables",
    "protocol_documents",
    "protocol_tables",
    "reference_from",
)

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import kinwire_protocols
from kinwire_cli.failure import UsageError, did_you_mean

if TYPE_CHECKING:
    from kinwire_protocols.peer import ProtocolTable

TABLES = {"methods": "method", "tools": "tool", "$defs": "type", "errors": "error"}
"""The tables of a document that have entries, and what an entry of each is."""
Documents = dict[str, dict[str, Any]]


def add_package(parser: ArgumentParser) -> None:
    """Add the option that names a package of bindings next to those of kinwire."""
    text = "bindings of other protocols, as generate --package has made them, to be known too"
    parser.add_argument("--package", metavar="NAME", help=text)


def package_tables(package: str | None) -> list[ProtocolTable]:
    """Return the tables of the package alone that have methods; without a package an empty list.

    Raises:
        UsageError: there is no package of that name, or it holds no bindings.
    """
    if package is None:
        return []
    return [table for table in _tables_of(_imported(package)) if table.methods]


def protocol_tables(package: str | None = None) -> dict[str, ProtocolTable]:
    """Return the table of each protocol that has methods, by its name.

    Raises:
        UsageError: there is no package of that name, or it holds no bindings.
    """
    tables = [table for module in _packages(package) for table in _tables_of(module)]
    return {table.name: table for table in tables if table.methods}


def chosen_tables(names: Sequence[str] | None, package: str | None = None) -> list[ProtocolTable]:
    """Return the tables of these protocols, of all if there are no names.

    Raises:
        UsageError: there is no protocol of a name, or no such package.
    """
    tables = protocol_tables(package)
    for name in names or ():
        if name not in tables:
            hint = f"There are: {', '.join(tables)}."
            if set(name) & set("/:"):
                hint = "A server's URL begins with http://, https://, ws:// or wss://."
            hint = did_you_mean(name, tables, hint)
            raise UsageError(f"There is no protocol {name!r}.", hint)
    return [tables[name] for name in (tables if names is None else names)]


def protocol_documents(package: str | None = None) -> dict[str, dict[str, Any]]:
    """Return the documents that the packages were generated from; quicker than their tables.

    Raises:
        UsageError: there is no package of that name, or it holds no bindings.
    """
    from importlib.resources import files

    documents: dict[str, dict[str, Any]] = {}
    for module in _packages(package):
        content = json.loads((files(module) / "schema.json").read_bytes())
        documents |= content["documents"]
    return documents


def _packages(package: str | None) -> Iterator[ModuleType]:
    yield kinwire_protocols
    if package is not None:
        yield _imported(package)


def _imported(package: str) -> ModuleType:
    from importlib import import_module
    from importlib.resources import files

    if not all(map(str.isidentifier, package.split("."))):
        hint = "Write it as import does, such as notes_bindings; not as a path."
        raise UsageError(f"{package!r} is not a package name.", hint)
    try:
        module = import_module(package)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{package}.".startswith(f"{error.name}."):
            raise
        hint = "Set PYTHONPATH to the folder that has it: that of generate --out."
        raise UsageError(f"There is no package {package!r}.", hint) from None
    if not hasattr(module, "__path__") or not (files(module) / "schema.json").is_file():
        hint = "Name the package that kinwire generate has made."
        raise UsageError(f"{package!r} holds no bindings.", hint)
    return module


def _tables_of(package: ModuleType) -> Iterator[ProtocolTable]:
    from importlib import import_module
    from pkgutil import iter_modules

    names = sorted(module.name for module in iter_modules(package.__path__) if module.ispkg)
    for name in names:
        yield import_module(f"{package.__name__}.{name}.methods").PROTOCOL


class TypeReference(NamedTuple):
    """A type, by the protocol whose document has it."""

    protocol: str
    name: str


class TypeField(NamedTuple):
    """A member of an object."""

    name: str
    schema: dict[str, Any]
    description: str
    need: str
    """`required`, `optional`, or `by mgp` if that protocol adds it."""


def reference_from(text: str, protocol: str) -> TypeReference:
    """Return what `#/$defs/Tool`, `mcp.json#/$defs/Tool` or `mcp#Tool` names in a document."""
    file, _, path = text.partition("#")
    return TypeReference(file.removesuffix(".json") or protocol, path.rpartition("/")[2])


def fields_of(
    documents: Documents, kind: TypeReference, method: str = "", part: str = ""
) -> Iterator[TypeField]:
    """Yield the members of a type, or of that part of a method if it is one."""
    yield from _own(documents, kind)
    for name, document in documents.items():
        for row in document.get("augments", ()):
            if _meets(documents, name, row["to"], kind, method, part):
                yield TypeField(row["member"], row["schema"], row["summary"], f"by {name}")


def _own(documents: Documents, kind: TypeReference) -> Iterator[TypeField]:
    node = documents[kind.protocol]["$defs"][kind.name]
    for branch in (*node.get("allOf", ()), node):
        if "$ref" in branch:
            yield from _own(documents, reference_from(branch["$ref"], kind.protocol))
        for name, schema in branch.get("properties", {}).items():
            need = "required" if name in branch.get("required", ()) else "optional"
            yield TypeField(name, schema, schema.get("description", ""), need)


def _meets(
    documents: Documents,
    adding: str,
    to: dict[str, str],
    kind: TypeReference,
    method: str,
    part: str,
) -> bool:
    """Whether what `adding` adds to `to` stands in that type, or in that part of a method."""
    if "every" in to:
        return to["every"] == part and kind.protocol in _below(documents, adding)
    if "def" in to:
        return reference_from(to["def"], adding) == kind
    protocol, _, wire = to["method"].rpartition("#")
    homes = [protocol] if protocol else _below(documents, adding)
    return (wire, to["part"]) == (method or wire, part or to["part"]) and kind in _messages(
        documents, homes, wire, to["part"]
    )


def _messages(
    documents: Documents, homes: list[str], wire: str, part: str
) -> Iterator[TypeReference]:
    for home in homes:
        row = documents[home]["methods"].get(wire, {})
        if part in row:
            yield reference_from(row[part], home)


def _below(documents: Documents, protocol: str) -> list[str]:
    """Return the protocols that this one extends, directly or not."""
    found = list[str](documents[protocol].get("extends", ()))
    for name in found:  # grows in the loop
        found += [one for one in documents[name].get("extends", ()) if one not in found]
    return found
