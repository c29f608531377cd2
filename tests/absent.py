"""What tests need and do not find: a failure in CI, where everything must exist, else a skip."""

from __future__ import annotations

__all__ = ("SHARED", "absent", "fold_skips", "shared")

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn, cast

import pytest

SHARED = Path(__file__).parents[2] / "shared"
"""Specifications and data of other projects, next to this one."""

_MISSING = "not next to the project: ../shared"


def absent(reason: str) -> NoReturn:
    """End the test because something is missing."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def shared(path: str) -> Path:
    """Return the file or folder at `path` in `SHARED`; end the test if it is missing."""
    found = SHARED / path
    if not found.exists():
        absent(f"{_MISSING}/{path}" if SHARED.exists() else _MISSING)
    return found


def fold_skips(reports: Iterable[pytest.TestReport]) -> None:
    """Give the skips of tests that need `SHARED` one reason, which pytest prints on one line."""
    found = [one for one in reports if str(_reason(one)).endswith(_MISSING)]
    counts = Counter("/".join(one.nodeid.split("/")[:2]) for one in found)
    where = ", ".join(f"{folder} ({count})" for folder, count in sorted(counts.items()))
    what = "without these specifications and data of other projects, tests did not run"
    for one in found:
        # Without a line pytest prints only the folder.
        one.longrepr = cast("tuple[str, int, str]", (str(SHARED), None, f"{what}: {where}"))


def _reason(report: pytest.TestReport) -> object:
    match report.longrepr:
        case (_, _, reason):
            return reason
        case _:
            return None
