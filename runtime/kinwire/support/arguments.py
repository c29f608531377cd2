"""Checks of the arguments that a program passes: a wrong one is answered with the right call.

Each public function has one `ArgumentCheck`, which names what its parameters take. It runs before
anything is done.
"""

from __future__ import annotations

__all__ = (
    "COUNT",
    "FLAG",
    "FUNCTION",
    "LIFE",
    "NUMBER",
    "OBJECT",
    "PATH",
    "PLAIN_FUNCTION",
    "PORT",
    "RATE",
    "SECONDS",
    "SECONDS_OR_ZERO",
    "SECRET",
    "TEXT",
    "TEXTS",
    "TIME",
    "ArgumentCheck",
    "ValueKind",
    "WrongValue",
    "count_from",
    "having",
    "instance_of",
    "is_pair",
    "list_of",
    "one_of",
    "shown_argument",
    "table_of",
)

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import copy
from math import inf, isfinite
from typing import NamedTuple, cast

from kinwire.support.functions import is_async
from kinwire.support.validation import LONGEST, MOST, is_count, is_number, shown_number

_SHOWN = 60  # characters of a string
_LAST_PORT = 65535


class WrongValue(NamedTuple):
    """Why a value is refused."""

    problem: str
    """Place, what was expected, and what was passed."""
    example: str
    """What to write instead."""
    error: type[Exception]
    call: str | None = None
    """The whole call, where it differs from the usual one."""


class ValueKind:
    """What a parameter takes: in words, with an example, and a test.

    With `secret` a wrong value is not shown.
    """

    def __init__(
        self,
        words: str,
        example: str,
        fits: Callable[[object], bool],
        *,
        error: type[Exception] = TypeError,
        secret: bool = False,
    ) -> None:
        self.words = words
        self.example = example
        self.fits = fits
        self.error = error
        self.secret = secret

    def wrong(self, place: str, value: object) -> WrongValue | None:
        """Return why `value`, passed at `place`, is refused; None if it fits."""
        return None if self.fits(value) else self.refusal(place, value)

    def refusal(self, place: str, value: object) -> WrongValue:
        """Return the refusal of a value that does not fit."""
        got = shown_argument(value, secret=self.secret)
        return WrongValue(f"{place}: expected {self.words}, got {got}", self.example, self.error)

    @property
    def or_none(self) -> ValueKind:
        """The same, or None."""
        return _OrNone(self)

    @property
    def or_text(self) -> ValueKind:
        """The same, or a string."""
        return _TextOr(self)


class _OrNone(ValueKind):
    def __init__(self, kind: ValueKind) -> None:
        super().__init__(f"{kind.words} or None", kind.example, kind.fits, error=kind.error)
        self._kind = kind

    def wrong(self, place: str, value: object) -> WrongValue | None:
        if value is None or (wrong := self._kind.wrong(place, value)) is None:
            return None
        expected = f": expected {self._kind.words}, "
        return wrong._replace(
            problem=wrong.problem.replace(expected, f": expected {self.words}, ", 1)
        )


class _TextOr(ValueKind):
    """A string, or several of one kind."""

    def __init__(self, several: ValueKind) -> None:
        words = f"a string or {several.words}"
        super().__init__(
            words, '"..."', lambda value: isinstance(value, str) or several.fits(value)
        )
        self._several = several

    def wrong(self, place: str, value: object) -> WrongValue | None:
        if isinstance(value, str):
            return None
        return self._several.wrong(place, value) if self.fits(value) else self.refusal(place, value)


class _ListKind(ValueKind):
    """Several of one kind. What can be read only once is not looked through."""

    def __init__(self, item: ValueKind, words: str) -> None:
        super().__init__(words, f"[{item.example}]", _is_several)
        self._item = item

    def wrong(self, place: str, value: object) -> WrongValue | None:
        if isinstance(value, str):
            problem = f"{place}: expected {self.words}, got one"
            return WrongValue(problem, f"[{value!r:.{_SHOWN}}]", self.error)
        if not self.fits(value):
            return self.refusal(place, value)
        if isinstance(value, Iterator):
            return None
        for index, one in enumerate(cast("Iterable[object]", value)):
            wrong = self._item.wrong(f"{place}[{index}]", one)
            if wrong is not None:
                return wrong._replace(example=f"[{wrong.example}]")
        return None


