"""Dotted subjects, and which of them a pattern means. Linear in both, whatever they are."""

from __future__ import annotations

__all__ = ("SUBJECT_SIZE", "checked_pattern", "checked_subject", "matcher")

import re
from collections.abc import Callable
from functools import lru_cache

from kinwire.storage.errors import StorageInputError
from kinwire.storage.inputs import refused
from kinwire.support.validation import shown_number

SUBJECT_SIZE = 256
"""The longest subject or pattern, in bytes of UTF-8."""

_WORD = r"[^\s.*>\x00-\x1f\x7f\ud800-\udfff]+"
_SUBJECT = re.compile(rf"{_WORD}(?:\.{_WORD})*")
_PATTERN = re.compile(rf"(?:(?:{_WORD}|\*)\.)*(?:{_WORD}|\*|>)")


def checked_subject(subject: str) -> str:
    """Return `subject`.

    Raises:
        StorageInputError: it is not words with dots between.
    """
    if _is_subject(subject):
        return subject
    raise _refused(subject, "words with single dots between, and no space, * or > in them")


def checked_pattern(pattern: str) -> str:
    """Return `pattern`.

    Raises:
        StorageInputError: it is not words, `*` and a last `>` with dots between.
    """
    if _fits(_PATTERN, pattern):
        return pattern
    raise _refused(pattern, "words or * with single dots between, and > at most as the last")


def matcher(pattern: str) -> Callable[[str], bool]:
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


def _is_subject(text: object) -> bool:
    # What has more characters has more bytes; nothing of such a size is kept.
    return isinstance(text, str) and len(text) <= SUBJECT_SIZE and _is_short_subject(text)


@lru_cache(maxsize=256)
def _is_short_subject(text: str) -> bool:
    return _fits(_SUBJECT, text)


def _fits(form: re.Pattern[str], text: object) -> bool:
    if not isinstance(text, str):
        return False
    if form.fullmatch(text) is None:
        return False
    return len(text) <= SUBJECT_SIZE // 4 or len(text.encode()) <= SUBJECT_SIZE


def _refused(subject: object, expected: str) -> StorageInputError:
    got = repr(subject[:60]) if isinstance(subject, str) else shown_number(subject)
    hint = "Put free text into the value."
    return refused("subject", f"{expected}, at most {SUBJECT_SIZE} bytes", got, hint)
