"""What an audit event shows of values: no secrets, no control characters, and a limited size.

Masking finds what looks like a secret, by the name of a field or by the form of a text. It cannot
know every secret, so the kernel's events contain no arguments of calls and no texts of results.
"""

from __future__ import annotations

__all__ = ("MASK", "masked", "masked_text")

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, cast

from kinwire.support.sanitize import printable
from kinwire_protocols.base import JsonObject

MASK: Final = "[masked]"
"""What stands for a secret."""

_CUT = "[cut]"
_LONGEST = 1000  # characters of a text
_ALL_TEXTS = 8000  # characters of all texts of an object together
_MOST_VALUES = 200  # in an object, on all levels together
_DEEPEST = 6
_BIGGEST = 2**63

_NAMES = (
    r"pass(?:word|wd|phrase|code)?|pwd|secrets?|(?:[a-z]+_)?tokens?|api_?keys?|access_?keys?"
    r"|private_?keys?|signing_?keys?|encryption_?keys?|credentials?|auth|authorization|cookies?"
    r"|set_cookie|session_?ids?|otp|pin|bearer|jwt|signature|dsn|connection_?strings?"
)
_SECRET_NAME = re.compile(
    rf"(?:.*_)?(?:{_NAMES})(?:_(?:value|text|hash|header|string))?|(?:.*_)?secret_.*"
)
_COUNTED = re.compile(r"(?:.*_)?tokens")
_WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")

# Secrets that have a form of their own.
_FORMS = re.compile(
    r"""
      -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
    | \beyJ[\w-]{5,}\.[\w-]{4,}(?:\.[\w-]*)?                            # JSON Web Tokens
    | \b(?:sk|pk|rk|sess|whsec|shpat|shpss)[-_][\w-]{12,}
    | \b(?:gh[pousr]_|github_pat_|glpat-|gldt-|xox[abeoprs]-|npm_|pypi-|hf_|dop_v1_|SG\.)[\w.-]{12,}
    | \b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}
    | \bAIza[\w-]{30,}
    | \bya29\.[\w-]{10,}
    """,
    re.VERBOSE | re.DOTALL,
)
# Secrets that are recognized by what stands before them.
_SCHEME = re.compile(
    r"\b(?:(bearer)|(basic|digest|token)(?=\s+[\w.~+/-]*[\d=]))\s+[\w.~+/=-]{8,}", re.IGNORECASE
)
_HEADER = re.compile(
    r"\b((?:proxy-)?authorization|(?:set-)?cookie)(\s{0,3}[=:])[^\r\n]+", re.IGNORECASE
)
_USER = re.compile(r"\b([a-z][a-z0-9+.-]{0,30}://)[^\s/@]{1,500}@", re.IGNORECASE)
_NAMED = re.compile(
    rf"(?<![a-z0-9])((?:[a-z0-9]{{1,40}}[-_]){{0,4}}(?:{_NAMES.replace('_?', '[-_]?')})"
    rf"[\"']?\s{{0,3}}[=:]\s{{0,3}})(?!\s)(?:\"[^\"]*\"?|'[^']*'?|[^\s,;&\"']+)",
    re.IGNORECASE,
)
_OPTION = re.compile(
    rf"((?<!\S)--?(?:[a-z0-9]{{1,40}}-){{0,4}}(?:{_NAMES.replace('_?', '-?')}))\s+[^\s-]\S*",
    re.IGNORECASE,
)


class _Budget:
    def __init__(self) -> None:
        self.texts = _ALL_TEXTS
        self.values = _MOST_VALUES


def masked(value: JsonObject) -> JsonObject:
    """Return a copy of a JSON object that is safe to log: masked, on one line, and not too big."""
    return _object(value, _Budget(), 0)


def masked_text(text: str) -> str:
    """Return a text without what looks like a secret; control characters are escaped."""
    return _masked_text(text if len(text) <= _LONGEST else text[: _LONGEST + 1])


@lru_cache(maxsize=2048)
def _masked_text(text: str) -> str:  # of a limited size: it is kept
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}{_CUT}"
    text = _HEADER.sub(rf"\1\2 {MASK}", _FORMS.sub(MASK, text))
    text = _SCHEME.sub(rf"\1\2 {MASK}", text)
    text = _NAMED.sub(rf"\1{MASK}", _USER.sub(rf"\1{MASK}@", text))
    text = _OPTION.sub(rf"\1 {MASK}", text)
    return printable(text)


def _object(value: JsonObject, budget: _Budget, depth: int) -> JsonObject:
    found: JsonObject = {}
    for name, part in value.items():
        budget.values -= 1
        if budget.values < 0:
            found[_CUT] = True
            break
        shown = _text(name, budget)
        hidden = _is_secret_name(name[:_LONGEST]) and not _may_be_shown(name, part)
        found[shown] = MASK if hidden else _value(part, budget, depth + 1)
    return found


def _value(value: Any, budget: _Budget, depth: int) -> Any:
    if isinstance(value, str):
        return _text(value, budget)
    if isinstance(value, dict | list | tuple):
        return _container(cast("JsonObject | list[Any]", value), budget, depth)
    if isinstance(value, float):
        return value if abs(value) < float("inf") else str(value)
    if isinstance(value, int | None):
        return value if value is None or abs(value) < _BIGGEST else _CUT
    return _text(type(value).__name__, budget)


def _container(value: JsonObject | list[Any], budget: _Budget, depth: int) -> Any:
    if depth > _DEEPEST:
        return _CUT
    if isinstance(value, dict):
        return _object(value, budget, depth)
    return list(_items(value, budget, depth))


def _items(values: Iterable[Any], budget: _Budget, depth: int) -> Iterator[Any]:
    for value in values:
        budget.values -= 1
        if budget.values < 0:
            yield _CUT
            return
        yield _value(value, budget, depth + 1)


def _text(text: str, budget: _Budget) -> str:
    shown = masked_text(text)
    budget.texts -= len(shown)
    return shown if budget.texts >= 0 else _CUT


@lru_cache(maxsize=2048)
def _is_secret_name(name: str) -> bool:
    words = _WORD_BREAK.sub("_", name[:200]).strip("_").lower()
    return _SECRET_NAME.fullmatch(words) is not None


def _may_be_shown(name: str, value: object) -> bool:
    """Return whether a value whose field is named like a secret is not one: `max_tokens: 5`."""
    if value is None or isinstance(value, bool) or value == "":
        return True
    words = _WORD_BREAK.sub("_", name[:200]).strip("_").lower()
    return isinstance(value, int) and _COUNTED.fullmatch(words) is not None
