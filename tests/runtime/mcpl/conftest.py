"""Which of these tests are quick: those on asyncio, and of those on trio the ones named here.

The others on trio prove the same of the other event loop, and run with what is slow.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_QUICK_ON_TRIO = ("test_negotiation.py",)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow."""
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and item.path.parent == _HERE
            and item.path.name not in _QUICK_ON_TRIO
            and getattr(item, "callspec", None) is not None
            and item.callspec.params.get("anyio_backend") == "trio"
        ):
            item.add_marker(pytest.mark.slow)
