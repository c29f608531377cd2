"""Where documents name types and errors of other places, as patterns of pointers."""

from __future__ import annotations

__all__ = ("ERRORS", "REFERENCES", "at")

from collections.abc import Iterator
from typing import Any

from kinwire_codegen.load.findings import Place

REFERENCES = (
    *("methods/*/params", "methods/*/result", "tools/*/params", "tools/*/result", "errors/*/data"),
    *("methods/*/partialResult", "methods/*/registrationOptions"),
    *("augments/*/schema/$ref", "augments/*/to/def", "offers/*"),
    *("tables/*/type", "machines/*/states", "records/*/type"),
    *("http/paths/*/request", "http/paths/*/response", "http/events/*/data"),
    *("grpc/messages/*/of", "grpc/enums/*/of"),
)
"""Where a type is named, in addition to the references of types in `$defs`."""

ERRORS = (
    *("methods/*/errors/*", "tools/*/errors/*", "augments/*/errors/*"),
    *("limits/*/error", "grpc/codes/*/error"),
)
"""Where an error is named."""


def at(content: Any, pattern: str) -> Iterator[tuple[Place, Any]]:
    """Yield what `content` has where `pattern` leads, with the place; `*` is any one step."""
    found: list[tuple[Place, Any]] = [((), content)]
    for step in pattern.split("/"):
        found = [
            ((*place, key), inner)
            for place, node in found
            for key, inner in _inner(node)
            if step in ("*", key)
        ]
    yield from found


def _inner(node: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(node, dict):
        yield from node.items()
    elif isinstance(node, list):
        yield from enumerate(node)
