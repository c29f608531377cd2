"""A verb of the `kinwire` command, and how verbs are found.

Verbs come from the entry-point group `kinwire.verbs`, so that any package can bring some: each
entry is a class with the shape of `Verb`, named as the verb is typed.
"""

from __future__ import annotations

__all__ = ("GROUP", "Verb", "is_installed", "load_verb", "missing_extra", "verb_names")

import re
from argparse import ArgumentParser, Namespace
from importlib.metadata import (
    EntryPoint,
    PackageNotFoundError,
    distribution,
    entry_points,
    requires,
)
from typing import ClassVar, Protocol, cast

GROUP = "kinwire.verbs"

_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+).*;.*extra == ['\"](?P<extra>[\w-]+)['\"]")


class Verb(Protocol):
    """What an entry of the group is. The class is made without arguments, then run once."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for the overview, without a full stop."""

    @staticmethod
    def configure(parser: ArgumentParser) -> None:
        """Add the verb's arguments; who takes a command after `--` sets a default `command`."""
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


def missing_extra(error: ModuleNotFoundError) -> str | None:
    """Return the smallest extra that brings the missing module, None if none does."""
    module = (error.name or "").partition(".")[0].lower()
    extras = _extras()
    bring = [name for name, brought in extras.items() if module in map(_module, brought)]
    return min(bring, key=lambda name: len(extras[name]), default=None)


def is_installed(extra: str) -> bool:
    """Return whether everything that `extra` brings is there."""
    try:
        for name in _extras().get(extra, ()):
            distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _extras() -> dict[str, list[str]]:
    """Return the distributions that each extra of this one brings."""
    try:
        requirements = requires("kinwire") or []
    except PackageNotFoundError:  # run from a source tree that is not installed
        requirements = []
    extras: dict[str, list[str]] = {}
    for requirement in requirements:
        if found := _REQUIREMENT.match(requirement):
            extras.setdefault(found["extra"], []).append(found["name"])
    return extras


def _module(name: str) -> str:
    return re.sub(r"[-.]", "_", name).lower()


def _entries() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}
