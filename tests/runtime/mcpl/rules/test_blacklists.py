"""Patterns of blacklists that deny less than they show are refused, with the right pattern."""

from __future__ import annotations

import pytest

from kinwire.mcpl import Scopes
from kinwire.mcpl.rules.blacklists import check_blacklist
from kinwire.mcpl.rules.scopes import ScopeLists
from kinwire_protocols.mcpl import ScopeRules
from tests.each import each

# pattern, the pattern that the message names, and what that must deny
REFUSED = [
    ("**secret**", "**/*secret*", ["secret", "a/my-secrets/b", "a/b/secret.txt"]),
    ("/project/**.env", "/project/**/*.env", ["/project/.env", "/project/a/b.env"]),
    ("secrets**", "secrets*", ["secrets", "secrets-2/a/b"]),
    ("/a/x**y/b", "/a/x*y/b", ["/a/xzy/b/c"]),
    ("***", "**", ["a/b"]),
    ("/a/***/b", "/a/**/b", ["/a/b", "/a/x/y/b"]),
    ("**/secrets/", "**/secrets", ["secrets/x", "/a/secrets", "/a/secrets/"]),
    ("/", "/**", ["/etc", "/a/b"]),
    ("**/*.{pem,key}", "**/*.pem", ["/a/b.pem"]),
    ("**/*.{pem,key}", "**/*.key", ["/a/b.key"]),
    (r"C:\Users\me", "C:/Users/me", ["C:/Users/me/x"]),
    ("secret\\", "secret", ["secret"]),
    ("**/[a-c", None, []),
    (" **/.env", "**/.env", ["a/.env"]),
    ("**/.env\n", "**/.env", ["a/.env"]),
]
FINE = [
    "**/.env",
    "**/secrets/**",
    "**",
    "*",
    "#admin-*",
    "**/*secret*",
    "[a-c]/[!x]",
    "[**]x",
    "[]]",
    r"a\*\*b",
    r"\[x",
    r"\{a,b\}",
    "{id}",
    "a?/b",
    "discord:acme/*",
    "my channel",
]


@each(("pattern", "instead", "denied"), REFUSED)
@pytest.mark.spec("mcpl-7.2-1")
def test_a_pattern_that_denies_less_than_it_shows_is_refused(
    pattern: str, instead: str | None, denied: list[str]
) -> None:
    with pytest.raises(ValueError, match=r"^blacklist of notes: expected .*Write ") as refused:
        check_blacklist("notes", [pattern])
    if instead is None:
        return
    assert repr(instead) in str(refused.value)
    check_blacklist("notes", [instead])
    lists = ScopeLists(ScopeRules(whitelist=["**"], blacklist=[instead]))
    assert {label: lists.judge(label)[0] for label in denied} == dict.fromkeys(denied, "deny")


@each("pattern", FINE)
def test_a_pattern_that_denies_what_it_shows_is_accepted(pattern: str) -> None:
    check_blacklist("notes", [pattern])


@pytest.mark.spec("mcpl-7.2-2")
def test_scopes_refuse_it_on_the_blacklist_only() -> None:
    with pytest.raises(ValueError, match=r"^blacklist of notes: .*secret"):
        Scopes(lists={"notes": ScopeRules(blacklist=["**secret**"])})
    Scopes(lists={"notes": ScopeRules(whitelist=["**secret**"])})
