"""Patterns of scopes and channels, matched in linear time (MCPL 7.2, 14.5).

`*` matches text and `?` a character, both without slashes; `**` as a whole part between slashes
matches any parts; `[a-c]` and `[!a-c]` match a character, and `\\` escapes the next one. Upper and
lower case differ, and a dot is an ordinary character.

Matching follows all ways through the pattern in parallel, one bit each, so no label makes it slow.
"""

from __future__ import annotations

__all__ = ("PATTERN_SIZE", "Pattern")

from collections.abc import Callable

PATTERN_SIZE = 512
"""The longest pattern, in characters."""

_Test = Callable[[str], bool]


class Pattern:
    """A pattern, compiled."""

    def __init__(self, text: str) -> None:
        """Compile `text`.

        Raises:
            ValueError: it is empty or too long.
        """
        if not 0 < len(text) <= PATTERN_SIZE:
            raise ValueError(
                f"pattern {text!r:.60}: expected 1 to {PATTERN_SIZE} characters, got {len(text)}. "
                "Use several patterns."
            )
        self.text = text
        self._literals: dict[str, int] = {}
        self._known: dict[str, int] = {}  # which places accept a sign: of those in ASCII
        self._tests: list[tuple[int, _Test]] = []
        self._stars = 0  # stay on any character but a slash, and may match nothing
        self._starts = 0  # of `**/`: at the beginning of a part, may match nothing
        self._insides = 0  # of `**/`: within a part; the bit after that of the start
        self._rest = 0  # of a last `**`: stays on anything
        self._end = 1
        parts = text.split("/")
        for index, part in enumerate(parts):
            self._add_part(part, last=index == len(parts) - 1)

    def matches(self, label: str) -> bool:
        """Return whether the pattern stands for the whole of `label`."""
        return self._run(label, below=False)

    def covers(self, label: str) -> bool:
        """Return whether it stands for `label`, or for what `label` lies below."""
        return self._run(label, below=True)

    def _run(self, label: str, *, below: bool) -> bool:
        accepting: dict[str, int] = {}
        active = self._settled(1)
        for sign in label:
            slash = sign == "/"
            if below and slash and active & self._end:
                return True
            accepted = accepting.get(sign)
            if accepted is None:
                accepted = accepting[sign] = self._accepted(sign)
            active = (active & accepted) << 1 | self._staying(active, slash=slash)
            if not active:
                return False
            active = self._settled(active)
        return bool(active & self._end)

    def _staying(self, active: int, *, slash: bool) -> int:
        starts, insides = active & self._starts, active & self._insides
        if slash:
            return active & self._rest | starts | insides >> 1
        return active & (self._rest | self._stars) | starts << 1 | insides

    def _settled(self, active: int) -> int:
        active |= (active & self._starts) << 2
        return active | (active & self._stars) << 1

    def _accepted(self, sign: str) -> int:
        known = self._known.get(sign)
        if known is not None:
            return known
        accepted = self._literals.get(sign, 0)
        for bit, test in self._tests:
            if test(sign):
                accepted |= bit
        if sign.isascii():
            self._known[sign] = accepted
        return accepted

    def _add_part(self, part: str, *, last: bool) -> None:
        if part == "**" and last:
            self._rest |= self._end
            return
        if part == "**":
            if not self._end >> 2 & self._starts:  # `**/**/` is `**/`
                self._starts |= self._end
                self._insides |= self._end << 1
                self._end <<= 2
            return
        if part and not part.strip("*"):  # alone between slashes it does not stand for nothing
            self._add_test(_is_no_slash)
        at = 0
        while at < len(part):
            at = self._add_sign(part, at)
        if not last:
            self._add_literal("/")

    def _add_sign(self, part: str, at: int) -> int:
        """Add what stands at a place, and return the place behind it."""
        sign, following = part[at], at + 1
        if sign == "*":
            if not self._end >> 1 & self._stars:  # several stars are one
                self._stars |= self._end
                self._end <<= 1
        elif sign == "?":
            self._add_test(_is_no_slash)
        elif sign == "[" and (closing := _closing(part, at)) > 0:
            self._add_test(_class_test(part[at + 1 : closing]))
            following = closing + 1
        elif sign == "\\" and following < len(part):
            self._add_literal(part[following])
            following += 1
        else:
            self._add_literal(sign)
        return following

    def _add_literal(self, sign: str) -> None:
        self._literals[sign] = self._literals.get(sign, 0) | self._end
        self._end <<= 1

    def _add_test(self, test: _Test) -> None:
        self._tests.append((self._end, test))
        self._end <<= 1


def _closing(part: str, at: int) -> int:
    """Return where the class ends that begins at a place; -1 if it does not."""
    first = at + 2 if part.startswith("!", at + 1) else at + 1
    return part.find("]", first + 1)  # the first sign of a class may be a bracket itself


def _is_no_slash(sign: str) -> bool:
    return sign != "/"


def _class_test(inside: str) -> _Test:
    negated = inside.startswith("!")
    signs = inside[1:] if negated else inside
    ranges: list[tuple[str, str]] = []
    at = 0
    while at < len(signs):
        if signs[at + 1 : at + 2] == "-" and at + 2 < len(signs):
            ranges.append((signs[at], signs[at + 2]))
            at += 3
        else:
            ranges.append((signs[at], signs[at]))
            at += 1

    def test(sign: str) -> bool:
        return sign != "/" and any(low <= sign <= high for low, high in ranges) != negated

    return test
