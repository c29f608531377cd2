"""Names of types, and short texts, made of what other descriptions say."""

from __future__ import annotations

__all__ = (
    "defined_name",
    "first_sentence",
    "one_line",
    "pascal",
    "summary_and_rest",
    "without_links",
)

import re
from typing import Any

_DEFINITION = re.compile(r"#/(?:\$defs|definitions|components/schemas)/([^/]+)")
_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!\bcf)(?<!\bvs)\.(?=\s)|(?=\n\s*\n)")

_LINK = re.compile(r"\{@link(?:code|plain)?\s+([^\s{}]+)\s*([^{}]*)\}")


def pascal(text: str) -> str:
    """Return a name of a type: `io.x/clientInfo` is `IoXClientInfo`."""
    words = re.findall(r"[A-Za-z0-9]+", text)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return name if name and not name[0].isdigit() else f"X{name}"


def one_line(text: Any) -> str:
    """Return a text on one line."""
    return " ".join(str(text).split())


def first_sentence(text: Any) -> str:
    """Return the first sentence or paragraph of a text on one line; empty for an empty text."""
    return summary_and_rest(str(text))[0]


def summary_and_rest(text: str) -> tuple[str, str]:
    """Return the first sentence or paragraph of a text on one line, and what follows it."""
    text = text.strip()
    end = _END.search(text)
    first, rest = (text[: end.start()], text[end.end() :]) if end else (text, "")
    return (f"{one_line(first).rstrip('.')}." if first else ""), rest.strip()


def without_links(text: str) -> str:
    """Return a text with links of JSDoc, such as `{@link Position}`, as names in backticks."""
    return _LINK.sub(_named, text)


def _named(link: re.Match[str]) -> str:
    name = link[2].strip() or link[1]
    return name if "`" in name or " " in name or "://" in name else f"`{name}`"


def defined_name(text: Any) -> str:
    """Return the definition that a reference names; empty if it leads inside one, or elsewhere."""
    found = _DEFINITION.fullmatch(str(text))
    return found[1].replace("~1", "/").replace("~0", "~") if found else ""
