"""Which configuration `kinwire up` runs, and by which the other commands find that kernel."""

from __future__ import annotations

__all__ = ("config_file",)

from pathlib import Path

from kinwire_cli.failure import UsageError


def config_file(given: str | None) -> Path:
    """Return the file that is given, or the one that `kinwire up` finds; it is not read.

    Raises:
        UsageError: none is given, and none is found.
    """
    from kinwire.mgp.kernel.config import config_path

    try:
        return Path(config_path(given))
    except FileNotFoundError:
        text = "There is no configuration here, and none in another place that is looked at."
        raise UsageError(text, "Name it: -c mgp.toml") from None
