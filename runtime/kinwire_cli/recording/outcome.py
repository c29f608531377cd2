"""What a replay says of each message of the peer."""

from __future__ import annotations

__all__ = ("Kind", "Outcome")

from collections.abc import Sequence
from typing import Literal, NamedTuple

from kinwire_protocols.base import JsonObject
from kinwire_protocols.problems import Problem

Kind = Literal["request", "notification", "response"]


class Outcome(NamedTuple):
    """What is to be said of a message of the peer, there or missing."""

    verdict: Literal["equal", "differs", "invalid", "missing", "unexpected", "note"]
    kind: Kind | None
    method: str | None
    problems: Sequence[Problem] = ()
    line: int | None = None
    """Of the recording."""
    at_end: bool = False
    """Whether it is missing since nothing could come any more."""

    @property
    def good(self) -> bool:
        """Whether it is no finding."""
        return self.verdict in ("equal", "note")

    def to_json(self) -> JsonObject:
        """Return it as a line of a report."""
        errors = [problem.to_json() for problem in self.problems]
        head = {"line": self.line, "verdict": self.verdict, "kind": self.kind}
        return {**head, "method": self.method, "errors": errors}
