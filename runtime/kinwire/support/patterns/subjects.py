"""Dotted subjects, and which of them a pattern means. Linear in both, whatever they are.

`*` is one word and a last `>` one or more, as in NATS. The logs of `storage/` use them.
"""

from __future__ import annotations

__all__ = ("SUBJECT_SIZE", "is_subject", "is_subject_pattern", "subject_matcher")

import re
from collections.abc import Callable
from functools import lru_cache

SUBJECT_SIZE = 256
"""The longest subject or pattern, in bytes of UTF-8."""

_WORD = r"[^\s.*>\x00-\x1f\x7f\ud800-\udfff]+"
_SUBJECT = re.compile(rf"{_WORD}(?:\.{_WORD})*")
_PATTERN = re.compile(rf"(?:(?:{_WORD}|\*)\.)*(?:{_WORD}|\*|>)")


def is_subject(text: object) -> bool:
    """Return whether `text` is words with dots between."""
    # What has more characters has more bytes; nothing of such a size is kept.
    return isinstance(text, str) and len(text) <= SUBJECT_SIZE and _is_short_subject(text)


def is_subject_pattern(text: object) -> bool:
    """Return whether `text` is words, `*` and a last `>` with dots between."""
    return _fits(_PATTERN, text)


def subject_matcher(pattern: str) -> Callable[[str], bool]:
    """Return what says whether a subject is meant by `pattern`, which is checked already."""
    if pattern == ">":
        return lambda subject: True
    *head, last = pattern.split(".")
    open_end = last == ">"
    if not open_end:
        head.append(last)

    def matches(subject: str) -> bool:
        words = subject.split(".")
        if len(words) <= len(head) if open_end else len(words) != len(head):
            return False
        return all(wanted in ("*", word) for wanted, word in zip(head, words, strict=False))

    return matches


@lru_cache(maxsize=256)
def _is_short_subject(text: str) -> bool:
    return _fits(_SUBJECT, text)


def _fits(form: re.Pattern[str], text: object) -> bool:
    if not isinstance(text, str):
        return False
    if form.fullmatch(text) is None:
        return False
    return len(text) <= SUBJECT_SIZE // 4 or len(text.encode()) <= SUBJECT_SIZE
