"""One kind of change, as a row of data."""

from __future__ import annotations

__all__ = ("Heading", "Rule", "wire")

from dataclasses import dataclass
from enum import Enum

from kinwire_codegen.compare.verdict import Category, Effect

Heading = Enum("Heading", "ADDED CHANGED DEPRECATED REMOVED")
"""Where the change stands in a changelog."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of change."""

    id: str
    name: str
    category: Category
    heading: Heading
    effect: Effect
    title: str
    why: str
    """What it comes to, and what to do instead where there is something."""

    @property
    def of_types(self) -> bool:
        """Whether it is about a type, which may be sent on several ways."""
        return self.id.startswith("B3")


def wire(number: str, name: str, heading: Heading, effect: Effect, title: str, why: str) -> Rule:
    """Return a rule of what goes over the wire."""
    return Rule(number, name, Category.WIRE, heading, effect, title, why)
