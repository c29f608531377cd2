"""The known name that a wrong one may stand for."""

from __future__ import annotations

from collections.abc import Collection

__all__ = ("nearest",)

_MOST = 1000  # names that are looked at: among 10,000 the search takes a third of a second
_LONGEST = 100  # characters of a name that somebody may have typed


def nearest(name: str, known: Collection[str]) -> str | None:
    """Return which of `known` is nearest to `name`, None if none is near or there are too many."""
    if len(known) > _MOST or len(name) > _LONGEST:
        return None
    from difflib import get_close_matches  # here: most programs never ask

    close = get_close_matches(name, known)
    swapped = (one for one in close if sorted(one) == sorted(name))  # the likelier slip
    return next(swapped, next(iter(close), None))