class _TableKind(ValueKind):
    """A mapping from strings to values of one kind."""

    def __init__(self, words: str, key: str, item: ValueKind) -> None:
        example = f"{{{key}: {item.example}}}"
        super().__init__(words, example, lambda value: isinstance(value, Mapping))
        self.secret = item.secret
        self._item = item

    def wrong(self, place: str, value: object) -> WrongValue | None:
        if not self.fits(value):
            return self.refusal(place, value)
        for name, one in cast("Mapping[object, object]", value).items():
            if not isinstance(name, str):
                problem = f"{place}: expected strings as keys, got {shown_argument(name)}"
                return WrongValue(problem, self.example, self.error)
            wrong = self._item.wrong(f"{place}[{name!r:.{_SHOWN}}]", one)
            if wrong is not None:
                return wrong._replace(example=self.example)
        return None


class ArgumentCheck:
    """What the parameters of one function take, and how it is called."""

    def __init__(
        self,
        name: str,
        call: str,
        kinds: Mapping[str, ValueKind],
        error: type[Exception] | None = None,
        /,
        **options: ValueKind,
    ) -> None:
        """Describe the function `name`, which is called as `call`: with values for `kinds`.

        `options` are the parameters that the call does not show. `error` is raised instead of
        TypeError and ValueError.
        """
        self._prefix = f"{name}." if name[:1].isupper() and "." not in name else f"{name}: "
        self._call = call
        self._shown = frozenset(kinds)
        self._kinds = {**kinds, **options}
        self._error = error

    def check(self, **given: object) -> None:
        """Raise if a value does not fit its parameter.

        Raises:
            TypeError: a value is not of the type.
            ValueError: a number or a name is not one that can be used.
        """
        for name, value in given.items():
            wrong = self._kinds[name].wrong(name, value)
            if wrong is not None:
                raise self.error(name, wrong)

    def showing(self, shown: str, instead: str) -> ArgumentCheck:
        """Return the same check, with a call in which `instead` is written for `shown`."""
        other = copy(self)
        other._call = self._call.replace(shown, instead)
        return other

    def error(self, name: str, wrong: WrongValue) -> Exception:
        """Return the error for the value of the parameter `name`."""
        call = wrong.call
        if call is None:
            call = self._call if name in self._shown else self.call_with(name, wrong.example)
        return (self._error or wrong.error)(f"{self._prefix}{wrong.problem}. Write {call}")

    def call_with(self, name: str, value: str) -> str:
        """Return the call with this argument, which takes the place of a value it has."""
        instead, count = re.subn(
            rf"(?<=[(, ]){name}=[^,()]*(?=[,)])", lambda _: f"{name}={value}", self._call
        )
        if count:
            return instead
        before, _, after = self._call.rpartition(")")
        comma = "" if before.endswith("(") else ", "
        return f"{before}{comma}{name}={value}){after}"


def instance_of(kind: type | tuple[type, ...], words: str, example: str) -> ValueKind:
    """Return the kind of the instances of a class, or of several."""
    return ValueKind(words, example, lambda value: isinstance(value, kind))


def having(names: Collection[str], words: str, example: str) -> ValueKind:
    """Return the kind of the objects, not classes, that have the attributes in `names`."""
    return ValueKind(
        words,
        example,
        lambda value: not isinstance(value, type) and all(hasattr(value, one) for one in names),
    )


def one_of(*names: str) -> ValueKind:
    """Return the kind of the strings in `names`."""
    *first, last = map(repr, names)
    words = f"{', '.join(first)} or {last}"
    return ValueKind(
        words,
        f'"{names[0]}"',
        lambda value: isinstance(value, str) and value in names,
        error=ValueError,
    )


