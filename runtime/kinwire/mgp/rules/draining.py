"""How long a server that shuts down will probably take to finish (MGP 0.2.0 section 11.4)."""

from __future__ import annotations

__all__ = ("estimated_drain",)

from collections.abc import Collection


def estimated_drain(
    ages: Collection[float], longest: float | None, pending: int, limit: float
) -> float:
    """Return the seconds until `pending` requests are done, as far as that is known.

    `ages` is how long some of them have run, and `longest` how long the slowest of the last calls
    took, None if none has ended. A request that has run for longer than that may need the whole
    `limit`, and so may the first of all; nothing takes longer.
    """
    if not pending:
        return 0.0
    if longest is None or any(age >= longest for age in ages):
        return limit
    youngest = min(ages) if len(ages) >= pending else 0.0
    return min(limit, longest - youngest)
