"""Skips for lack of data next to the project are printed on one line."""

from __future__ import annotations

import pytest

from tests.absent import SHARED, fold_skips


def report(nodeid: str, reason: str) -> pytest.TestReport:
    longrepr = "tests/absent.py", 30, f"Skipped: {reason}"
    return pytest.TestReport(nodeid, ("", 0, ""), {}, "skipped", longrepr, "call")


def test_skips_for_lack_of_data_get_one_reason_that_counts_them() -> None:
    reason = "not next to the project: ../shared"
    reports = [
        report("tests/spec/test_rows.py::a", reason),
        report("tests/parity/test_map.py::b", reason),
        report("tests/spec/test_rows.py::c", reason),
    ]
    fold_skips(reports)
    (longrepr,) = {one.longrepr for one in reports}
    assert isinstance(longrepr, tuple)
    place, _, text = longrepr
    assert place == str(SHARED)
    assert text.endswith("did not run: tests/parity (1), tests/spec (2)")


def test_other_skips_keep_their_reasons() -> None:
    other = report("tests/cli/test_shells.py::a", "fish is not installed")
    before = other.longrepr
    fold_skips([other])
    assert other.longrepr == before
