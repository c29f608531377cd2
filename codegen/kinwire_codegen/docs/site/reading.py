"""A page of HTML as the check reads it: ids, links, and problems of its markup.

The pages of a large site have millions of tags. A pattern finds them ten times as fast as the
parser of the standard library, which is written in Python.
"""

from __future__ import annotations

__all__ = ("PageLink", "Reading", "read_html")

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from sys import intern
from typing import NamedTuple

VOID = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})
LOADED = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}
NAMES_ONLY = frozenset({"canonical", "alternate"})
"""The relations of a `link` for which a browser loads nothing."""

_TAG = re.compile(
    r"""<(?:!--.*?-->|(/?)([a-zA-Z][^\s/>]*)([^"'>]*(?:"[^"]*"[^"'>]*|'[^']*'[^"'>]*)*)>)""",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""([^\s=/"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?""")
_NO_MARKUP = {"script": "</script", "style": "</style"}
"""The elements whose text may have signs of tags, and the end of each."""


class PageLink(NamedTuple):
    """A link of a page, or a file that it loads."""

    target: str
    at: int
    """Where in the text its tag begins."""
    loads: bool


@dataclass
class Reading:
    """What the check needs to know about a page."""

    ids: dict[str, int] = field(default_factory=dict)
    """Every id with the place of its tag in the text."""
    links: list[PageLink] = field(default_factory=list)
    """The first link to each target."""
    problems: list[tuple[int, str, str]] = field(default_factory=list)
    """The line, the problem and the fix of each."""
    description: str = ""


def read_html(text: str) -> Reading:
    """Return the ids, links and problems of a page."""
    return _HtmlReader(text).read()


class _HtmlReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._reading = Reading()
        self._open: list[tuple[str, int]] = []
        self._found: set[str] = set()
        self._targets: set[tuple[str, bool]] = set()

    def read(self) -> Reading:
        below = 0
        for tag in _TAG.finditer(self._text):
            name, at = tag[2], tag.start()
            if name is None or at < below:
                continue
            if tag[1]:
                self._end(name.lower(), at)
            else:
                self._start(name.lower(), tag[3], at)
                if name in _NO_MARKUP:
                    end = self._text.find(_NO_MARKUP[name], tag.end())
                    below = end if end >= 0 else len(self._text)
        for name, at in self._open:
            self._problem(at, f"<{name}> is never closed", "Close it.")
        for name in ("title", "h1", "main"):
            if name not in self._found:
                self._problem(0, f"the page has no <{name}>", "Add one.")
        return self._reading

    def _line(self, at: int) -> int:
        return self._text.count("\n", 0, at) + 1

    def _problem(self, at: int, what: str, hint: str) -> None:
        self._reading.problems.append((self._line(at), what, hint))

    def _start(self, tag: str, attributes: str, at: int) -> None:
        self._found.add(tag)
        if tag not in VOID and not attributes.endswith("/"):  # in SVG: <path .../>
            self._open.append((tag, at))
        given, is_repeated = _attributes(attributes)
        if is_repeated:
            self._problem(at, f"<{tag}> has an attribute twice", "Remove one of them.")
        if "id" in given:
            self._identified(given["id"], at)
        self._linked(tag, given, at)
        if tag == "img" and "alt" not in given:
            self._problem(at, "the image has no alternative text", "Add alt=.")
        if tag == "meta" and given.get("name") == "description":
            self._reading.description = given.get("content", "")

    def _end(self, tag: str, at: int) -> None:
        if self._open and self._open[-1][0] == tag:
            self._open.pop()
            return
        inner = self._open[-1][0] if self._open else "nothing"
        self._problem(at, f"</{tag}> closes <{inner}>", "Close the inner one first.")
        names = [name for name, _ in self._open]
        if tag in names:
            del self._open[len(names) - 1 - names[::-1].index(tag) :]

    def _identified(self, name: str, at: int) -> None:
        ids = self._reading.ids
        if name in ids:
            what = f"the id {name!r} is already in line {self._line(ids[name])}"
            self._problem(at, what, "Rename one of them.")
        elif not name or " " in name:
            self._problem(at, f"{name!r} is not a valid id", "Use an id without spaces.")
        ids.setdefault(name, at)

    def _linked(self, tag: str, given: Mapping[str, str], at: int) -> None:
        if tag == "a":
            attribute, loads = "href", False
        elif tag in LOADED and given.get("rel") not in NAMES_ONLY:
            attribute, loads = LOADED[tag], True
        else:
            return
        target = given.get(attribute)
        if target is not None and (target, loads) not in self._targets:
            self._targets.add((target, loads))
            self._reading.links.append(PageLink(target, at, loads))


@lru_cache(maxsize=50_000)
def _attributes(text: str) -> tuple[Mapping[str, str], bool]:
    """Return the attributes of a tag, and whether one is there twice."""
    found = _ATTRIBUTE.findall(text)
    given = {
        intern(name.lower()): intern(unescape(one or other or bare))
        for name, one, other, bare in found
    }
    return given, len(given) < len(found)
