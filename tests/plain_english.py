"""Find phrases that are not plain English in code, guides and protocol documents.

    python -m tests.plain_english [PATH ...]

In Python files comments and strings are read, elsewhere the whole text. Exit code 1 if there are
findings. CONTRIBUTING.md says what to write instead.
"""

from __future__ import annotations

__all__ = ("Finding", "files_to_read", "findings_in", "main")

import io
import re
import sys
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.tracked import ROOT, tracked_files


class Rule(NamedTuple):
    """A phrase that is refused, and what to write instead."""

    words: tuple[str, ...]
    """One of them, in small letters, is in every such phrase: to look for it is far cheaper."""
    phrase: re.Pattern[str]
    hint: str


def _rule(words: str, phrase: str, hint: str, flags: int = re.IGNORECASE) -> Rule:
    return Rule(tuple(words.split("|")), re.compile(phrase, flags), hint)


RULES = (
    # Case counts: `is None` is Python.
    _rule(
        " none", r"\b(?:is|are|was|were|be|been) none\b", "say what it is: `X is not a valid Y`", 0
    ),
    _rule(
        "is no |are no |was no |were no ",
        r"(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b)\w+",
        "`is not a`, `has no`",
    ),
    _rule("told|tells", r"\b(?:told|tells)\b", "reported, logged, sent, documented"),
    _rule("mend", r"\bmend(?:s|ed|ing)?\b", "fix"),
    _rule("anew", r"\banew\b", "again"),
    _rule("at once", r"\bat once\b", "immediately, together"),
    _rule("beside", r"\bbesides?\b", "next to, in addition to, also"),
    _rule("meanwhile", r"\bmeanwhile\b", "at the same time, while"),
    _rule("whoever", r"\bwhoever\b", "the caller, the one that"),
    _rule("its like", r"\bits like\b", "similar"),
    _rule("so many", r"\bso many\b", "N, that many"),
    _rule("unasked", r"\bunasked\b", "notifications, without a request"),
    _rule("a hole", r"\ba hole\b", "a vulnerability, a gap"),
)

SUFFIXES = {".py", ".md", ".json", ".j2", ".toml", ".yml"}

NOT_OURS = (  # what others wrote, or a program
    "generated/",
    "tests/codegen/golden/expected/",
    "tests/vectors/",
    "LICENSE",
)


class Finding(NamedTuple):
    """A phrase that is not plain English."""

    line: int
    phrase: str
    hint: str


def findings_in(text: str, *, python: bool) -> Iterator[Finding]:
    """Yield the phrases in a file that are refused."""
    small = text.lower()
    rules = [rule for rule in RULES if any(word in small for word in rule.words)]
    if not any(rule.phrase.search(text) for rule in rules):
        return
    for line, piece in _comments_and_strings(text) if python else _lines(text):
        for rule in rules:
            for found in rule.phrase.finditer(piece):
                at = line + piece.count("\n", 0, found.start())
                yield Finding(at, " ".join(found[0].split()), rule.hint)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    yield 1, text


def _comments_and_strings(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield token.start[0], token.string


def files_to_read(paths: Sequence[str]) -> list[Path]:
    """Return the files to read below `paths`, or all of the project's."""
    chosen = [ROOT / path for path in paths] or [ROOT]
    return [
        file
        for file in tracked_files()
        if file.suffix in SUFFIXES and any(map(file.is_relative_to, chosen))
        if not file.relative_to(ROOT).as_posix().startswith(NOT_OURS)
        if file.name not in (Path(__file__).name, "test_plain_english.py")
    ]


def main(paths: Sequence[str]) -> int:
    """Print the findings; return the exit code."""
    count = 0
    for file in files_to_read(paths):
        text = file.read_text(encoding="utf-8")
        for found in findings_in(text, python=file.suffix == ".py"):
            count += 1
            place = f"{file.relative_to(ROOT)}:{found.line}"
            print(f"{place}: {found.phrase!r}: write {found.hint}")
    print(f"{count} phrases that are not plain English", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
