"""The matcher of scopes: the vectors, a simple matcher to compare with, and linear time."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

from kinwire.support.patterns.glob import PATTERN_SIZE, Pattern
from kinwire_protocols.mcpl.tables import PATTERNS
from tests.each import each

VECTORS = json.loads((Path(__file__).parents[3] / "vectors" / "glob.json").read_text("utf-8"))


@each(("pattern", "label", "expected"), VECTORS["match"])
def test_the_vectors(pattern: str, label: str, expected: bool) -> None:
    assert Pattern(pattern).matches(label) is expected


def test_the_tables_of_the_document_say_the_same() -> None:
    rows = [row for row in PATTERNS if row.of != "feature set"]
    assert rows
    for row in rows:
        assert all(Pattern(row.pattern).matches(label) for label in row.matches)
        assert not any(Pattern(row.pattern).matches(label) for label in row.misses)


def as_expression(pattern: str) -> re.Pattern[str]:
    """The same pattern for an engine that goes one way after the other."""
    parts = pattern.split("/")
    text = ""
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            text += "(?s:.*)" if last else "(?:[^/]*/)*"
            continue
        if part and not part.strip("*"):
            text += "[^/]"
        text += re.sub(r"\*+", "[^/]*", re.escape(part).replace(r"\*", "*")).replace(r"\?", "[^/]")
        text += "" if last else "/"
    return re.compile(text)


@settings(max_examples=25, deadline=None)
@given(
    pattern=st.lists(st.sampled_from(["a", "b", "/", "*", "**", "**/", "?", ".", "/**/"]))
    .map("".join)
    .filter(bool),
    label=st.text("ab/.", max_size=8),
)
@example(pattern="**/**/b", label="b")
@example(pattern="/**/a/**", label="/x/a/a/b")
def test_it_matches_what_an_engine_with_backtracking_matches(pattern: str, label: str) -> None:
    assert Pattern(pattern).matches(label) == bool(as_expression(pattern).fullmatch(label))


HARD = [
    pytest.param("**/a" * 20 + "/b", "a/", id="many folders"),
    pytest.param("*a" * 100 + "b", "a", id="many stars"),
    pytest.param("[a-z]*" * 80 + "0", "a", id="many classes"),
    pytest.param("?" * PATTERN_SIZE, "a", id="many questions"),
]


@each(("pattern", "piece"), HARD)
def test_no_pattern_has_a_way_back(pattern: str, piece: str) -> None:
    # An engine that tries one way after the other would not end this century.
    assert not Pattern(pattern).matches(piece * 20_000 + "!")


@pytest.mark.parametrize("text", ["", "a" * (PATTERN_SIZE + 1)])
def test_a_pattern_has_1_to_512_characters(text: str) -> None:
    with pytest.raises(ValueError, match="expected 1 to 512 characters"):
        Pattern(text)


COVERED = [
    ("#admin-*", "#admin-a/b", True),
    ("#admin-*", "#admin-a", True),
    ("#admin-*", "#dev/admin-a", False),
    ("/project/secrets", "/project/secrets/key", True),
    ("/project/secrets", "/project/secretsX/key", False),
    ("**/.env", "/a/.env/b", True),
]


@each(("pattern", "label", "expected"), COVERED)
def test_what_lies_below_a_match_is_covered(pattern: str, label: str, expected: bool) -> None:
    assert Pattern(pattern).covers(label) is expected
