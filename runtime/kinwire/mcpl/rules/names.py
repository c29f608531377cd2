"""Names of feature sets, and the patterns that match several (MCPL 6.3).

`memory.*` matches each set whose name begins with `memory.`, with any number of parts, and `*`
matches every set. A star anywhere else is invalid.
"""

from __future__ import annotations

__all__ = ("NAME_SIZE", "checked_pattern", "is_name", "is_pattern", "matches", "patterns_for")

NAME_SIZE = 128
"""The longest name of a feature set, in characters."""


def is_name(text: str) -> bool:
    """Return whether `text` is a valid name of a feature set."""
    return 0 < len(text) <= NAME_SIZE and "*" not in text


def is_pattern(text: str) -> bool:
    """Return whether `text` is a pattern: a name, `NAME.*` or `*`."""
    return text == "*" or is_name(text.removesuffix(".*"))


def checked_pattern(text: str) -> str:
    """Return `text` if it is a pattern.

    Raises:
        ValueError: it is not.
    """
    if is_pattern(text):
        return text
    raise ValueError(
        f"feature sets: expected a name, NAME.* or *, got {text!r:.60}. "
        "Name the sets one by one where their names do not begin alike."
    )


def patterns_for(name: str) -> list[str]:
    """Return all possible patterns that match the feature set named `name`."""
    return [name, "*", *(f"{name[:at]}.*" for at, sign in enumerate(name) if sign == ".")]


def matches(pattern: str, name: str) -> bool:
    """Return whether `pattern` matches the feature set named `name`."""
    if pattern.endswith(".*"):
        return name.startswith(pattern[:-1]) and is_pattern(pattern)
    return pattern in ("*", name)
