"""Names of types for what other descriptions call as they like."""

from __future__ import annotations

__all__ = ("pascal",)

import re


def pascal(text: str) -> str:
    """Return a name of a type: `io.x/clientInfo` is `IoXClientInfo`."""
    words = re.findall(r"[A-Za-z0-9]+", text)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return name if name and not name[0].isdigit() else f"X{name}"
