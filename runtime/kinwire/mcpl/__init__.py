"""MCP Live in both roles: `McplHost` and `McplServer` go into `extensions` of a host or a server.

`rules/` decides, the files beside it act. The messages are in `kinwire_protocols.mcpl`.
"""

from __future__ import annotations

__all__ = ("LiveHost", "LiveServer", "McplHost", "McplServer")

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinwire.mcpl.host import McplHost
    from kinwire.mcpl.live_host import LiveHost
    from kinwire.mcpl.live_server import LiveServer
    from kinwire.mcpl.server import McplServer

_HOMES = {
    "LiveHost": "live_host",
    "LiveServer": "live_server",
    "McplHost": "host",
    "McplServer": "server",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
