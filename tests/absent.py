"""What a test needs and does not find: a failure in CI, where all has to be, else a skip."""

from __future__ import annotations

__all__ = ("SHARED", "absent", "shared")

import os
from pathlib import Path
from typing import NoReturn

import pytest

SHARED = Path(__file__).parents[2] / "shared"
"""Specifications and data of others, beside the project."""


def absent(reason: str) -> NoReturn:
    """End the test because of what is not here."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def shared(path: str) -> Path:
    """Return the file or folder at `path` in `SHARED`; end the test if it is not here."""
    found = SHARED / path
    if not found.exists():
        absent(f"not beside the project: ../shared/{path}")
    return found
