"""The texts of the specifications, which are next to this tree."""

from __future__ import annotations

__all__ = ("text_of",)


from tests.absent import shared
from tests.spec.ledger import SPECIFICATIONS


def text_of(protocol: str) -> str:
    """Return the text that defines `protocol`; without it the test fails in CI, else is skipped."""
    return shared(f"specs/{SPECIFICATIONS[protocol]}").read_text(encoding="utf-8")
