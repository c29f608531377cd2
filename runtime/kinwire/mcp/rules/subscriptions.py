"""Which updates of resources a reader gets, and which a client has asked for (MCP, Resources).

`concerns` and `add_update` serve the client, `SubscribedUris` the server (Resource Subscriptions).
"""

from __future__ import annotations

__all__ = ("MAX_PENDING", "MAX_SUBSCRIPTIONS", "SubscribedUris", "add_update", "concerns")

from collections.abc import Iterator

MAX_PENDING = 1000  # addresses that wait for one reader
MAX_SUBSCRIPTIONS = 1000  # of one session

_BELOW = ("/", "?", "#")


def concerns(subscribed: str, updated: str) -> bool:
    """Return whether `updated` is the subscribed address, or lies below it."""
    if not updated.startswith(subscribed):
        return False
    rest = updated[len(subscribed) :]
    return not rest or subscribed.endswith(_BELOW) or rest.startswith(_BELOW)


def add_update(
    pending: dict[str, None], subscribed: str, updated: str, limit: int = MAX_PENDING
) -> None:
    """Add `updated` to the pending addresses, an ordered set.

    If there would be more than `limit`, the subscribed address replaces them all: a reader that
    reads it again misses no change.
    """
    if len(pending) >= limit and updated not in pending:
        pending.clear()
        updated = subscribed
    pending[updated] = None


class SubscribedUris:
    """The addresses that one client has subscribed to."""

    def __init__(self, limit: int = MAX_SUBSCRIPTIONS) -> None:
        self._limit = limit
        self._uris: dict[str, None] = {}

    def __contains__(self, uri: str) -> bool:
        return uri in self._uris

    def __iter__(self) -> Iterator[str]:
        return iter(self._uris)

    def add(self, uri: str) -> None:
        """Subscribe to an address; a second time changes nothing.

        Raises:
            ValueError: the session has too many subscriptions.
        """
        if uri not in self._uris and len(self._uris) >= self._limit:
            raise ValueError(
                f"expected at most {self._limit} subscriptions of one session, got another. "
                "End one that is not needed any more."
            )
        self._uris[uri] = None

    def discard(self, uri: str) -> None:
        """End a subscription; an unknown address changes nothing."""
        self._uris.pop(uri, None)
