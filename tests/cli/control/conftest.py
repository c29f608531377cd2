"""A folder for sockets, whose paths have to be short."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def short() -> Iterator[Path]:
    """Return a folder of this test that is the user's alone."""
    with tempfile.TemporaryDirectory(prefix="kw-") as folder:
        yield Path(folder)
