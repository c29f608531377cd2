"""One part of the runtime that keeps rules of a specification."""

from __future__ import annotations

__all__ = ("Manager",)

from dataclasses import dataclass


@dataclass(frozen=True)
class Manager:
    """What to switch off, as "module:attribute", and the rows that are then kept by nobody.

    What others import by its name comes before what imports it.
    """

    attributes: tuple[str, ...]
    rows: tuple[str, ...]
