"""What can go wrong when an event is published, as errors of the program that publishes it."""

from __future__ import annotations

__all__ = ("InvalidEventError", "PublicationLimitError")

from collections.abc import Sequence

from kinwire.support.errors import KinwireError
from kinwire.support.sanitize import enumerated
from kinwire_protocols.problems import Problem


class InvalidEventError(KinwireError, ValueError):
    """An event is not one that may be published; `problems` says where, and what was expected."""

    def __init__(self, found: Sequence[Problem]) -> None:
        super().__init__(found)
        self.problems = list(found)

    def __str__(self) -> str:
        return f"event#{enumerated(self.problems)}"


class PublicationLimitError(KinwireError):
    """Events are published faster than `EventRates.publications` allows."""
