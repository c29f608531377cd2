"""Model General Protocol in both roles: a security layer between a host and its servers.

`rules/` decides for both roles; `kernel/` and `server/` act. The messages are in
`kinwire_protocols.mgp`.
"""

from __future__ import annotations

__all__ = ("recovery_of", "refusal")

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinwire.mgp.errors import recovery_of, refusal

_HOMES = {
    "recovery_of": "errors",
    "refusal": "errors",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
