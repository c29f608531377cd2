"""Where generated names live: in the package being made, or in one that others share."""

from __future__ import annotations

__all__ = ("OWNED", "Package")

from collections.abc import Iterable
from dataclasses import dataclass

from kinwire_codegen.load.document import Document

OWNED = "by `kinwire generate`: do not edit"
"""Stands near the top of every generated file that has comments."""


@dataclass(frozen=True, slots=True)
class Package:
    """The package being made."""

    name: str
    shared: str
    """The package that has the base classes and the protocols that were not asked for.

    It is `name` itself where the package stands alone. Bindings work together, and on one runtime,
    if they share their base classes.
    """
    own: frozenset[str]
    """The modules of the protocols that are generated into it."""

    @classmethod
    def standing_alone(cls, name: str, documents: Iterable[Document]) -> Package:
        """Return a package that holds everything that it needs."""
        return cls(name, name, frozenset(document.module for document in documents))

    @property
    def alone(self) -> bool:
        """Whether it holds everything that it needs."""
        return self.name == self.shared

    def home(self, module: str) -> str:
        """Return the package that holds the protocol `module`."""
        return self.name if module in self.own else self.shared
