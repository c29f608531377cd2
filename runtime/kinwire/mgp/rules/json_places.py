"""Where each key and value of a JSON file stands, which `json` does not say.

Only texts that `json` has read come here, so nothing is checked again.
"""

from __future__ import annotations

__all__ = ("JsonPlaces",)

import json
import re
from typing import Final

from kinwire.mgp.rules.file_places import FilePlaces, Path

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[^,\]} \t\r\n]+')


class JsonPlaces(FilePlaces):
    """The places of one JSON text."""

    def __init__(self, text: str) -> None:
        """Find the places of `text`, which is valid JSON.

        Raises:
            RecursionError: values are too deep in one another.
        """
        super().__init__(text)
        self._at: int = 0
        self.repeated: list[Path] = []
        """The keys that their object had before."""
        self._value(())

    def _skip(self) -> str:
        """Go on to the next sign that is not blank, and return it."""
        self._at = self._end(_BLANK)
        return self._text[self._at]

    def _end(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self._text, self._at)
        assert found is not None
        return found.end()

    def _value(self, path: Path) -> None:
        sign = self._skip()
        self._begins_at(path, self._at)
        if sign == "{":
            self._object(path)
        elif sign == "[":
            self._array(path)
        else:
            self._at = self._end(_SCALAR)

    def _object(self, path: Path) -> None:
        self._at += 1
        while self._skip() != "}":
            start, self._at = self._at, self._end(_TEXT)
            below = (*path, str(json.loads(self._text[start : self._at])))
            if below in self._keys:
                self.repeated.append(below)
            self._keys[below] = start
            self._skip()
            self._at += 1  # the colon
            self._value(below)
            self._comma()
        self._at += 1

    def _array(self, path: Path) -> None:
        self._at += 1
        index = 0
        while self._skip() != "]":
            self._keys[*path, index] = self._at
            self._value((*path, index))
            index += 1
            self._comma()
        self._at += 1

    def _comma(self) -> None:
        if self._skip() == ",":
            self._at += 1
