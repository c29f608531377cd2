"""The folders and files that servers may work on (MCP, Roots)."""

from __future__ import annotations

__all__ = ("RootLike", "roots_from")

import re
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from kinwire_protocols.mcp.models import Root

RootLike = Root | PathLike[str] | str
"""A root, its path, or its address, which begins with file://."""

# The characters that RFC 3986 allows, after an optional host.
_ADDRESS = re.compile(r"file://[A-Za-z0-9._~%-]*/[A-Za-z0-9._~:/@!$&'()*+,;=%-]*\Z")


def roots_from(entries: Iterable[RootLike]) -> list[Root]:
    """Return `entries` as roots; paths are made absolute.

    Raises:
        ValueError: an address does not begin with file://, or is not percent-encoded.
    """
    return [_root_from(place, entry) for place, entry in enumerate(entries)]


def _root_from(place: int, entry: RootLike) -> Root:
    if isinstance(entry, PathLike):
        return Root(uri=Path(entry).absolute().as_uri())
    root = Root(uri=entry) if isinstance(entry, str) else entry
    if not _ADDRESS.match(root.uri):
        raise ValueError(
            f"roots/{place}/uri: expected an address that begins with file:// and is "
            f"percent-encoded, got {root.uri!r:.80}. Pass a pathlib.Path to have one made."
        )
    return root
