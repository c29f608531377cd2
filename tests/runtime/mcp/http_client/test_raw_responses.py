"""Each response in bytes has the outcome of its row, with this library and with `httpx2`."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from tests.runtime.mcp.http_client.outcomes import with_httpx2, with_ours
from tests.runtime.mcp.http_client.raw_responses import Row
from tests.runtime.mcp.http_client.raw_rows import ROWS

GUIDE = Path(__file__).parents[4] / "docs" / "transports.md"
LONG = 0.5  # seconds

of_each_row = pytest.mark.parametrize(
    "row",
    [pytest.param(row, id=row.what, marks=[pytest.mark.slow] * (row.pause > LONG)) for row in ROWS],
)


@of_each_row
@pytest.mark.anyio
async def test_the_outcome_with_this_library(row: Row) -> None:
    assert await with_ours(row) == row.ours


@of_each_row
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_outcome_with_httpx2(row: Row) -> None:
    outcomes = [row.other or row.ours, *([row.late] if row.late else [])]
    assert await with_httpx2(row) in outcomes


def test_each_difference_has_a_reason() -> None:
    assert [row.what for row in ROWS if row.other == row.ours] == []
    assert [row.what for row in ROWS if bool(row.other) != bool(row.reason)] == []


def test_the_guide_lists_the_differences() -> None:
    lines = GUIDE.read_text(encoding="utf-8").splitlines()
    start = lines.index("| response | kinwire | httpx2 | reason |") + 2
    table = lines[start : lines.index("", start)]
    assert table == differences()


def differences() -> list[str]:
    """Return the lines of the guide's table."""
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for row in ROWS:
        if row.other:
            found[row.ours, row.other, row.reason].append(row.what)
    return [f"| {'; '.join(whats)} | {' | '.join(key)} |" for key, whats in found.items()]
