"""The estimate of tokens, compared with a real tokenizer."""

from __future__ import annotations

import json
from math import isclose

from kinwire.mgp.rules.token_counts import estimated_tokens
from tests.absent import shared
from tests.bench.token_error import COUNTS, definitions, error_of


def test_the_documented_error_of_the_estimate_is_the_measured_one() -> None:
    shared("corpora/tool-catalog/tools.json")
    counts = json.loads(COUNTS.read_text(encoding="utf-8"))
    found = error_of([estimated_tokens(text) for text in definitions()], counts)
    expected = (0.22, 0.028, -0.29)
    assert all(
        isclose(one, other, abs_tol=0.005) for one, other in zip(found, expected, strict=True)
    )
