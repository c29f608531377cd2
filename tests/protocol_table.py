"""The table of protocols in a guide: what the documents say, and what the runtime supports.

`python -m tests.protocol_table` writes it; a test fails while the guide has another one.
"""

from __future__ import annotations

__all__ = ("GUIDE", "PLAYERS", "table_in", "table_now")

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import kinwire
import kinwire.mcp
import kinwire.transports

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs" / "ten-minutes.md"

# What of kinwire plays a role. A protocol that is not here has its bindings and nothing else.
PLAYERS = {
    "mcp": {"client": ["connect", "Host"], "server": ["Server"]},
    "mcpl": {"client": ["mcpl.McplHost"], "server": ["mcpl.McplServer"]},
    "mcpe": {"client": ["mcpe.McpeClient"], "server": ["mcpe.McpeServer"]},
    "mgp": {"client": ["mgp.MgpKernel"], "server": ["mgp.MgpServer"]},
    "mcp-lite": {"client": ["mcplite.LiteClient"], "server": ["mcplite.LiteServer"]},
}

# The module or package of a transport is called like it, but for these.
NAMES = {"child": "stdio", "http": "HTTP", "http_client": "HTTP", "websocket": "WebSocket"}
HOMES = (kinwire.transports, kinwire.mcp)

# What carries a protocol that has its own transports, with the module that does it.
OWN_TRANSPORTS = {
    "mcp-lite": {
        "gRPC": "kinwire.mcplite.client.grpc_transport",
        "HTTP": "kinwire.mcplite.client.http_transport",
    }
}

TABLE = re.compile(r"^\| protocol \|.*\n(?:\|.*\n)*", re.MULTILINE)


def table_in(text: str) -> str:
    found = TABLE.search(text)
    assert found is not None, f"{GUIDE.name} has no table that begins with `| protocol |`"
    return found[0]


def table_now() -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows())


def rows() -> Iterator[list[str]]:
    yield ["protocol", "version", "transports", "client", "server"]
    yield ["---"] * 5
    for document in documents():
        cells = [roles(document["protocol"], role) for role in ("client", "server")]
        yield [document["title"], document["version"], carried_by(document), *cells]


def documents() -> list[dict[str, Any]]:
    """Return the documents that have methods or tools, MCP first."""
    files = sorted((ROOT / "schema").glob("*.json"))
    read = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    found = [one for one in read if one.get("protocol") and (one["methods"] or one.get("tools"))]
    return sorted(found, key=lambda one: (one["protocol"] != "mcp", one["title"]))


def carried_by(document: dict[str, Any]) -> str:
    own = OWN_TRANSPORTS.get(document["protocol"], {})
    if own:
        assert all(map(importlib.import_module, own.values()))
        return ", ".join(own)
    if document["protocol"] in PLAYERS:
        return ", ".join(transports())
    return "those of MCP" if "mcp" in document["extends"] else "not yet"


def roles(protocol: str, role: str) -> str:
    """Return what plays a role of a protocol, as names of `kinwire` that are there."""
    players = PLAYERS.get(protocol, {}).get(role, [])
    for player in players:
        package, _, name = player.rpartition(".")
        assert hasattr(importlib.import_module(f"kinwire.{package}".rstrip(".")), name)
    return ", ".join(f"`{player}`" for player in players) or "bindings only"


def transports() -> list[str]:
    """Return the names of the transports that the runtime has, each once."""
    found = {NAMES.get(name, name) for package in HOMES for name in transports_in(package)}
    return sorted(found, key=str.lower)


def transports_in(package: ModuleType) -> Iterator[str]:
    for module in iter_modules(package.__path__):
        known = package is kinwire.transports or module.name in NAMES
        if known and has_transport(f"{package.__name__}.{module.name}"):
            yield module.name


def has_transport(name: str) -> bool:
    folder = getattr(importlib.import_module(name), "__path__", ())
    inside = [f"{name}.{part.name}" for part in iter_modules(folder)]
    return any(defines_transport(part) for part in (name, *inside))


def defines_transport(module: str) -> bool:
    classes = vars(importlib.import_module(module)).values()
    return any(
        isinstance(one, type)
        and one.__module__ == module
        and all(hasattr(one, name) for name in ("run", "wake", "resume", "aclose"))
        for one in classes
    )


if __name__ == "__main__":
    text = GUIDE.read_text(encoding="utf-8")
    GUIDE.write_text(text.replace(table_in(text), table_now()), encoding="utf-8")
