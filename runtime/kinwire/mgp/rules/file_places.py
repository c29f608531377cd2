"""Where each key and value of a file stands, as line and column from 1."""

from __future__ import annotations

__all__ = ("DEEPEST", "FilePlaces", "Path")

import re
from bisect import bisect_right
from typing import Final

Path = tuple[str | int, ...]
"""Keys and indexes from the top of a file to a value."""
DEEPEST: Final = 32
"""The longest path. Without a limit, a small file with long paths takes a gigabyte and minutes."""


class FilePlaces:
    """The places of one text; how they are found depends on its format."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]
        self._keys = dict[Path, int]()
        self._values = dict[Path, int]()

    def of_key(self, path: Path) -> tuple[int, int]:
        """Return where a key or an item of an array stands; its table if it is unknown."""
        while path and path not in self._keys:
            path = path[:-1]
        return self._line_and_column(self._keys.get(path, 0))

    def of_value(self, path: Path) -> tuple[int, int]:
        """Return where a value begins; for a table where its key stands."""
        if path in self._values:
            return self._line_and_column(self._values[path])
        return self.of_key(path)

    @property
    def paths(self) -> frozenset[Path]:
        """The paths of all keys and items."""
        return frozenset(self._keys)

    def _begins_at(self, path: Path, offset: int) -> None:
        """Note where a value begins.

        Raises:
            RecursionError: it is too deep in others.
        """
        if len(path) > DEEPEST:
            raise RecursionError
        self._values[path] = offset

    def _line_and_column(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1
