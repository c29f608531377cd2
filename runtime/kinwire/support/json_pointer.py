"""JSON pointers as text (RFC 6901)."""

from __future__ import annotations

__all__ = ("pointer_below", "steps_of")


def pointer_below(pointer: str, name: str) -> str:
    """Return the pointer to the member called `name` of what `pointer` leads to."""
    return f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"


def steps_of(pointer: str) -> list[str]:
    """Return the names and numbers that `pointer` leads over; it may begin with a `#`."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
