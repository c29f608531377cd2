"""Patterns of blacklists that would not deny what they seem to deny (MCPL 7.2).

A pattern that matches nothing is a nuisance on a whitelist, but a vulnerability on a blacklist:
its writer believes that something is denied. So it is an error where it is configured.
"""

from __future__ import annotations

__all__ = ("check_blacklist",)

import re
from collections.abc import Callable, Iterable

_SIGNS = re.compile(r"\\.?|\[!?[^/][^]/]*\]|\*+|.", re.DOTALL)
_ESCAPABLE = frozenset("\\*?[]!-{}")
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


def check_blacklist(feature_set: str, patterns: Iterable[str]) -> None:
    """Raise if a pattern of the blacklist of `feature_set` cannot match what it seems to mean.

    Raises:
        ValueError: it has `**` as part of a name, braces, an escape of an ordinary character, an
            open bracket, a slash or space at the end, or a space at the beginning. The message has
            the pattern that was probably meant.
    """
    for pattern in patterns:
        for problem in _PROBLEMS:
            found = problem(pattern)
            if found is not None:
                why, instead = found
                raise ValueError(
                    f"blacklist of {feature_set:.130}: expected a pattern that denies what it "
                    f"shows, got {pattern!r:.120}: {why}. Write {instead}."
                )


_Found = tuple[str, str]


def _edges(pattern: str) -> _Found | None:
    bare = pattern.strip()
    if bare == pattern or not bare:
        return None
    return "it begins or ends with a space or a line break", repr(bare)


def _escape(pattern: str) -> _Found | None:
    signs = _SIGNS.findall(pattern)
    if all(sign[1:] in _ESCAPABLE and sign[1:] for sign in signs if sign.startswith("\\")):
        return None
    instead = repr(pattern.replace("\\", "/").rstrip("/"))
    return "a backslash makes the next character an ordinary one", f"{instead}, with slashes"


def _braces(pattern: str) -> _Found | None:
    found = _BRACES.search(pattern)
    if found is None or pattern[found.start() - 1 : found.start()] == "\\":
        return None
    before, after = pattern[: found.start()], pattern[found.end() :]
    each = [repr(f"{before}{one}{after}") for one in found[1].split(",")]
    return "braces do not list alternatives", "a pattern for each: " + ", ".join(each)


def _bracket(pattern: str) -> _Found | None:
    if "[" not in _SIGNS.findall(pattern):
        return None
    return "a bracket is not closed", r"\[ for the character"


def _double_star(pattern: str) -> _Found | None:
    parts = pattern.split("/")
    if not any(_is_mixed(part) for part in parts):
        return None
    instead = "/".join(_repaired(part) if _is_mixed(part) else part for part in parts)
    return "** crosses slashes only as a whole part between slashes", repr(instead)


def _is_mixed(part: str) -> bool:
    return part != "**" and any(sign.startswith("**") for sign in _SIGNS.findall(part))


def _repaired(part: str) -> str:
    if not part.strip("*"):
        return "**"
    signs = ["*" if sign.startswith("*") else sign for sign in _SIGNS.findall(part)]
    return ("**/" if part.startswith("**") else "") + "".join(signs)


def _slash(pattern: str) -> _Found | None:
    if pattern == "/":
        return "it stands for the slash alone", "'/**' for everything below it"
    if not pattern.endswith("/"):
        return None
    instead = repr(pattern.rstrip("/"))
    return "it stands only for labels that end with a slash", f"{instead}, which denies all below"


_PROBLEMS: tuple[Callable[[str], _Found | None], ...] = (
    _edges,
    _escape,
    _braces,
    _bracket,
    _double_star,
    _slash,
)
