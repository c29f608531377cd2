"""Read a command line as a POSIX shell would, and name everything in it that is not a plain word.

The lexer is strict: what shells, or a shell and a program, could read in different ways is a
problem. Time and memory are linear in the length of the line.
"""

from __future__ import annotations

__all__ = ("LONGEST_COMMAND", "UNCLOSED", "VARIABLE", "CommandLine", "Word", "read_line")

import re
import unicodedata
from typing import Final, NamedTuple

LONGEST_COMMAND: Final = 4096
"""The longest command line in bytes of UTF-8; longer ones are refused."""

UNCLOSED: Final = "a quote is not closed"
"""The problem of a line that shells refuse as a whole."""

VARIABLE: Final = "it has a variable that begins with `$`"
"""The problem of a line whose words are not all known."""

_OPERATORS: Final = ";&|()<>"
_PATTERNS: Final = "*?["
_SEQUENCE: Final = re.compile(r"\{[^{}]*\.\.[^{}]*\}")
_LEADING: Final = frozenset("-+@/~.")
_PARAMETER: Final = re.compile(r"[\w@*#?$!-]", re.ASCII)
_BIDI: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
_JOINERS: Final = frozenset("\u200c\u200d")
_DASHES: Final = frozenset("\u2212\ufe63\uff0d\u058a")


class Word(NamedTuple):
    """One word, as the program gets it."""

    text: str
    bare: str
    """Its characters outside quotes and without escapes; others are dropped."""
    quoted: bool
    """Whether a part of it is in quotes or escaped."""
    begins_bare: bool
    """Whether its first character is outside quotes."""

    @property
    def is_spelled_out(self) -> bool:
        """Whether it is either wholly in quotes or wholly outside."""
        return not self.quoted or not self.bare

    @property
    def is_pattern(self) -> bool:
        """Whether a shell replaces it by names of files."""
        return any(sign in _PATTERNS for sign in self.bare)

    @property
    def may_become_option(self) -> bool:
        """Whether the shell may replace it by a name that begins with a dash."""
        return self.begins_bare and self.text[:1] in _PATTERNS


class CommandLine(NamedTuple):
    """What was read."""

    commands: tuple[tuple[Word, ...], ...]
    """The simple commands, in order."""
    operators: tuple[str, ...]
    """What stands outside quotes between words, one character each."""
    problems: tuple[str, ...]
    """Why the line has no single meaning, or does more than to run programs with these words."""


def read_line(text: str) -> CommandLine:
    """Read one command line.

    Characters that look like others (NFKC) are problems where they would change what is read.
    """
    if len(text) > LONGEST_COMMAND or len(text.encode("utf-8", "replace")) > LONGEST_COMMAND:
        return CommandLine((), (), (f"a command has at most {LONGEST_COMMAND} bytes",))
    found = _LineReader(text).read()
    normal = unicodedata.normalize("NFKC", text)
    if normal == text or found.problems:
        return found
    other = _LineReader(normal).read()
    if other.problems or _shape(found) != _shape(other):
        changed = "it has characters that other programs read as different ones (NFKC)"
        return found._replace(problems=(changed,))
    return other


def _shape(line: CommandLine) -> object:
    """Return what must stay the same when the characters are normalised."""
    words = [[(word.bare, _leading(word)) for word in command] for command in line.commands]
    return words, line.operators


def _leading(word: Word) -> str:
    return word.text[:1] if word.text[:1] in _LEADING else ""


