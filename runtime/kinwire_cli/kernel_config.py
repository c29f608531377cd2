"""Which configuration `kinwire up` runs, and by which the other commands find that kernel."""

from __future__ import annotations

__all__ = ("config_file",)

from pathlib import Path

from kinwire_cli.failure import UsageError


def config_file(given: str | None) -> Path:
    """Return the file that is given, or the one that `kinwire up` finds by itself.

    Raises:
        UsageError: none is given, and none is found.
    """
    if given is not None:
        return Path(given)
    if (found := Path("mgp.toml")).is_file():
        return found
    raise UsageError("There is no configuration here.", "Name it: -c mgp.toml")
