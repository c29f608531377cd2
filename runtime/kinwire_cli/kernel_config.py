"""Which configuration `kinwire up` runs, and by which the other commands find that kernel."""

from __future__ import annotations

__all__ = ("config_file", "refused_text")

from pathlib import Path
from typing import TYPE_CHECKING

from kinwire_cli.failure import UsageError

if TYPE_CHECKING:
    from kinwire.mgp.rules.config_problem import ConfigProblem


def config_file(given: str | None, named: str = "-c mgp.toml") -> Path:
    """Return the file that is given, or the one that `kinwire up` finds; it is not read.

    `named` is how the command line of the user names a file.

    Raises:
        UsageError: none is given, and none is found.
    """
    from kinwire.mgp.kernel.config_place import config_path

    try:
        return Path(config_path(given))
    except FileNotFoundError:
        text = "There is no configuration here, and none in another place that is looked at."
        raise UsageError(text, f"Name it: {named}") from None


def refused_text(server: str, problem: ConfigProblem) -> str:
    """Return why a server of the file cannot start; the place is not in it."""
    return f"the server {server!r:.60} cannot start: {problem.text}"
