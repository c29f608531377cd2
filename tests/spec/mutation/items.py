"""The tests that were collected: what they claim, and how one is run by itself."""

from __future__ import annotations

__all__ = ("is_quick", "passes")

import pytest
from _pytest.runner import runtestprotocol

_SLOW = ("slow", "faults", "interop", "packaging", "browser")


def is_quick(item: pytest.Item) -> bool:
    """Return whether a test runs on every change, and on the usual event loop."""
    return "trio" not in item.name and not any(item.get_closest_marker(one) for one in _SLOW)


def passes(item: pytest.Item, after: pytest.Item | None = None) -> bool:
    """Run a test, and return whether it passes; `after` is the one that comes next."""
    reports = runtestprotocol(item, nextitem=after, log=False)
    return all(report.passed or report.skipped for report in reports)
