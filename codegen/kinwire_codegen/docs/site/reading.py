"""A page of HTML as the check reads it: ids, links, and problems of its markup."""

from __future__ import annotations

__all__ = ("PageLink", "Reading", "read_html")

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import NamedTuple

VOID = frozenset({"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})
LOADED = {"script": "src", "img": "src", "link": "href", "source": "src", "iframe": "src"}
NAMES_ONLY = frozenset({"canonical", "alternate"})
"""The relations of a `link` for which a browser loads nothing."""


class PageLink(NamedTuple):
    """A link of a page, or a file that it loads."""

    target: str
    line: int
    loads: bool


@dataclass
class Reading:
    """What the check needs to know about a page."""

    ids: dict[str, int] = field(default_factory=dict)
    """Every id with its line."""
    links: list[PageLink] = field(default_factory=list)
    problems: list[tuple[int, str, str]] = field(default_factory=list)
    """The line, the problem and the fix of each."""
    found: set[str] = field(default_factory=set)
    """Tags that are on the page."""
    description: str = ""


def read_html(text: str) -> Reading:
    """Return the ids, links and problems of a page."""
    reader = _HtmlReader()
    reader.feed(text)
    reader.close()
    return reader.result()


class _HtmlReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._reading = Reading()
        self._open: list[tuple[str, int]] = []

    def result(self) -> Reading:
        for tag, line in self._open:
            self._problem(line, f"<{tag}> is never closed", "Close it.")
        for tag in ("title", "h1", "main"):
            if tag not in self._reading.found:
                self._problem(1, f"the page has no <{tag}>", "Add one.")
        return self._reading

    def _problem(self, line: int, what: str, hint: str) -> None:
        self._reading.problems.append((line, what, hint))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        line = self.getpos()[0]
        self._reading.found.add(tag)
        if len(given) < len(attrs):
            self._problem(line, f"<{tag}> has an attribute twice", "Remove one of them.")
        if tag not in VOID:
            self._open.append((tag, line))
        self._identified(given, line)
        self._linked(tag, given, line)
        if tag == "img" and "alt" not in given:
            self._problem(line, "the image has no alternative text", "Add alt=.")
        if tag == "meta" and given.get("name") == "description":
            self._reading.description = given.get("content", "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:  # in SVG: <path .../>
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1][0] == tag:
            self._open.pop()
            return
        line = self.getpos()[0]
        inner = self._open[-1][0] if self._open else "nothing"
        self._problem(line, f"</{tag}> closes <{inner}>", "Close the inner one first.")
        names = [name for name, _ in self._open]
        if tag in names:
            del self._open[len(names) - 1 - names[::-1].index(tag) :]

    def _identified(self, given: dict[str, str], line: int) -> None:
        if "id" not in given:
            return
        if given["id"] in self._reading.ids:
            first = self._reading.ids[given["id"]]
            what = f"the id {given['id']!r} is already in line {first}"
            self._problem(line, what, "Rename one of them.")
        elif not given["id"] or " " in given["id"]:
            self._problem(line, f"{given['id']!r} is not a valid id", "Use an id without spaces.")
        self._reading.ids.setdefault(given["id"], line)

    def _linked(self, tag: str, given: dict[str, str], line: int) -> None:
        if tag == "a" and "href" in given:
            self._reading.links.append(PageLink(given["href"], line, loads=False))
        elif tag in LOADED and LOADED[tag] in given and given.get("rel") not in NAMES_ONLY:
            self._reading.links.append(PageLink(given[LOADED[tag]], line, loads=True))
