"""Dotted names and their patterns: what they may be, and what they cover."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kinwire.support.patterns.dotted import (
    NAME_SIZE,
    covers,
    is_dotted_name,
    is_dotted_pattern,
    without_covered,
)
from kinwire_protocols.mcpe.tables import PATTERN_MATCHES
from tests.each import each

PART = st.sampled_from(["a", "b", "ab", "A"])
NAME = st.lists(PART, min_size=1, max_size=4).map(".".join)
PATTERN = st.one_of(NAME, NAME.map(lambda name: f"{name}.*"), st.just("*"))


@pytest.mark.spec("mcpe-4.4-1", "mcpe-4.4-2", "mcpe-4.4-3")
def test_the_table_of_the_document_says_the_same() -> None:
    rows = list(PATTERN_MATCHES)
    assert rows
    assert [row for row in rows if covers(row.pattern, row.type) is not row.matches] == []


@each(
    ("pattern", "misses"),
    [
        ("*", []),
        ("github.*", ["github", "githubx.push", "GitHub.push"]),
        ("github.push", ["github", "githubx.push", "GitHub.push", "github.push.x"]),
    ],
)
def test_a_star_needs_its_dot_and_stands_for_any_depth(pattern: str, misses: list[str]) -> None:
    names = ["github.push", "github", "githubx.push", "GitHub.push", "github.push.x"]
    assert [name for name in names if not covers(pattern, name)] == misses


def test_a_star_below_two_parts() -> None:
    for name, matches in (("", False), (".opened", True), (".review.done", True), ("x.y", False)):
        assert covers("github.pull_request.*", f"github.pull_request{name}") is matches


@pytest.mark.spec("mcpe-4.4-4")
@each(
    "text",
    [
        *("*.push", "git*hub", "github.*.opened", "github.**", "?", "[a-z].*", "github*", ".*", ""),
        *("**", "a..b", ".a", "a.", "a. b.*", "a.>", "*.*", "a\n", "\ud800", "x" * (NAME_SIZE + 1)),
    ],
)
def test_a_star_elsewhere_is_refused_as_are_signs_of_other_languages(text: str) -> None:
    assert not is_dotted_pattern(text)
    assert not is_dotted_name(text)


@pytest.mark.spec("mcpe-4.3-1", "mcpe-4.3-2")
@each("name", ["github.push", "a.b.c", "github", "a.b.c.d.e", "ünï.cödé", "x" * NAME_SIZE])
def test_names_are_parts_with_dots(name: str) -> None:
    assert is_dotted_name(name)
    assert is_dotted_pattern(name)
    assert covers(name, name)


@given(st.lists(PATTERN, max_size=6), NAME)
def test_without_what_is_covered_the_same_matches_and_one_pattern_alone(
    patterns: list[str], name: str
) -> None:
    kept = without_covered(patterns)
    assert sum(covers(one, name) for one in kept) == any(covers(one, name) for one in patterns)
    assert set(kept) <= set(patterns)
