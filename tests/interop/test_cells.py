"""The table of methods and peers has no hole, says nothing twice, and is what the guide shows."""

from __future__ import annotations

from collections import Counter

from tests.each import each
from tests.interop.cells import METHODS, PEERS
from tests.interop.expected import EXPECTED
from tests.interop.table import DOCUMENT, MARKS, written


def test_the_table_has_all_methods_of_the_document() -> None:
    assert len(METHODS) == 24


@each("peer", PEERS)
def test_a_method_that_is_not_tried_has_one_reason(peer: str) -> None:
    counted = Counter(method for methods in PEERS[peer].without.values() for method in methods)
    assert set(counted) <= set(METHODS)
    assert [method for method, count in counted.items() if count > 1] == []
    assert all(PEERS[peer].without), "a reason is a sentence"


def test_what_is_expected_of_a_peer_is_of_methods_that_are_tried_with_it() -> None:
    assert EXPECTED.keys() == PEERS.keys()
    for peer, facts in EXPECTED.items():
        assert set(facts) <= set(METHODS), peer


def test_the_guide_shows_the_table() -> None:
    """`python -m tests.interop.table` writes it."""
    text = DOCUMENT.read_text(encoding="utf-8")
    assert all(text.count(mark) == 1 for mark in MARKS)
    assert written(text) == text
