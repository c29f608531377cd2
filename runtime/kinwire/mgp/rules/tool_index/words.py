"""Splits texts and identifiers into words, and words into stems (MGP 0.2.0 section 16.4).

`readFile`, `read_file`, `read-file` and `Read a file` have the words `read` and `file` in common.
A word of mixed parts counts as a whole too: `YouTube` is `youtube`, `you` and `tube`. Chinese,
Japanese and Korean have no spaces between words: there each two characters in a row count.
"""

from __future__ import annotations

__all__ = ("STOP_STEMS", "WORD_SIZE", "joined", "stem", "stems_of")

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from typing import Final
from unicodedata import normalize

WORD_SIZE: Final = 40
"""The longest word in characters; what follows in a longer one is not looked at."""

_TOKENS: Final = re.compile(r"[^\W_]+")
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_UNSPACED_LETTERS: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_UNSPACED: Final = re.compile(rf"[{_UNSPACED_LETTERS}]{{2,}}")
_OTHER_PARTS: Final = re.compile(rf"[{_UNSPACED_LETTERS}]+|\d+|[^\W\d_{_UNSPACED_LETTERS}]+")
_ACCENTS: Final = re.compile(r"[\u0300-\u036f]+")
_LATIN: Final = re.compile(r"[a-z]+")
_VOWEL: Final = re.compile(r"[aeiouy]")

_IRREGULAR: Final = {
    "news": "news",
    "used": "use",
    "uses": "use",
    "using": "use",
    "written": "writ",
}
_ENDINGS: Final = (
    # ending, what takes its place, how many letters have to stand before it
    ("ization", "iz", 3),
    ("isation", "iz", 3),
    ("ations", "", 4),
    ("ation", "", 4),
    ("ators", "", 4),
    ("ator", "", 4),
    ("ating", "", 4),
    ("ated", "", 4),
    ("ate", "", 4),
    ("ytics", "yz", 3),
    ("ytic", "yz", 3),
    ("ysis", "yz", 3),
    ("ing", "", 3),
    ("ion", "", 5),
    ("ment", "", 4),
    ("ance", "", 5),
    ("ence", "", 5),
    ("able", "", 4),
    ("ible", "", 4),
    ("ness", "", 4),
    ("ally", "al", 3),
    ("ity", "", 4),
    ("ive", "", 5),
    ("ed", "", 3),
    ("er", "", 4),
    ("or", "", 4),
    ("ly", "", 4),
    ("al", "", 6),
)
_STOP_WORDS: Final = """
a about all an and any are as at be been but by can could do does for from had has have he her him
his how i if in into is it its me must my need not of on or our please she should so some such than
that the their them then there these they this to us use want was we were what when where which who
will with would you your
"""


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem of a word in lower case: `converts` and `converting` are `convert`.

    Only words of the letters a to z have another stem than themselves.
    """
    if len(word) < 4 or not _LATIN.fullmatch(word):
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    short = _without_ending(_without_ending(_singular(word)))
    if len(short) > 4 and short[-1] == short[-2] and short[-1] not in "aeiou":
        short = short[:-1]
    if len(short) > 4 and short[-1] == "e":
        return short[:-1]
    return f"{short[:-1]}i" if short[-1] == "y" else short


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("ss", "us", "is")) or word[-1] != "s":
        return word
    doubled = word.endswith(("ches", "shes", "sses", "xes", "zes"))
    return word[:-2] if doubled else word[:-1]


def _without_ending(word: str) -> str:
    for ending, instead, before in _ENDINGS:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if len(rest) >= before and _VOWEL.search(rest):
                return rest + instead
    return word


def stems_of(text: str) -> list[str]:
    """Return the stems of all words of a text, in its order, with repetitions."""
    return list(chain.from_iterable(map(_stems_of_token, _TOKENS.findall(text))))


def joined(text: str) -> str:
    """Return the letters and digits of a text in lower case, so that spellings of a name agree."""
    return "".join(_TOKENS.findall(text)).casefold()


@lru_cache(maxsize=1 << 16)
def _stems_of_token(token: str) -> tuple[str, ...]:
    token = token[:WORD_SIZE]
    if not token.isascii():
        return tuple(chain.from_iterable(map(_grams, _OTHER_PARTS.findall(_plain(token)))))
    parts = _PARTS.findall(token)
    if len(parts) > 1:
        parts.append(token)
    return tuple(stem(part.lower()) for part in parts)


def _plain(token: str) -> str:
    """Return a word in lower case, in usual forms of its letters, without accents."""
    apart = normalize("NFKD", normalize("NFKC", token).casefold())
    return normalize("NFC", _ACCENTS.sub("", apart))


def _grams(part: str) -> Iterable[str]:
    """Return each two characters that follow each other, if words have no spaces between them."""
    if _UNSPACED.fullmatch(part):
        return [part[start : start + 2] for start in range(len(part) - 1)]
    return (stem(part),)


STOP_STEMS: Final = frozenset(map(stem, _STOP_WORDS.split()))
"""Stems of words that say little: they order what other words found."""
