"""The protocols that the generated package holds, found by looking: a new document adds one."""

from __future__ import annotations

__all__ = ("TABLES", "chosen_tables", "protocol_documents", "protocol_tables")

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import kinwire_protocols
from kinwire.cli.failure import UsageError

if TYPE_CHECKING:
    from kinwire_protocols.peer import ProtocolTable

TABLES = {"methods": "method", "tools": "tool", "$defs": "type", "errors": "error"}
"""The tables of a document that have entries, and what an entry of each is."""


def protocol_tables() -> dict[str, ProtocolTable]:
    """Return the table of each protocol that has methods, by its name."""
    from importlib import import_module
    from pkgutil import iter_modules

    packages = (module.name for module in iter_modules(kinwire_protocols.__path__) if module.ispkg)
    modules = (import_module(f"kinwire_protocols.{name}.methods") for name in sorted(packages))
    tables: list[ProtocolTable] = [module.PROTOCOL for module in modules]
    return {table.name: table for table in tables if table.methods}


def chosen_tables(names: Sequence[str] | None) -> list[ProtocolTable]:
    """Return the tables of these protocols, of all if there are no names.

    Raises:
        UsageError: there is no protocol of a name.
    """
    tables = protocol_tables()
    for name in names or ():
        if name not in tables:
            from kinwire_protocols.nearest import nearest

            near = nearest(name, tables)
            hint = f"Did you mean {near!r}?" if near else f"There are: {', '.join(tables)}."
            raise UsageError(f"There is no protocol {name!r}.", hint)
    return [tables[name] for name in (tables if names is None else names)]


def protocol_documents() -> dict[str, dict[str, Any]]:
    """Return the documents that the package was generated from; quicker than its tables."""
    from importlib.resources import files

    content = json.loads((files(kinwire_protocols) / "schema.json").read_bytes())
    documents: dict[str, dict[str, Any]] = content["documents"]
    return documents
