"""How many events of one server are taken in, at once and in a second (MCPL 9, back-pressure)."""

from __future__ import annotations

__all__ = ("BACKPRESSURE", "CONTENT_SIZE", "NOT_IN_TIME", "TOO_LARGE", "RateLimiter")

from kinwire_protocols.mcpl.models import PushEventResult

CONTENT_SIZE = 64 * 1024
"""The longest payload of an event, in characters of JSON."""

BACKPRESSURE = PushEventResult(accepted=False, reason="backpressure")
"""What an event is answered that came when there was no room: the server sends it again later."""

NOT_IN_TIME = PushEventResult(accepted=False, reason="it was not taken in time")
"""What it is answered where taking it over took too long."""

TOO_LARGE = PushEventResult(
    accepted=False,
    reason=f"the payload has more than {CONTENT_SIZE} characters: push an address of it instead",
)
"""What it is answered where its payload is too large."""


class RateLimiter:
    """A count of what is under way, and a bucket that fills as time goes by."""

    def __init__(self, *, at_once: int = 1000, per_second: float = 100.0) -> None:
        self._free = at_once
        self._rate = per_second
        self._most = self._bucket = max(1.0, per_second)
        self._filled_at: float | None = None

    def enter(self, *, now: float) -> bool:
        """Return whether there is room for one more; then `leave` has to be called."""
        if self._filled_at is not None:
            grown = self._bucket + (now - self._filled_at) * self._rate
            self._bucket = min(self._most, grown)
        self._filled_at = now
        if self._free <= 0 or self._bucket < 1:
            return False
        self._free -= 1
        self._bucket -= 1
        return True

    def leave(self) -> None:
        """Make room."""
        self._free += 1
