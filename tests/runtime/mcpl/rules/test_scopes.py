"""What becomes of labels: lists in their order, one form for each place, and no way round."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kinwire.mcpl.rules.names import ServerPattern
from kinwire.mcpl.rules.scopes import (
    LABEL_SIZE,
    MOST_PATTERNS,
    ScopeLists,
    label_problem,
    normal_label,
    rules_for,
)
from kinwire_protocols.mcpl import PatternRule, ScopeRules
from kinwire_protocols.mcpl.tables import PATTERNS
from tests.each import each

pytestmark = pytest.mark.spec("mcpl-7.2-2", "mcpl-7.6-1")

VECTORS = json.loads((Path(__file__).parents[3] / "vectors" / "glob.json").read_text("utf-8"))


def lists(white: list[str], black: list[str]) -> ScopeLists:
    return ScopeLists(ScopeRules(whitelist=white, blacklist=black))


FILES = lists(["/project/**"], ["**/.env", "**/secrets/**"])
PLACES = lists(["#*", "/project/**"], ["#admin-*"])

JUDGED = [
    (FILES, "/project/.env", "deny"),
    (FILES, "/project/a/.env", "deny"),
    (FILES, "/project/.cache/secrets/k", "deny"),
    (FILES, "/project/.github/x", "approve"),
    (FILES, "/project/src/a.ts", "approve"),
    (FILES, "/elsewhere", "ask"),
    (PLACES, "#admin-ops", "deny"),
    (PLACES, "#admin-a/b", "deny"),
    (PLACES, "#dev", "approve"),
    (PLACES, "/project/../other/key", "deny"),
    (PLACES, "/project/./x", "approve"),
    (PLACES, "/project//x", "approve"),
    (lists(["**"], ["/project/secrets/**"]), "/project//secrets/x", "deny"),
    (lists(["**"], ["/project/secrets/**"]), "/project/./secrets/x", "deny"),
    (lists(["**"], ["secrets/**"]), "./secrets/x", "deny"),
    (lists(["**"], ["secrets/**"]), "././/secrets/x", "deny"),
    (lists(["**"], ["./secrets"]), "secrets/x", "deny"),
    (lists(["**"], ["caf\u00e9"]), "cafe\u0301", "deny"),
    (lists(["https://host/**"], []), "https://host/a", "approve"),
    (lists(["/a"], ["/a"]), "/a", "deny"),
    (lists([], []), "/a", "ask"),
]


@each(("rules", "label", "outcome"), JUDGED)
def test_the_blacklist_comes_first_then_the_whitelist(
    rules: ScopeLists, label: str, outcome: str
) -> None:
    assert rules.judge(label)[0] == outcome


@each("label", VECTORS["denied"])
def test_an_ambiguous_label_is_denied_whatever_the_lists_say(
    label: str,
) -> None:
    assert label_problem(label) is not None
    assert lists(["**"], []).judge(label)[0] == "deny"


FAULTS = [
    ("", "it has 0 characters"),
    ("a" * (LABEL_SIZE + 1), "it has 513 characters"),
    ("//server/share", "whose names stand for others"),
    ("/./proc/self/root/etc", "whose names stand for others"),
    ("/a/%2E%2e/b", "an escape"),
    ("/a/.. /b", "spaces around dots"),
    ("a\nb", "not seen"),
    ("\ud800", "not seen"),
]


@each(("label", "why"), FAULTS)
def test_it_is_said_why_a_label_cannot_be_judged(label: str, why: str) -> None:
    assert why in str(label_problem(label))


USABLE = [
    "#general",
    "discord:acme/dev ops",
    "/a.b/c..d",
    "Käse/100%",
    "notes/\U0001f469\u200d\U0001f4bb",  # a woman at a computer: two signs and a joiner
    "\u0646\u0645\u06cc\u200c\u062f\u0627\u0646\u0645",  # Persian, with a non-joiner
    "Wait\u2026",
    "gitlab:group%2Fproject",
    "C:\\Users\\me\\notes.txt",
    "a\\b",
]


@each("label", USABLE)
def test_a_plain_label_has_no_fault(label: str) -> None:
    assert label_problem(label) is None


GOES_UP = [f"a{before}..{after}b" for before in ("/", "\\", "%2F", "%2f") for after in "/\\"]
REMOTE = [
    "//server/share",
    "\\\\server\\share",
    "%2F/server",
    "/\\server",
    "\\proc\\self",
    "%2fdev/fd",
]


@each("label", [*GOES_UP, *REMOTE, "..\\a", "a%2F..", "C:\\a. \\b", "C:\\a."])
def test_every_kind_of_slash_divides_a_label(label: str) -> None:
    assert label_problem(label) is not None


@each(
    "label",
    [
        "a/secret/b",
        "a\\secret\\b",
        "a%2Fsecret%2fb",
        "a/se\u200dcret/b",
        "a\\.\\secret/b",
        "a/b/secret",
    ],
)
def test_no_spelling_avoids_a_blacklist(label: str) -> None:
    assert lists(["**"], ["**/secret/**", "**/secret"]).judge(label)[0] == "deny"


def test_a_whitelist_approves_paths_of_windows_and_nothing_that_only_looks_so() -> None:
    rules = lists(["C:/work/**", "work/**", "secret/**"], [])
    assert rules.judge("C:\\work\\a")[0] == "approve"
    for label in ("work\\a", "work%2Fa", "sec\u200dret/a", "D:\\work\\a"):
        assert rules.judge(label)[0] == "ask"


def test_one_place_has_one_form() -> None:
    forms = ["/a/b", "/a//b", "/a/./b", "/./a/b"]
    assert {normal_label(form) for form in forms} == {"/a/b"}
    assert normal_label("/a/b/") == "/a/b/"
    assert {normal_label(form) for form in ("a", "./a", "././/a")} == {"a"}
    assert [normal_label(form) for form in (".", "./")] == [".", "./"]


@each("row", [row for row in PATTERNS if row.of != "feature set"])
def test_the_published_patterns_are_the_implemented_ones(row: PatternRule) -> None:
    rules = lists([row.pattern], [])
    for outcome, labels in (("approve", row.matches), ("ask", row.misses)):
        assert {label: rules.judge(label)[0] for label in labels} == dict.fromkeys(labels, outcome)


def test_there_is_an_end_to_patterns() -> None:
    with pytest.raises(ValueError, match=f"at most {MOST_PATTERNS} patterns"):
        lists(["a"] * MOST_PATTERNS, ["b"])


BY_SERVER = {
    "files.*": ScopeRules(whitelist=["/tmp/**"], blacklist=["**/.env"]),
    "files.edit": ScopeRules(whitelist=["/work/**"]),
    "notes/files.*": ScopeRules(whitelist=[], blacklist=["/work/own"]),
    "*": ScopeRules(blacklist=["/etc", "**/.env"]),
}


@each(
    ("server_id", "name", "white", "black"),
    [
        (None, "files.edit", ["/work/**"], ["**/.env", "/etc"]),
        ("other", "files.read", ["/tmp/**"], ["**/.env", "/etc"]),
        ("notes", "files.edit", [], ["**/.env", "/work/own", "/etc"]),
        ("notes", "chat", None, ["/etc", "**/.env"]),
    ],
)
def test_all_blacklists_apply_and_the_whitelist_of_the_most_specific_entry(
    server_id: str | None, name: str, white: list[str] | None, black: list[str]
) -> None:
    listed = [(ServerPattern.read(text), rules) for text, rules in BY_SERVER.items()]
    rules = rules_for(listed, server_id, name)
    assert rules is not None
    assert (rules.whitelist, rules.blacklist) == (white, black)
    assert rules_for(listed[:3], server_id, "elsewhere") is None
