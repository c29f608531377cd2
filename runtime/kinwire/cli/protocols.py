"""The protocols that the generated package holds, found by looking: a new document adds one."""

from __future__ import annotations

__all__ = ("protocol_tables",)

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import kinwire_protocols

if TYPE_CHECKING:
    from kinwire_protocols.peer import ProtocolTable


def protocol_tables() -> dict[str, ProtocolTable]:
    """Return the table of each protocol that has methods, by its name."""
    packages = (module.name for module in iter_modules(kinwire_protocols.__path__) if module.ispkg)
    modules = (import_module(f"kinwire_protocols.{name}.methods") for name in sorted(packages))
    tables: list[ProtocolTable] = [module.PROTOCOL for module in modules]
    return {table.name: table for table in tables if table.methods}
