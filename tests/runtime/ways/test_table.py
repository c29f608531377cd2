"""No place of the tables is empty, each names a test that is there, and the guide has them."""

from __future__ import annotations

import re

from tests.runtime.ways.table import BOUNDS, ENDS, GUIDE, ROOT, WAYS, tables_in, tables_now


def test_each_place_names_a_test_or_says_why_there_is_none() -> None:
    for name, row in {**BOUNDS, **ENDS}.items():
        assert tuple(row) == WAYS, name
        for cell in row.values():
            if isinstance(cell, str):
                file, _, test = cell.partition("::")
                text = (ROOT / "tests" / "runtime" / file).read_text(encoding="utf-8")
                assert re.search(rf"def {test}\b", text), cell


def test_the_guide_has_the_tables() -> None:
    assert tables_in(GUIDE.read_text(encoding="utf-8")) == tables_now()
