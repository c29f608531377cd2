"""Match a URI with the steps of a template, in time that grows only with its length.

A URI comes from a client, which could keep a matcher with backtracking busy for ever. So the URI is
first read from its end, to find where each step may begin, and then from its start.
"""

from __future__ import annotations

__all__ = ("Literal", "Pairs", "Step", "Value", "Variables", "match")

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

Variables = dict[str, str | list[str]]
"""The values in a URI, by the names in the template."""

Places = bytearray
"""One byte for each position in the URI, 1 where a step may begin."""

_ENCODED = re.compile("%[0-9A-Fa-f]{2}")


class Literal(NamedTuple):
    """Fixed text, in one of its `forms`.

    If the URI does not have it, matching continues at step `otherwise`; with None it fails.
    """

    forms: tuple[str, ...]
    otherwise: int | None = None

    def before(self, uri: str, after: Places, otherwise: Places | None) -> Places:
        """Return where the text may begin if the next step may begin at `after`."""
        here = Places(len(uri) + 1) if otherwise is None else Places(otherwise)
        for form in self.forms:
            at = uri.find(form)
            while at >= 0:
                here[at] |= after[at + len(form)]
                at = uri.find(form, at + 1)
        return here

    def end(self, uri: str, at: int, after: Places) -> int | None:
        """Return where the text ends that begins at `at`, None if the URI has other text there."""
        ends = (at + len(form) for form in self.forms if uri.startswith(form, at))
        return next((end for end in ends if after[end]), None)


class Value(NamedTuple):
    """A variable whose value has no character of `excluded`; a list is split at `split`.

    An `introduced` variable has a separator before it, so its value may be empty.
    """

    name: str
    excluded: str
    split: str | None
    introduced: bool

    def before(self, uri: str, after: Places) -> Places:
        """Return where the value may begin if the next step may begin at `after`."""
        here = Places(len(uri) + 1)
        start = 0
        for stop in self._stops(uri, 0):
            last = after.rfind(1, start, stop + 1)
            if last >= 0:
                here[start : last + 1] = b"\1" * (last + 1 - start)
            start = stop + 1
        return here

    def end(self, uri: str, at: int, after: Places) -> int:
        """Return where the longest value ends that begins at `at`."""
        return after.rfind(1, at, next(self._stops(uri, at)) + 1)

    def read(self, text: str) -> Variables:
        """Return the variable with `text`, its value in the URI, not decoded yet."""
        if not text and not self.introduced:
            return {}
        return {self.name: text if self.split is None else text.split(self.split)}

    def _stops(self, uri: str, start: int) -> Iterator[int]:
        for found in _stop(self.excluded).finditer(uri, start):
            yield found.start()
        yield len(uri)


@cache
def _stop(excluded: str) -> re.Pattern[str]:
    # A percent sign without two hexadecimal digits ends a value, too.
    return re.compile(
        f"%(?![0-9A-Fa-f]{{2}})|[{re.escape(excluded)}]" if excluded else "%(?![0-9A-Fa-f]{2})"
    )


class Pairs(NamedTuple):
    """Variables by name, `?x=1&y=2`, in any order; `names` maps them to whether they are lists."""

    first: str
    separator: str
    excluded: str
    names: Mapping[str, bool]

    def before(self, uri: str, after: Places) -> Places:
        """Return where the pairs may begin if the next step may begin at `after`."""
        here = Places(after)
        ends: dict[int, int] = {}  # by the place of a separator
        for at in reversed(range(len(uri))):
            if uri[at] in (self.first, self.separator):
                name, _, end = self._pair(uri, at)
                known = name in self.names
                if uri[at] == self.first:
                    here[at] = after[ends.get(end, end) if known else at]
                if uri[at] == self.separator:
                    ends[at] = ends.get(end, end) if known else at
        return here

    def read(self, uri: str, at: int) -> tuple[int, Variables | None]:
        """Return where the pairs end that begin at `at`, and their values.

        The values are None if a variable that is not a list occurs twice.
        """
        found: Variables = {}
        sign = self.first
        while at < len(uri) and uri[at] == sign:
            name, value, end = self._pair(uri, at)
            if name not in self.names:
                break
            known = found.get(name)
            if isinstance(known, list):
                known.append(value)
            elif known is None:
                found[name] = [value] if self.names[name] else value
            else:
                return end, None
            at, sign = end, self.separator
        return at, found

    def _pair(self, uri: str, at: int) -> tuple[str, str, int]:
        stop = _stop(self.excluded).search(uri, at + 1)
        end = len(uri) if stop is None else stop.start()
        name, _, value = uri[at + 1 : end].partition("=")
        return name, value, end


Step = Literal | Value | Pairs


def match(steps: Sequence[Step], uri: str) -> Variables | None:
    """Return the variables in `uri`, None if the steps do not match all of it."""
    places = _places(steps, uri)
    if not places[0][0]:
        return None
    found: Variables = {}
    number = at = 0
    while number < len(steps):
        step, after = steps[number], places[number + 1]
        read: Variables | None = {}
        if isinstance(step, Literal):
            end = step.end(uri, at, after)
            if end is None:
                assert step.otherwise is not None
                number = step.otherwise
                continue
        elif isinstance(step, Value):
            end = step.end(uri, at, after)
            read = step.read(uri[at:end])
        else:
            end, read = step.read(uri, at)
        if read is None or not _add(found, read):
            return None
        number, at = number + 1, end
    return found


def _places(steps: Sequence[Step], uri: str) -> list[Places]:
    """Return for each step where it may begin so that the rest of the steps match."""
    inside = [at for found in _ENCODED.finditer(uri) for at in (found.start() + 1, found.end() - 1)]
    places = [Places(len(uri)) + b"\1"]
    for step in reversed(steps):
        after = places[-1]
        if isinstance(step, Literal):
            otherwise = None if step.otherwise is None else places[len(steps) - step.otherwise]
            here = step.before(uri, after, otherwise)
        else:
            here = step.before(uri, after)
        for at in inside:  # a step never begins inside an encoded byte
            here[at] = 0
        places.append(here)
    places.reverse()
    return places


def _add(found: Variables, read: Variables) -> bool:
    """Decode `read` into `found`; return False if it is invalid or contradicts `found`."""
    try:
        for name, text in read.items():
            value = _decoded(text) if isinstance(text, str) else [_decoded(part) for part in text]
            if found.setdefault(name, value) != value:
                return False
    except UnicodeError:
        return False
    return True


def _decoded(text: str) -> str:
    return unquote_to_bytes(text).decode()
