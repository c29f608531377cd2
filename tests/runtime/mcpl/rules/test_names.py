"""Names and patterns of feature sets, by the vectors of the project's corpus and section 6.3."""

from __future__ import annotations

import pytest

from kinwire.mcpl.rules.names import ServerPattern, checked_pattern, is_name, is_pattern, matches
from kinwire.support.validation import checked_strings
from kinwire_protocols.mcpl.tables import PATTERNS
from tests.each import each

pytestmark = pytest.mark.spec("mcpl-6.3-1")

MATCHES = [
    ("github.*", "github.push", True),
    ("github.*", "github.pull_request.opened", True),
    ("github.*", "github", False),
    ("github.*", "githubx.push", False),
    ("*", "anything", True),
    ("*", "a.b.c", True),
    ("github.push", "github.push", True),
    ("github.push", "GitHub.push", False),
]

NONE = ["", "github.p*", "*.push", "github.*.opened", "github.**", ".*", "**", "x" * 129]


@each(("pattern", "name", "expected"), MATCHES)
def test_a_star_at_the_end_stands_for_all_that_begins_so(
    pattern: str, name: str, expected: bool
) -> None:
    assert matches(pattern, name) is expected


@each("text", NONE)
def test_a_star_anywhere_else_is_invalid_and_matches_nothing(text: str) -> None:
    assert not is_pattern(text)
    assert not any(matches(text, name) for name in ("github.push", "github.pr.opened", "x"))
    with pytest.raises(ValueError, match="expected a name"):
        checked_pattern(text)


def test_a_string_is_not_taken_for_its_letters() -> None:
    assert (
        checked_strings("enabled", ["notes.*"])
        == checked_strings("enabled", iter(("notes.*",)))
        == ("notes.*",)
    )
    with pytest.raises(TypeError, match=r"enabled: expected several.*Write \['notes\.\*'\]"):
        checked_strings("enabled", "notes.*")


def test_the_table_of_the_document_says_the_same() -> None:
    rows = [row for row in PATTERNS if row.of == "feature set"]
    assert rows
    for row in rows:
        assert all(matches(row.pattern, name) for name in row.matches)
        assert not any(matches(row.pattern, name) for name in row.misses)


def test_a_name_has_1_to_128_characters() -> None:
    assert is_name("x" * 128)
    assert not is_name("x" * 129)
    assert not is_name("")
    assert not is_name("a*")


OF_SERVERS = [
    ("memory.*", "notes", "memory.x", True),
    ("memory.*", None, "memory.x", True),
    ("notes/memory.*", "notes", "memory.x", True),
    ("notes/memory.*", "other", "memory.x", False),
    ("notes/memory.*", None, "memory.x", False),
    ("notes/memory.*", "notes", "other.x", False),
    ("notes/*", "notes", "anything", True),
    ("notes/x", "other", "notes/x", False),  # a set cannot be named into a policy
    ("notes/x", "notes", "notes/x", False),
    ("team/notes/x", "team/notes", "x", True),
    ("team/notes/x", "team", "notes/x", False),
]


@each(("text", "server_id", "name", "expected"), OF_SERVERS)
def test_a_pattern_of_a_server_matches_its_sets_only(
    text: str, server_id: str | None, name: str, expected: bool
) -> None:
    pattern = ServerPattern.read(text)
    assert pattern.matches(server_id, name) is expected
    assert str(pattern) == text


@each("text", ["/x", "*/x", "no*/x", "notes/", "notes/x*", "notes/*.y", ""])
def test_a_pattern_of_a_server_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"feature sets: expected a (name|server_id)"):
        ServerPattern.read(text)


def test_the_most_specific_pattern_is_by_server_then_by_name_then_by_length() -> None:
    texts = ["*", "a.*", "a.b.*", "a.b.c", "s/*", "s/a.*", "s/a.b.c"]
    assert sorted(reversed(texts), key=lambda one: ServerPattern.read(one).rank) == texts
