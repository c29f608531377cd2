"""A verb of the `kinwire` command, and how verbs are found.

Verbs come from the entry-point group `kinwire.verbs`, so that any package can bring some: each
entry is a class with the shape of `Verb`, named as the verb is typed.
"""

from __future__ import annotations

__all__ = ("GROUP", "Verb", "load_verb", "verb_names")

from argparse import ArgumentParser, Namespace
from importlib.metadata import EntryPoint, entry_points
from typing import ClassVar, Protocol, cast

GROUP = "kinwire.verbs"


class Verb(Protocol):
    """What an entry of the group is. The class is made without arguments, then run once."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for the overview, without a full stop."""

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the verb's arguments.

        Who takes a command after `--` sets a default `command`. Who explains an unknown option
        better than "unrecognized" sets a default `strays`, and gets the words from there on.
        """
        ...

    def run(self, arguments: Namespace) -> int:
        """Do the work and return the exit code."""
        ...


def verb_names() -> list[str]:
    """Return the names of all verbs that are installed, sorted."""
    return sorted(_entries())


def load_verb(name: str) -> type[Verb]:
    """Return the verb called `name`.

    Raises:
        KeyError: no package brings it.
        ModuleNotFoundError: its package needs something that is not installed.
    """
    return cast("type[Verb]", _entries()[name].load())


def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