def count_from(least: int) -> ValueKind:
    """Return the kind of the whole numbers from `least`."""
    words = f"a whole number from {least} to {MOST}"
    return ValueKind(
        words, str(max(least, 10)), lambda value: is_count(value, least), error=ValueError
    )


def list_of(item: ValueKind, words: str) -> ValueKind:
    """Return the kind of the lists, and other iterables, of `item`."""
    return _ListKind(item, words)


def table_of(item: ValueKind, words: str, key: str = '"name"') -> ValueKind:
    """Return the kind of the dictionaries from strings, such as `key`, to `item`."""
    return _TableKind(words, key, item)


def shown_argument(value: object, *, secret: bool = False) -> str:
    """Return `value` as an error shows it; of a secret its type."""
    if isinstance(value, str):
        return "a string" if secret else f"{value!r:.{_SHOWN}}"
    if secret and is_number(value):
        return "a number"
    if value is None or isinstance(value, bool):
        return str(value)
    if is_number(value):
        return shown_number(value)
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    if callable(value) and hasattr(value, "__qualname__"):
        return f"the function {value.__qualname__}"
    if isinstance(value, dict):
        return "a dictionary"
    kind = type(value)
    article = "an" if kind.__name__[:1].lower() in "aeiou" else "a"
    return f"{article} {kind.__name__}"


def is_pair(value: object) -> bool:
    """Return whether `value` is a tuple of two."""
    return isinstance(value, tuple) and len(cast("tuple[object, ...]", value)) == 2


def _is_path(value: object) -> bool:
    return isinstance(value, str) or (hasattr(value, "__fspath__") and not isinstance(value, type))


def _is_several(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, bytes | bytearray | Mapping)


def _is_plain_function(value: object) -> bool:
    return callable(value) and not isinstance(value, type) and not is_async(value)


def _is_seconds(value: object, *, zero: bool = False) -> bool:
    return is_number(value) and (value > 0 or (zero and value == 0)) and value <= LONGEST


def _is_life(value: object) -> bool:
    return is_number(value) and (0 <= value <= LONGEST or value == inf)


TEXT = ValueKind("a string", '"..."', lambda value: isinstance(value, str))
SECRET = ValueKind("a string", '"..."', lambda value: isinstance(value, str), secret=True)
TEXTS = list_of(TEXT, "several strings")
FLAG = ValueKind("True or False", "True", lambda value: isinstance(value, bool))
PATH = ValueKind("a path", '"..."', _is_path)
FUNCTION = ValueKind("a function", "function", callable)
PLAIN_FUNCTION = ValueKind("a plain function", "function", _is_plain_function)
OBJECT = table_of(ValueKind("", "...", lambda value: True), "a dictionary")
"""A JSON object."""
NUMBER = ValueKind(
    "a number", "0.5", lambda value: is_number(value) and isfinite(value), error=ValueError
)
COUNT = count_from(0)
PORT = ValueKind(
    "a port from 0 to 65535",
    "8000",
    lambda value: is_count(value, 0) and cast(int, value) <= _LAST_PORT,
    error=ValueError,
)
RATE = ValueKind(
    f"a number above 0 to {MOST}",
    "100.0",
    lambda value: is_number(value) and 0 < value <= MOST,
    error=ValueError,
)
SECONDS = ValueKind(f"seconds above 0 to {LONGEST}", "30.0", _is_seconds, error=ValueError)
SECONDS_OR_ZERO = ValueKind(
    f"seconds from 0 to {LONGEST}",
    "30.0",
    lambda value: _is_seconds(value, zero=True),
    error=ValueError,
)
TIME = ValueKind("seconds", "30.0", lambda value: is_number(value) and value >= 0, error=ValueError)
LIFE = ValueKind(f"seconds from 0 to {LONGEST}, or math.inf", "3600.0", _is_life, error=ValueError)
"""How long something is kept: 0 means never, infinity forever."""
