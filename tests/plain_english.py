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

RULES: dict[str, str] = {
    r"\b(?:is|are|was|were|be|been) none\b": "say what it is: `X is not a valid Y`",
    r"(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b)\w+": "`is not a`, `has no`",
    r"\b(?:told|tells)\b": "reported, logged, sent, documented",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\banew\b": "again",
    r"\bat once\b": "immediately, together",
    r"\bbesides?\b": "next to, in addition to, also",
    r"\bmeanwhile\b": "at the same time, while",
    r"\bwhoever\b": "the caller, the one that",
    r"\bits like\b": "similar",
    r"\bso many\b": "N, that many",
    r"\bunasked\b": "notifications, without a request",
    r"\ba hole\b": "a vulnerability, a gap",
}
"""The phrases that are refused, and what to write instead."""

SUFFIXES = {".py", ".md", ".json", ".j2", ".toml", ".yml"}

NOT_OURS = (  # what others wrote, or a program
    "generated/",
    "tests/codegen/golden/expected/",
    "tests/vectors/",
    "LICENSE",
)

# Case counts in the first rule alone: `is None` is Python.
_ALL = re.compile(
    "|".join(f"({rule if not at else f'(?i:{rule})'})" for at, rule in enumerate(RULES))
)
_HINTS = tuple(RULES.values())


class Finding(NamedTuple):
    """A phrase that is not plain English."""

    line: int
    phrase: str
    hint: str


def findings_in(text: str, *, python: bool) -> Iterator[Finding]:
    """Yield the phrases in a file that are refused, in order."""
    for line, piece in _comments_and_strings(text) if python else _lines(text):
        for found in _ALL.finditer(piece):
            at = line + piece.count("\n", 0, found.start())
            hint = _HINTS[(found.lastindex or 1) - 1]
            yield Finding(at, " ".join(found[0].split()), hint)


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