class _LineReader:
    """The state of one reading."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._commands: list[list[Word]] = [[]]
        self._operators: list[str] = []
        self._problems: dict[str, None] = {}
        self._start()

    def _start(self) -> None:
        self._parts: list[str] = []
        self._bare: list[str] = []
        self._quoted = False
        self._begins_bare = False

    def read(self) -> CommandLine:
        while self._at < len(self._text):
            self._step(self._text[self._at])
        self._end_word()
        commands = tuple(tuple(words) for words in self._commands if words)
        return CommandLine(commands, tuple(self._operators), tuple(self._problems))

    def _step(self, sign: str) -> None:
        """Read one character outside quotes, or a quoted part."""
        self._at += 1
        if sign == "'":
            self._single()
        elif sign == '"':
            self._double()
        elif sign == "\\":
            self._escape()
        elif sign == " ":
            self._end_word()
        elif sign in _OPERATORS:
            self._operator(sign)
        else:
            self._plain(sign)

    def _plain(self, sign: str) -> None:
        if sign == "$":
            self._dollar("\"'")
        elif sign == "`":
            self._problem("it has a command substitution")
        elif sign == "#" and not self._parts and not self._quoted:
            self._problem("it has a comment, which hides the rest of the line from some programs")
        elif not sign.isprintable():
            self._problem("it has a line end, tab, control or invisible character outside quotes")
        if not self._parts and not self._quoted:
            self._begins_bare = True
        self._parts.append(sign)
        self._bare.append(sign)

    def _single(self) -> None:
        end = self._text.find("'", self._at)
        if end < 0:
            self._problem(UNCLOSED)
            end = len(self._text)
        self._quote(self._text[self._at : end])
        self._at = end + 1

    def _double(self) -> None:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] != '"':
            self._at += 1
            self._inside(self._text[self._at - 1])
        if self._at >= len(self._text):
            self._problem(UNCLOSED)
        self._quote(_unescaped(self._text[start : self._at]))
        self._at += 1

    def _inside(self, sign: str) -> None:
        """Look at one character between double quotes."""
        if sign == "\\":
            self._at += 1
        elif sign == "$":
            self._dollar("")
        elif sign == "`":
            self._problem("it has a command substitution")

    def _dollar(self, quotes: str) -> None:
        after = self._text[self._at : self._at + 1]
        if after and (after in quotes or after in "({["):
            self._problem("it has an expansion that begins with `$`")
        elif _PARAMETER.match(after):
            self._problem(VARIABLE)

    def _quote(self, inner: str) -> None:
        self._quoted = True
        if any(_is_hidden(sign) for sign in inner):
            self._problem("it has a control or invisible character between quotes")
        self._parts.append(inner)

    def _escape(self) -> None:
        sign = self._text[self._at : self._at + 1]
        self._at += 1
        if not sign.isprintable() or not sign:
            self._problem("it has a backslash before a line end, a control character or nothing")
        self._quoted = True
        self._parts.append(sign)

    def _operator(self, sign: str) -> None:
        self._end_word()
        self._operators.append(sign)
        self._commands.append([])

    def _end_word(self) -> None:
        if not self._parts and not self._quoted:
            return
        word = Word("".join(self._parts), "".join(self._bare), self._quoted, self._begins_bare)
        if _has_braces(word.bare):
            self._problem("it has a brace expansion")
        if word.text[:1] in _DASHES or _is_dash(word.text[:1]):
            self._problem("a word begins with a dash that is not the one of ASCII")
        self._commands[-1].append(word)
        self._start()

    def _problem(self, problem: str) -> None:
        self._problems[problem] = None


def _has_braces(bare: str) -> bool:
    _, opened, rest = bare.partition("{")
    return bool(opened) and ("," in rest or _SEQUENCE.search(opened + rest) is not None)


def _is_dash(sign: str) -> bool:
    return bool(sign) and not sign.isascii() and unicodedata.category(sign) == "Pd"


def _is_hidden(sign: str) -> bool:
    if sign.isprintable() or sign in "\n\t" or sign in _JOINERS:
        return False
    return sign in _BIDI or unicodedata.category(sign) != "Zs"


_ESCAPED: Final = re.compile(r'\\([$`"\\\n])')


def _unescaped(inner: str) -> str:
    return _ESCAPED.sub(lambda found: "" if found[1] == "\n" else found[1], inner)
