"""Which of these tests are quick: those on asyncio, and of those on trio the ones named here.

The others on trio prove the same of the other event loop, and run with what is slow.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures_backends import mark_slow_on_trio

_QUICK = {"test_away.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow."""
    mark_slow_on_trio(items, Path(__file__).parent, _QUICK)
