"""Demos run on trio with what is slow: they prove the same there as on asyncio."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures_backends import mark_slow_on_trio


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow."""
    mark_slow_on_trio(items, Path(__file__).parent)
