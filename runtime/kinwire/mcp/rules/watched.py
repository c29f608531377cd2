"""Which resources one client wants to hear of (MCP, Resource Subscriptions)."""

from __future__ import annotations

__all__ = ("MOST_WATCHED", "Watched")

from collections.abc import Iterator

MOST_WATCHED = 1000  # addresses of one client


class Watched:
    """The addresses that one client has subscribed to, each once."""

    def __init__(self, limit: int = MOST_WATCHED) -> None:
        self._limit = limit
        self._uris: dict[str, None] = {}

    def __contains__(self, uri: str) -> bool:
        return uri in self._uris

    def __iter__(self) -> Iterator[str]:
        return iter(self._uris)

    def add(self, uri: str) -> None:
        """Subscribe to an address; doing it again changes nothing.

        Raises:
            ValueError: there are too many already.
        """
        if uri not in self._uris and len(self._uris) >= self._limit:
            raise ValueError(
                f"expected at most {self._limit} subscriptions of one session, got another. "
                "End one that is not needed any more."
            )
        self._uris[uri] = None

    def discard(self, uri: str) -> None:
        """End a subscription; one that does not exist has ended already."""
        self._uris.pop(uri, None)
