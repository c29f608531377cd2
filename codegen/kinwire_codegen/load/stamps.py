"""When files were saved, as far as it takes to see that one was."""

from __future__ import annotations

__all__ = ("Stamps", "stamps")

from collections.abc import Iterable
from pathlib import Path

Stamps = set[tuple[str, int, int]]


def stamps(paths: Iterable[Path]) -> Stamps:
    """Return something that changes with each save of one of these, and as they come and go."""
    found: Stamps = set()
    for path in paths:
        try:
            status = path.stat()
        except FileNotFoundError:  # editors save by renaming
            continue
        found.add((str(path), status.st_mtime_ns, status.st_size))
    return found
