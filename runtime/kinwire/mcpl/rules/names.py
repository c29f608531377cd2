"""Names of feature sets, and the patterns that match several (MCPL 6.3).

`memory.*` matches each set whose name begins with `memory.`, with any number of parts, and `*`
matches every set. A star anywhere else is invalid. In the policy of a host `notes/memory.*` is the
same of the server with the `server_id` "notes" alone.
"""

from __future__ import annotations

__all__ = (
    "NAME_SIZE",
    "ServerPattern",
    "checked_pattern",
    "is_name",
    "is_pattern",
    "matches",
    "patterns_for",
)

from dataclasses import dataclass
from typing import Self

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


@dataclass(frozen=True, slots=True)
class ServerPattern:
    """Feature sets in the policy of a host: `notes/memory.*` of one server, `memory.*` of each.

    The server is named by the `server_id` that the host configured. The name that a server gives
    itself never counts, so a server cannot take the place of another one.
    """

    server_id: str | None
    """None for every server."""
    pattern: str

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the pattern that `text` is: the server stands before the last slash.

        Raises:
            ValueError: it is not `PATTERN` or `SERVER/PATTERN`.
        """
        server_id, slash, pattern = text.rpartition("/")
        if slash and (not server_id or "*" in server_id):
            raise ValueError(
                f"feature sets: expected a server_id before the slash, got {text!r:.200}. "
                f"A pattern without a server applies to all: {pattern!r:.130}."
            )
        return cls(server_id or None, checked_pattern(pattern))

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """How specific it is: by server before all servers, a name before the longest pattern."""
        return self.server_id is not None, "*" not in self.pattern, len(self.pattern)

    def is_for(self, server_id: str | None) -> bool:
        """Return whether it applies to the server; None is a server without a `server_id`."""
        return self.server_id is None or self.server_id == server_id

    def matches(self, server_id: str | None, name: str) -> bool:
        """Return whether it matches the feature set `name` of the server."""
        return self.is_for(server_id) and matches(self.pattern, name)

    def __str__(self) -> str:
        return self.pattern if self.server_id is None else f"{self.server_id}/{self.pattern}"
