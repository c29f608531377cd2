"""Names of types, and short texts, made of what other descriptions say."""

from __future__ import annotations

__all__ = ("first_sentence", "one_line", "pascal")

import re
from typing import Any


def pascal(text: str) -> str:
    """Return a name of a type: `io.x/clientInfo` is `IoXClientInfo`."""
    words = re.findall(r"[A-Za-z0-9]+", text)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return name if name and not name[0].isdigit() else f"X{name}"


def one_line(text: Any) -> str:
    """Return a text on one line."""
    return " ".join(str(text).split())


def first_sentence(text: Any) -> str:
    """Return the first sentence of a text on one line; empty for an empty text."""
    joined = one_line(text)
    return joined.partition(". ")[0].rstrip(".") + "." if joined else ""
