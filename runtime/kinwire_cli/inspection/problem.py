"""One thing that is wrong with a server, or odd."""

from __future__ import annotations

__all__ = ("ServerProblem", "Severity")

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class ServerProblem:
    """What is wrong, or only odd, and what to do about it."""

    severity: Severity
    """error: it breaks the protocol; warning: clients may stumble; info: good to know."""
    where: str
    """A method, with a JSON pointer into its result; a capability; or "stdout"."""
    text: str
    hint: str = ""

    def to_json(self) -> dict[str, str]:
        """Return it as an entry of `findings` in the JSON answer."""
        place = {"severity": self.severity, "where": self.where}
        return {**place, "text": self.text, "hint": self.hint}
