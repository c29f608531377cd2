"""Texts, counts and seconds that every engine takes. Others are refused before anything is sent.

They often come from a peer's JSON, so what a type checker would find is refused here as well.
"""

from __future__ import annotations

__all__ = ("FARTHEST", "checked_count", "checked_seconds", "checked_text", "refused", "shown")

from kinwire.storage.errors import StorageInputError

FARTHEST = 100 * 365 * 86_400.0
"""The longest time in seconds: a hundred years. Engines count in nanoseconds and overflow later."""
_LAST = 2**53 - 1  # what every reader of JSON holds exactly; no engine's counter ends before


def checked_text(text: object, place: str, longest: int) -> bytes:
    """Return `text` in UTF-8.

    Raises:
        StorageInputError: it is no text, empty, too long, or holds half of a surrogate pair.
    """
    encoded, got = b"", type(text).__name__
    if isinstance(text, str):
        try:
            encoded, got = text.encode(), "none"
        except UnicodeEncodeError:
            got = "half of a surrogate pair"
    if 0 < len(encoded) <= longest:
        return encoded
    got = str(len(encoded)) if encoded else got
    mend = "Hash what is longer." if encoded else "Pass a text that is not empty."
    raise refused(place, f"1 to {longest} bytes of UTF-8", got, mend)


def checked_count(value: object, place: str, mend: str, *, least: int = 0) -> None:
    """Refuse what is no count of entries, no sequence and no revision.

    Raises:
        StorageInputError: it is no whole number from `least` on, or larger than any.
    """
    if isinstance(value, bool) or not (isinstance(value, int) and least <= value <= _LAST):
        raise refused(place, f"a whole number from {least} to {_LAST}", shown(value), mend)


def checked_seconds(
    value: object, place: str, mend: str, *, least: float = 0.0, most: float = FARTHEST
) -> None:
    """Refuse what is no time that can be waited for.

    Raises:
        StorageInputError: it is no number above 0 from `least` to `most`.
    """
    fits = isinstance(value, int | float) and value > 0 and least <= value <= most
    if isinstance(value, bool) or not fits:
        span = f"from {least:g} to {most:.0f}" if least else f"above 0, at most {most:.0f}"
        raise refused(place, f"seconds {span}", shown(value), mend)


def refused(place: str, expected: str, got: str, mend: str) -> StorageInputError:
    """Return the error for what no store takes."""
    return StorageInputError(place, expected=expected, got=got, mend=mend)


def shown(value: object) -> str:
    """Return `value` as an error shows it: numbers as they are, of others the type."""
    if isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**64):
        return str(value)
    return "a larger number" if isinstance(value, int) else type(value).__name__
