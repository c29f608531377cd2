"""A subcommand of the `kinwire` command, and how subcommands are found.

Subcommands come from the entry-point group `kinwire.subcommands`, so that any package can add some.
Each entry is a class with the shape of `Subcommand`, under the name that is typed.
"""

from __future__ import annotations

__all__ = ("GROUP", "Subcommand", "load_subcommand", "subcommand_names")

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import ClassVar, Protocol, cast

GROUP = "kinwire.subcommands"


class Subcommand(Protocol):
    """What an entry of the group is. The class is made without arguments, then run once."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for the overview, without a full stop."""
    group: ClassVar[str]
    """Its heading in the overview, such as "recordings"; a new one comes after the others."""
    exit_codes: ClassVar[Mapping[int, str]]
    """What exit codes mean, where 0, 2 and 130 mean something else than usual, or others exist."""
    examples: ClassVar[Sequence[str]]
    """Command lines for its help."""

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the subcommand's arguments.

        Who takes a command after `--` sets a default `command`. Who explains an unknown option
        better than "unrecognized" sets a default `strays`, and gets the words from there on.
        """
        ...

    def run(self, arguments: Namespace) -> int:
        """Do the work and return the exit code."""
        ...


def subcommand_names() -> list[str]:
    """Return the names of all subcommands that are installed, sorted."""
    return sorted(_entries())


def load_subcommand(name: str) -> type[Subcommand]:
    """Return the subcommand called `name`.

    Raises:
        KeyError: no installed package has it.
        ModuleNotFoundError: its package needs something that is not installed.
    """
    return cast("type[Subcommand]", _entries()[name].load())


@cache  # reads a file of every distribution that is installed
def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
