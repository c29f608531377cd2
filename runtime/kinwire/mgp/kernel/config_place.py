"""Where a configuration file is looked for; it is not read, so this loads nothing that reads it."""

from __future__ import annotations

__all__ = ("config_path",)

import os
from collections.abc import Iterator
from pathlib import Path


def config_path(path: str | os.PathLike[str] | None, *, may_be_absent: bool = False) -> str:
    """Return `path`, or where a file is found without it, also one that would be refused.

    If no place has one, and it may be absent, it is the first place.

    Raises:
        FileNotFoundError: no place has a file.
    """
    if path is not None:
        return os.fspath(path)
    places = [*_places()]
    for place, is_named in places:
        if is_named or os.path.lexists(place):
            return place
    if may_be_absent:
        return places[0][0]
    listed = ", ".join(place for place, _ in places)
    raise FileNotFoundError(f"expected a configuration file as one of {listed}, got no such file")


def _places() -> Iterator[tuple[str, bool]]:
    """Yield where a file may be, and whether a variable names the place."""
    named = os.environ.get("MGP_CONFIG_PATH")
    if named:
        yield named, True
    yield "mgp.toml", False
    yield str(Path("~/.config/mgp/servers.toml").expanduser()), False
    later = os.environ.get("MCP_CONFIG_PATH")
    if later:
        yield later, True
    yield "mcp.toml", False
