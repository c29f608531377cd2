"""Where each key and value of a TOML file stands, which `tomllib` does not say.

Only texts that `tomllib` has read come here, so nothing is checked again.
"""

from __future__ import annotations

__all__ = ("TomlPlaces",)

import re
import tomllib
from typing import Final

from kinwire.mgp.rules.file_places import FilePlaces, Path

_BLANK: Final = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY: Final = re.compile(
    r"[ \t]*(?:(?P<bare>[A-Za-z0-9_-]+)|(?P<quoted>\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'))[ \t]*"
)
_TEXT: Final = re.compile(
    r"\"\"\"(?:[^\"\\]|\\.|\"{1,2}(?!\"))*\"{3,5}|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR: Final = re.compile(r"[^,\]}#\n]*")


class TomlPlaces(FilePlaces):
    """The places of one TOML text."""

    def __init__(self, text: str) -> None:
        """Find the places of `text`, which is valid TOML.

        Raises:
            RecursionError: values are too deep in one another.
        """
        super().__init__(text.replace("\r\n", "\n"))
        self._arrays = dict[Path, int]()  # of tables: the index of the last
        self._at: int = 0
        self._read()

    def _read(self) -> None:
        table: Path = ()
        while self._skip() < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _skip(self) -> int:
        """Go on to the next sign that is not blank or a comment."""
        found = _BLANK.match(self._text, self._at)
        assert found is not None
        self._at = found.end()
        return self._at

    def _header(self) -> Path:
        is_array = self._text.startswith("[[", self._at)
        start = self._at
        self._at += 2 if is_array else 1
        path = self._dotted(())
        self._at += 2 if is_array else 1
        if is_array:
            self._arrays[path] = self._arrays.get(path, -1) + 1
            path = (*path, self._arrays[path])
            self._keys[path] = start
        return path

    def _pair(self, table: Path) -> None:
        path = self._dotted(table)
        self._at += 1  # the equals sign
        self._value(path)

    def _dotted(self, path: Path) -> Path:
        """Read keys with dots between them, and return the path that they lead to."""
        while True:
            if path in self._arrays:
                path = (*path, self._arrays[path])
            found = _KEY.match(self._text, self._at)
            assert found is not None
            bare, quoted = found.group("bare", "quoted")
            start = found.start("bare" if quoted is None else "quoted")
            path = (*path, bare if quoted is None else _unquoted(quoted))
            self._keys.setdefault(path, start)
            self._at = found.end()
            if not self._text.startswith(".", self._at):
                return path
            self._at += 1

    def _value(self, path: Path) -> None:
        start = self._skip()
        self._begins_at(path, start)
        if self._text[start] == "[":
            self._array(path)
        elif self._text[start] == "{":
            self._inline(path)
        else:
            found = _TEXT.match(self._text, start) or _SCALAR.match(self._text, start)
            assert found is not None
            self._at = found.end()

    def _array(self, path: Path) -> None:
        self._at += 1
        index = 0
        while self._text[self._skip()] != "]":
            self._keys[*path, index] = self._at
            self._value((*path, index))
            index += 1
            self._comma()
        self._at += 1

    def _inline(self, path: Path) -> None:
        self._at += 1
        while self._text[self._skip()] != "}":
            self._pair(path)
            self._comma()
        self._at += 1

    def _comma(self) -> None:
        if self._text[self._skip()] == ",":
            self._at += 1


def _unquoted(key: str) -> str:
    """Return the key that a string stands for."""
    return str(next(iter(tomllib.loads(f"{key} = 0"))))
