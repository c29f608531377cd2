"""Hold the modules that `kinwire generate` copies into a package, next to those of its protocols.

They are not for import from here: messages, rows and stubs need the copies. They import one another
relatively, and a copy names its own package instead. `jsonrpc` is not copied.
"""

from __future__ import annotations

__all__ = ("SHARED",)

SHARED = (
    "augment",
    "base",
    "constraints",
    "descriptions",
    "lazy",
    "lenient",
    "nearest",
    "peer",
    "problems",
    "tables",
    "tool_methods",
)
"""The modules that all protocols of a package share."""
