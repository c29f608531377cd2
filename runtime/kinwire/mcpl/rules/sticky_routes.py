"""The models that conversations have had, so that they keep them (MCPL 11.5, pinning)."""

from __future__ import annotations

__all__ = ("StickyRoutes",)

from kinwire.support.bounded import lru_put

_Key = tuple[str, str]  # feature set and conversation


class StickyRoutes:
    """Models by server, feature set and conversation.

    Each counts for `life` seconds after it was used last. A server has `most` of them: it names
    conversations as it likes, and may not push out those of others. Of a server that has kept
    nothing for `life` seconds nothing is left.
    """

    def __init__(self, *, life: float, most: int = 1000) -> None:
        self._life = life
        self._most = most
        self._kept: dict[str, dict[_Key, tuple[str, float]]] = {}

    def model(self, server: str, feature_set: str, conversation: str, *, now: float) -> str | None:
        """Return the model that the conversation has, None if it has none any more."""
        found = self._kept.get(server, {}).get((feature_set, conversation))
        return None if found is None or found[1] <= now else found[0]

    def keep(
        self, server: str, feature_set: str, conversation: str, model: str, *, now: float
    ) -> None:
        """Keep the model of a conversation from now on."""
        self._kept = {one: kept for one, kept in self._kept.items() if _last(kept) > now}
        kept = self._kept.setdefault(server, {})
        lru_put(kept, (feature_set, conversation), (model, now + self._life), limit=self._most)


def _last(kept: dict[_Key, tuple[str, float]]) -> float:
    """Return until when the one counts that was used last."""
    _, until = next(reversed(kept.values()))
    return until
