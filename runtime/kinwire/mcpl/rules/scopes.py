"""What becomes of a scope: denied, approved, or to be asked about (MCPL 7.6)."""

from __future__ import annotations

__all__ = ("MOST_PATTERNS", "ScopeLists")

from collections.abc import Iterable

from kinwire.mcpl.rules.labels import label_problem, normal_label
from kinwire.support.glob import Pattern
from kinwire_protocols.mcpl.models import ScopeOutcome, ScopeRules

MOST_PATTERNS = 1000
"""Patterns in the two lists of one feature set."""


class ScopeLists:
    """The two lists of one feature set, compiled."""

    def __init__(self, rules: ScopeRules) -> None:
        """Compile the lists.

        Raises:
            ValueError: a pattern is empty or too long, or there are too many.
        """
        self.rules = rules
        self._white = _compiled(rules.whitelist or ())
        self._black = _compiled(rules.blacklist or ())
        if len(self._white) + len(self._black) > MOST_PATTERNS:
            raise ValueError(
                f"scopes: expected at most {MOST_PATTERNS} patterns of one feature set, "
                f"got {len(self._white) + len(self._black)}. Use wildcards."
            )

    def judge(self, label: str) -> tuple[ScopeOutcome, str]:
        """Return what becomes of a scope of this label, and why, as a clause.

        The blacklist comes first. It also denies what lies below a label that it denies, so that
        nobody leaves it by a slash.
        """
        problem = label_problem(label)
        if problem is not None:
            return "deny", f"the label cannot be judged: {problem}"
        normal = normal_label(label)
        denying = next((one for one in self._black if one.covers(normal)), None)
        if denying is not None:
            return "deny", f"the blacklist has {denying.text}"
        allowing = next((one for one in self._white if one.matches(normal)), None)
        if allowing is not None:
            return "approve", f"the whitelist has {allowing.text}"
        return "ask", "neither list has it"


def _compiled(patterns: Iterable[str]) -> list[Pattern]:
    return [Pattern(normal_label(pattern)) for pattern in patterns]
