"""Which subjects and patterns a log takes."""

from __future__ import annotations

__all__ = ("checked_pattern", "checked_subject")

from kinwire.storage.errors import StorageInputError
from kinwire.storage.inputs import refused
from kinwire.support.patterns.subjects import SUBJECT_SIZE, is_subject, is_subject_pattern
from kinwire.support.validation import shown_number


def checked_subject(subject: str) -> str:
    """Return `subject`.

    Raises:
        StorageInputError: it is not words with dots between.
    """
    if is_subject(subject):
        return subject
    raise _refused(subject, "words with single dots between, and no space, * or > in them")


def checked_pattern(pattern: str) -> str:
    """Return `pattern`.

    Raises:
        StorageInputError: it is not words, `*` and a last `>` with dots between.
    """
    if is_subject_pattern(pattern):
        return pattern
    raise _refused(pattern, "words or * with single dots between, and > at most as the last")


def _refused(subject: object, expected: str) -> StorageInputError:
    got = repr(subject[:60]) if isinstance(subject, str) else shown_number(subject)
    hint = "Put free text into the value."
    return refused("subject", f"{expected}, at most {SUBJECT_SIZE} bytes", got, hint)
