"""The texts of the specifications, which lie beside this tree."""

from __future__ import annotations

__all__ = ("text_of",)

import os
from pathlib import Path

import pytest

from tests.spec.ledger import SPECIFICATIONS

FOLDER = Path(__file__).parents[3] / "shared" / "specs"


def text_of(protocol: str) -> str:
    """Return the text that defines `protocol`; without it the test fails in CI, else is skipped."""
    file = FOLDER / SPECIFICATIONS[protocol]
    if not file.is_file():
        complain = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        complain(f"the specification is not here: ../shared/specs/{file.name}")
    return file.read_text(encoding="utf-8")
