"""Programs that run the rest of their arguments: `env A=1 nice -n 5 ls` runs `ls`."""

from __future__ import annotations

__all__ = ("unwrapped",)

import re
from collections.abc import Callable, Sequence
from typing import Final

from kinwire.mgp.rules.validators.shell_options import Options, refused_option
from kinwire.mgp.rules.validators.shell_programs import OPTIONS, WRAPPERS

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)(?:\[[^]]*\])?\+?=", re.ASCII)
_HARMLESS_VARIABLE: Final = re.compile(
    r"LC_[A-Z]+|LANG|LANGUAGE|TZ|COLUMNS|LINES|TERM|NO_COLOR|CLICOLOR(?:_FORCE)?|FORCE_COLOR|CI"
    r"|DEBUG|VERBOSE|NODE_ENV|RUST_LOG|LOG_LEVEL|DEBIAN_FRONTEND"
)
_SPLITS: Final = Options(names=("split-string", "arg-file", "pid"))


def unwrapped(
    words: Sequence[str], program_name: Callable[[str], str]
) -> tuple[list[Sequence[str]], str | None]:
    """Return the commands that run in the end, each of which must be allowed, or a problem.

    An option whose value may stand in the next word leads to two readings. Nothing is returned
    for a wrapper without a command.
    """
    waiting, found = [words], list[Sequence[str]]()
    for _ in range(32):
        if not waiting:
            return found, None
        rest = waiting.pop()
        at, problem = _assignments(rest)
        if problem is not None:
            return [], problem
        if at < len(rest):
            inner = _inside(rest[at:], program_name)
            if isinstance(inner, str):
                return [], inner
            waiting += inner or []
            found += [rest[at:]] if inner is None else []
    return [], "programs that start programs are nested too deeply"


def _assignments(words: Sequence[str]) -> tuple[int, str | None]:
    for at, word in enumerate(words):
        name = _ASSIGNMENT.match(word)
        if name is None:
            return at, None
        if not _HARMLESS_VARIABLE.fullmatch(name[1]):
            return at, "it sets a variable that programs may act on"
    return len(words), None


def _inside(
    words: Sequence[str], program_name: Callable[[str], str]
) -> list[Sequence[str]] | str | None:
    """Return the commands inside a wrapper, a problem, or None if this is not a wrapper."""
    name = program_name(words[0])
    if name not in WRAPPERS or "/" in words[0].removeprefix("/usr/bin/").removeprefix("/bin/"):
        return None
    valued, operands, refused = WRAPPERS[name]
    at, unclear = _after_options(words, valued)
    options = words[1:at]
    if refused_option(_SPLITS._replace(letters=refused), options):
        return "an option of a program that starts others changes what it starts"
    if name == "command" and any(set("vV") & set(word) for word in options):
        return []  # it only says what would run
    starts = {at + operands, at + operands + 1} if unclear else {at + operands}
    inner = [words[start:] for start in starts if start < len(words)]
    return _with_unknown_arguments(inner, program_name) if name == "xargs" else inner


def _after_options(words: Sequence[str], valued: str) -> tuple[int, bool]:
    """Return where the options end, and whether the next word may still belong to them."""
    at, unclear = 1, False
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        at += 1
        if word == "--":
            break
        if word.startswith("--"):
            unclear |= "=" not in word
        elif word[-1:] in valued and not any(letter in valued for letter in word[1:-1]):
            at += 1
    return at, unclear


def _with_unknown_arguments(
    inner: list[Sequence[str]], program_name: Callable[[str], str]
) -> list[Sequence[str]] | str:
    for words in inner:
        name = program_name(words[0])
        if name in OPTIONS or name in {"find", "awk", "sed", "git", "chmod", "kill"}:
            return "xargs adds arguments that are not known to a program with options that matter"
    return inner
