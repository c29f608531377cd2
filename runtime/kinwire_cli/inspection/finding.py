"""One thing that is to be said of a server."""

from __future__ import annotations

__all__ = ("Finding", "Severity")

from dataclasses import asdict, dataclass
from typing import Literal

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, or only odd, and what to do about it."""

    severity: Severity
    """error: it breaks the protocol; warning: clients may stumble; info: good to know."""
    where: str
    """A method, with a JSON pointer into its result; a capability; or "stdout"."""
    text: str
    mend: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the members as a JSON object."""
        return asdict(self)
