"""What a document says of an entry beyond its meaning, as lines of a terminal."""

from __future__ import annotations

__all__ = ("value_lines", "version_notes")

import json
from collections.abc import Iterator
from typing import Any

from kinwire_cli.layout import columns


def version_notes(node: dict[str, Any]) -> str:
    """Return since when an entry exists, and why it is deprecated; empty if neither is said."""
    parts = [f"Since {node['since']}."] if "since" in node else []
    mark: Any = node.get("deprecated")
    if mark:
        said: dict[str, str] = {} if mark is True else mark
        since = f" since {said['since']}" if "since" in said else ""
        reason = f": {said['reason'].rstrip('.')}" if "reason" in said else ""
        parts.append(f"Deprecated{since}{reason}.")
        parts += [f"Use {said['replacement'].rstrip('.')}."] if "replacement" in said else []
    return " ".join(parts)


def value_lines(node: dict[str, Any]) -> Iterator[str]:
    """Yield a table of the values of an enum that are described."""
    rows = [
        (f"  {json.dumps(value, ensure_ascii=False)}", said.get("name", ""), _text(said))
        for value in node.get("enum", ())
        if (said := node.get("enumValues", {}).get(str(value)))
    ]
    if rows:
        yield columns(rows if any(name for _, name, _ in rows) else [(a, c) for a, _, c in rows])


def _text(node: dict[str, Any]) -> str:
    return " ".join(filter(None, (node.get("description"), version_notes(node))))
