"""Patterns of channels in the policy of a host: `chat:*`, or `SERVER/PATTERN` (MCPL 14)."""

from __future__ import annotations

__all__ = ("ChannelPattern",)

from dataclasses import dataclass
from typing import Self

from kinwire.support.patterns.glob import Pattern

_EVERY_SERVER = "*"


@dataclass(frozen=True, slots=True)
class ChannelPattern:
    """Channels of one server, or of each one."""

    server_id: str | None
    """None for every server."""
    pattern: Pattern

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the pattern that `text` is.

        A server stands before the first slash, `*` for every server; without a slash, the pattern
        is for every server. So `*/a/b` are channels named `a/b`.

        Raises:
            ValueError: it is not `PATTERN` or `SERVER/PATTERN`.
        """
        server_id, slash, pattern = text.partition("/")
        if not slash:
            return cls(None, Pattern(text))
        if not server_id or ("*" in server_id and server_id != _EVERY_SERVER):
            raise ValueError(
                f"channels: expected a server_id or * before the slash, got {text!r:.60}."
            )
        return cls(None if server_id == _EVERY_SERVER else server_id, Pattern(pattern))

    def matches(self, server_id: str | None, channel_id: str) -> bool:
        """Return whether it matches a channel of a server; None is one without a `server_id`."""
        return self.server_id in (None, server_id) and self.pattern.matches(channel_id)
