"""Whom an update of a resource is for, and how few wait (MCP, Resource Subscriptions)."""

from __future__ import annotations

__all__ = ("MOST_WAITING", "add_update", "concerns")

MOST_WAITING = 1000  # addresses that wait for one reader

_BELOW = ("/", "?", "#")


def concerns(subscribed: str, updated: str) -> bool:
    """Return whether `updated` is the address that was subscribed to, or lies below it."""
    if not updated.startswith(subscribed):
        return False
    rest = updated[len(subscribed) :]
    return not rest or subscribed.endswith(_BELOW) or rest.startswith(_BELOW)


def add_update(
    waiting: dict[str, None], subscribed: str, updated: str, limit: int = MOST_WAITING
) -> None:
    """Add `updated` to the addresses that wait, in order and each once.

    One too many, and they all become the one that was subscribed to: whoever reads that again
    has missed nothing.
    """
    if len(waiting) >= limit and updated not in waiting:
        waiting.clear()
        updated = subscribed
    waiting[updated] = None
