"""Characters that a person does not see, or sees as others, and a model reads."""

from __future__ import annotations

__all__ = ("hidden_in", "plain_text")

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_TAGS: Final = re.compile(r"[\U000e0000-\U000e007f\U000e0100-\U000e01ef]")
_TAG_LETTERS: Final = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
"""The letters that Unicode tags stand for."""
_DIRECTIONS: Final = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_INVISIBLE: Final = re.compile(
    r"[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200e\u200f\u2028\u2029"
    r"\u2060-\u2065\u206a-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\U0001d173-\U0001d17a"
    r"\ud800-\udfff]"
)
_JOINERS: Final = re.compile(r"(?<=[\x20-\x7e])[\u200c\u200d\ufe00-\ufe0e]|[\ufe00-\ufe0f]{2}")
"""Joiners and variants are part of emoji and of some scripts, and of no Latin text."""
_PRIVATE_USE: Final = re.compile(r"[\ue000-\uf8ff\U000f0000-\U0010fffd]")
_PADDING: Final = re.compile(r"(.)\1{199}|\s{200}", re.DOTALL)
_WORD: Final = re.compile(r"\w+")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]{120,}={0,2}")

_SIGNS: Final = (
    (_TAGS, "has hidden tag characters"),
    (_DIRECTIONS, "changes the direction of text"),
    (_CONTROLS, "has control characters"),
    (_INVISIBLE, "has invisible characters"),
    (_JOINERS, "has invisible characters"),
    (_PRIVATE_USE, "has characters without a meaning"),
    (_PADDING, "hides text behind padding"),
    (_BASE64, "has a long encoded text"),
)
_SIGNS_IN_ASCII: Final = [sign for sign in _SIGNS if sign[0] in (_CONTROLS, _PADDING, _BASE64)]

_LOOK_ALIKE: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405"
    "\u03bf\u03bd\u03b1\u03b9\u03c1\u03c5\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d"
    "\u039f\u03a1\u03a4\u03a5\u03a7\u0131\u0261\u1d04\u1d0f",
    "aeopcyxijshdqwABEKMHOPCTXIJSovaipuABEZHIKMNOPTYXigco",
)
_OTHER_SCRIPT: Final = re.compile(r"[\u0370-\u052f\u0531-\u0587\u13a0-\u13f5]")
_GREEK_IN_WORDS: Final = frozenset(
    "\u03b1\u03b2\u03b3\u03b4\u03b5\u03bb\u03bc\u03c0\u03c3\u03a9\u0394"
)
_LATIN: Final = re.compile(r"[A-Za-z]")


def plain_text(text: str) -> str:
    """Return a text as a model may read it: without hidden characters, in plain letters."""
    if text.isascii():
        return _CONTROLS.sub("", text)
    shown = text.translate(_TAG_LETTERS)
    for hidden in (_TAGS, _DIRECTIONS, _INVISIBLE, _JOINERS, _CONTROLS):
        shown = hidden.sub("", shown)
    return unicodedata.normalize("NFKC", shown).translate(_LOOK_ALIKE)


def hidden_in(text: str) -> Iterator[str]:
    """Yield what is hidden in a text, in plain words."""
    for pattern, reason in _SIGNS_IN_ASCII if text.isascii() else _SIGNS:
        if pattern.search(text):
            yield reason
    if not text.isascii() and any(map(_is_disguised, _WORD.findall(text))):
        yield "has letters that look like others"


def _is_disguised(word: str) -> bool:
    """Return whether a word mixes scripts that look alike, or is only seen as Latin letters."""
    if word.isascii():
        return False
    others = [one for one in word if _OTHER_SCRIPT.match(one)]
    if others and _LATIN.search(word) and not set(others) <= _GREEK_IN_WORDS:
        return True
    alike = word.translate(_LOOK_ALIKE)
    if others and alike.isascii() and len(word) > 2:
        return True
    plain = unicodedata.normalize("NFKC", word)
    return plain.isascii() and plain.isalpha() and len(plain) > 1 and len(plain) == len(word)
