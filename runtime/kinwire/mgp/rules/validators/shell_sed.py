"""Scripts of sed: read command by command, because `1e id` and `s/a/b/e` start programs.

What the reader does not understand, or programs read in different ways, is refused.
"""

from __future__ import annotations

__all__ = ("sed_problem",)

import re
from typing import Final

_ADDRESS: Final = re.compile(r"[0-9]+(?:~[0-9]+)?|\$|[+~][0-9]+")
_BLANK: Final = re.compile(r"[ \t]*")
_BETWEEN: Final = re.compile(r"[\s;}]*")
_TEXT: Final = re.compile(r"(?:[^\\\n]|\\[\s\S])*\n?")
_LABEL: Final = re.compile(r"[^\n;}]*")
_FLAGS: Final = re.compile(r"[gpiIM0-9]*(?=[\s;}]|$)")
_SIMPLE: Final = frozenset("dDgGhHnNpPxzF={")
_LABELS: Final = frozenset("btTqQl:")

_DOES_MORE: Final = "its script starts commands, or reads or writes files"
_UNCLEAR: Final = "its script cannot be read"


class _ScriptRefusedError(ValueError):
    """The script is refused; the message is the reason."""


def sed_problem(script: str) -> str | None:
    """Return why a script of sed is refused, as a clause, or None."""
    try:
        _SedScript(script).read()
    except _ScriptRefusedError as refused:
        return str(refused)
    return None


class _SedScript:
    def __init__(self, script: str) -> None:
        self._script = script
        self._at = 0

    def read(self) -> None:
        self._skip(_BETWEEN)
        while self._at < len(self._script):
            self._addresses()
            self._command()
            self._skip(_BETWEEN)

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self._script, self._at)
        if found is None or not found[0]:
            return False
        self._at = found.end()
        return True

    def _take(self) -> str:
        sign = self._script[self._at : self._at + 1]
        self._at += 1
        return sign

    def _is_next(self, sign: str) -> bool:
        return self._script.startswith(sign, self._at)

    def _addresses(self) -> None:
        self._address()
        self._skip(_BLANK)
        if self._is_next(","):
            self._take()
            self._skip(_BLANK)
            self._address()
        while self._is_next("!") or self._is_next(" "):
            self._take()

    def _address(self) -> None:
        if self._is_next("\\"):
            self._take()
        elif not self._is_next("/"):
            self._skip(_ADDRESS)
            return
        self._delimited(1)
        while self._is_next("I") or self._is_next("M"):
            self._take()

    def _delimited(self, parts: int) -> None:
        """Skip `/x/` or `/x/y/`."""
        mark = self._take()
        if mark in ("", "\\", "\n", "[", "]"):
            raise _ScriptRefusedError(_UNCLEAR)
        for _ in range(parts):
            self._part(mark)

    def _part(self, mark: str) -> None:
        bracket = False
        while sign := self._take():
            if sign == mark and bracket:  # programs differ on whether brackets hide the mark
                break
            if sign == mark:
                return
            if sign == "\\":
                self._take()
            elif sign in "[]":
                bracket = sign == "["
        raise _ScriptRefusedError(_UNCLEAR)

    def _command(self) -> None:
        command = self._take()
        if command == "s":
            self._substitution()
        elif command == "y":
            self._delimited(2)
        elif command in ("a", "i", "c", "#"):
            self._skip(_TEXT)
        elif command in _LABELS:
            self._skip(_LABEL)
        elif command not in _SIMPLE:
            raise _ScriptRefusedError(_DOES_MORE if command else _UNCLEAR)

    def _substitution(self) -> None:
        self._delimited(2)
        if _FLAGS.match(self._script, self._at) is None:
            raise _ScriptRefusedError(_DOES_MORE)
        self._skip(_FLAGS)
