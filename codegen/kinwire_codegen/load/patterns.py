"""Patterns of JSON Schema in the dialect of the engine that the bindings use.

JSON Schema means ECMA-262: `\\d` are ten digits, `$` is the very end. The engine is that of
pydantic, which takes linear time and knows neither look-around nor references back.
"""

from __future__ import annotations

__all__ = ("PatternError", "exact_end", "translated")

import re
from collections.abc import Iterator
from functools import lru_cache

_SPACE = (
    r"\t\n\x0B\x0C\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}"
    r"\x{3000}\x{FEFF}"
)
_SETS = {"d": "0-9", "w": "0-9A-Za-z_", "s": _SPACE}
_NO_SPACE = (
    r"\x00-\x08\x0E-\x1F!-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}"
    r"\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF}"
)
_OTHERS = {
    "D": r"\x00-/:-\x{10FFFF}",
    "W": r"\x00-/:-@\[-\^`{-\x{10FFFF}",
    "S": _NO_SPACE,
}
_SAME = {"t": r"\t", "n": r"\n", "r": r"\r", "v": r"\x0B", "f": r"\x0C"}
_PUNCTUATION = frozenset("^$\\.*+?()[]{}|/-")  # what ECMA-262 lets an escape stand before
_MEANT = frozenset(r"\.+*?()|[]{}^$#&-~")  # what means more than itself, here or inside a class
_TOKEN = re.compile(
    r"\\(?:u\{(?P<code>[0-9A-Fa-f]{1,6})\}|u(?P<unit>[0-9A-Fa-f]{4})|x(?P<byte>[0-9A-Fa-f]{2})"
    r"|(?P<property>[pP]\{[\w=]+\})|(?P<sign>.))"
    r"|\[\^?|\(\??|(?P<times>\{\d+(?:,\d*)?\}|[*+?])(?P<lazy>\??)|.",
    re.S,
)
_GROUP = re.compile(r":|<[A-Za-z_]\w*>", re.A)


_DOLLAR = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\$", re.S)


class PatternError(ValueError):
    """A pattern that cannot be kept. Its text says why."""


@lru_cache(maxsize=1024)
def exact_end(pattern: str) -> str:
    """Return `pattern`, of JSON Schema, for `re`, whose `$` also stands before a last line end."""
    return _DOLLAR.sub(lambda found: r"\Z" if found[0] == "$" else found[0], pattern)


@lru_cache(maxsize=1024)
def translated(pattern: str) -> str:
    """Return `pattern`, of JSON Schema, as the bindings' engine reads it.

    Raises:
        PatternError: the engine cannot say it, or it is not a pattern of JSON Schema.
    """
    from pydantic_core import SchemaError, SchemaValidator, core_schema

    made = "".join(_pieces(pattern))
    try:
        SchemaValidator(core_schema.str_schema(pattern=made))
    except SchemaError as error:
        raise PatternError(_reason(str(error))) from None
    return made


def _reason(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("error:")), lines[-1])


def _pieces(pattern: str) -> Iterator[str]:
    at = 0
    repeatable = False
    while at < len(pattern):
        found = _token(pattern, at)
        at, text = found.end(), found[0]
        if text in ("[", "[^"):
            piece, at = _class(pattern, at, text)
            yield piece
        elif text == "(?":
            group = _GROUP.match(pattern, at)
            if group is None:
                raise PatternError("error: look-around and flags are not supported")
            at = group.end()
            yield "(?" + ("P" if group[0] != ":" else "") + group[0]
        elif found["times"]:
            if not repeatable:
                raise PatternError(f"error: nothing to repeat before {found['times']!r}")
            yield text
        elif text in "{}]":
            raise PatternError(f"error: a literal {text!r} needs a backslash")
        else:
            yield _single(found)
        repeatable = text not in ("(", "(?", "|", "^", "$", r"\b", r"\B") and not found["times"]


def _token(pattern: str, at: int) -> re.Match[str]:
    found = _TOKEN.match(pattern, at)
    if found is None or found[0] == "\\":
        raise PatternError("error: it ends with a backslash")
    return found


def _single(found: re.Match[str]) -> str:
    text, sign = found[0], found["sign"]
    if text == ".":
        return r"[^\n\r\x{2028}\x{2029}]"
    if sign in ("b", "B"):
        return rf"(?-u:\{sign})"
    if sign in _SETS:
        return f"[{_SETS[sign]}]"
    if sign in _OTHERS:
        return f"[{_OTHERS[sign]}]"
    return text if text in ("^", "$", "|", "(", ")") else _code(found)


def _code(found: re.Match[str]) -> str:
    """Return one sign, also inside a class; `\\p{...}` stays."""
    if found["property"]:
        return found[0]
    number = found["code"] or found["unit"] or found["byte"]
    if number:
        return _exactly(int(number, 16))
    sign = found["sign"]
    if sign is None:
        return _exactly(ord(found[0]))
    if sign in _SAME:
        return _SAME[sign]
    if sign == "0":
        return r"\x00"
    if sign in _PUNCTUATION:
        return _exactly(ord(sign))
    raise PatternError(f"error: the escape \\{sign} is not one of JSON Schema")


def _exactly(code: int) -> str:
    if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF:
        raise PatternError(f"error: {code:#x} is not a character")
    if not 32 <= code < 127:
        return rf"\x{{{code:X}}}"
    sign = chr(code)
    return f"\\{sign}" if sign in _MEANT else sign


def _class(pattern: str, at: int, opening: str) -> tuple[str, int]:
    """Return a class of signs from behind its opening, and where it ends."""
    made: list[str] = []
    while at < len(pattern) and pattern[at] != "]":
        found = _token(pattern, at) if pattern[at] == "\\" else None
        if found is None:
            dash = pattern[at] == "-" and made and pattern[at + 1 : at + 2] not in ("]", "")
            made.append("-" if dash else _exactly(ord(pattern[at])))
            at += 1
            continue
        made.append(_in_class(found))
        at = found.end()
    if at >= len(pattern) or not made:
        raise PatternError("error: a class without signs, or without an end")
    return f"{opening}{''.join(made)}]", at + 1


def _in_class(found: re.Match[str]) -> str:
    sign = found["sign"]
    if sign == "b":
        return r"\x08"
    if sign in _SETS:
        return _SETS[sign]
    return _OTHERS[sign] if sign in _OTHERS else _code(found)
