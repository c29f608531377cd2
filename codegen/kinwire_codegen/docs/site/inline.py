"""Texts of pages as HTML: inline Markdown, whole guides, and code in colours."""

from __future__ import annotations

__all__ = (
    "as_html",
    "breakable",
    "coloured",
    "inline",
    "plain",
    "site_link",
    "with_short_links",
)

import keyword
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from html import escape, unescape

from markdown_it import MarkdownIt
from markupsafe import Markup
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

_MARKED = re.compile(r"[`*_\[\]<>&\\!\"]")
_QUICK_PARTS = re.compile(
    r"""\[(?:`(?P<linked>[^`\]]+)`|(?P<text>[^`*_\[\]<>&\\!"]+))\]\((?P<place>[a-zA-Z0-9_./#-]+)\)"""
    r"|`(?P<code>[^`]+)`"
)
"""Code, and links whose text is code or plain: most texts have nothing else in them."""

_CODED = re.compile(r"<code>([^<]*)</code>")
_LINK = re.compile(r'href="(?!https?:|#|mailto:)([^"#]*?)(README)?\.md(#[^"]*)?"')
_STRING = r'(?:"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')'
_DOCSTRING = r'"""[\s\S]*?"""'
_NUMBER = r"(?P<mi>(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
_KEYWORDS = "|".join(keyword.kwlist)
_QUICK = {
    "json": re.compile(
        rf"(?P<nt>{_STRING}(?=\s*:))|(?P<s2>{_STRING})|(?P<kc>\b(?:true|false|null)\b)|{_NUMBER}"
    ),
    "python": re.compile(
        rf"(?P<c1>#[^\n]*)|(?P<s2>(?:\b[rbf])?(?:{_DOCSTRING}|{_STRING}))|(?P<nd>^\s*@[\w.]+)"
        r"|(?P<nf>(?<=\bdef )\w+)|(?P<nc>(?<=\bclass )\w+)"
        rf"|(?P<k>\b(?:{_KEYWORDS})\b)|{_NUMBER}",
        re.MULTILINE,
    ),
}
"""Patterns for the two languages of most pages; they are faster than a lexer."""

_JOINT = re.compile(r"([/._:])(?=\w)|(?<=[a-z])(?=[A-Z])")
COLOURS = {
    *("s", "s1", "s2", "sa", "sd", "se", "sx", "mi", "mf", "kc", "k", "kn", "kd", "ow", "kr"),
    *("c", "c1", "cm", "ch", "nf", "nc", "fm", "nd", "gp", "go", "nb", "bp"),
}
"""The classes that the style sheet knows."""

LONG = 14  # signs of code that fit on any line


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table").enable("strikethrough")


@lru_cache(maxsize=50_000)
def inline(text: str) -> Markup:
    """Return inline Markdown as HTML."""
    if not _MARKED.search(text):
        return Markup(text)  # nothing in it means anything in HTML
    if not _MARKED.search(_QUICK_PARTS.sub("", text)):
        return Markup(site_link(_QUICK_PARTS.sub(_quick_part, text)))
    html = site_link(_markdown().renderInline(text))
    return Markup(_CODED.sub(lambda found: _shown(found[1]), html))


def _quick_part(found: re.Match[str]) -> str:
    code = found["code"] or found["linked"]
    text = _shown(escape(code, quote=False)) if code else found["text"]
    return f'<a href="{found["place"]}">{text}</a>' if found["place"] else text


def _shown(text: str) -> str:
    return f"<code>{breakable(text) if len(text) > LONG else text}</code>"


def breakable(text: str) -> str:
    """Return a name that a browser may break between its parts."""
    return _JOINT.sub(r"\1<wbr>", text)


def as_html(text: str) -> str:
    """Return Markdown of several paragraphs as HTML, without headings of its own."""
    return site_link(_markdown().render(text))


def site_link(html: str) -> str:
    """Return HTML whose links lead to pages of the site instead of files of Markdown."""

    def led(found: re.Match[str]) -> str:
        path, readme, anchor = found[1], found[2], found[3] or ""
        return f'href="{path}{"index" if readme else ""}.html{anchor}"'

    return _LINK.sub(led, html)


def with_short_links(text: str, place: str, opening: str) -> str:
    """Return the page at `place` with links that do not leave a folder to enter it again.

    `opening` is what stands before the address of a link.
    """
    folders = place.split("/")[:-1]
    for shared in range(len(folders), 0, -1):
        long = "../" * len(folders) + "/".join(folders[:shared]) + "/"
        text = text.replace(f"{opening}{long}", f"{opening}{'../' * (len(folders) - shared)}")
    return text


@lru_cache(maxsize=10_000)
def plain(text: str) -> str:
    """Return inline Markdown without any marks."""
    return unescape(re.sub(r"<[^>]+>", "", inline(text)))


@lru_cache(maxsize=10_000)
def coloured(language: str, text: str) -> Markup:
    """Return code as HTML with its parts marked by class, as `<i>`: it is the shortest tag."""
    if language in _QUICK:
        return Markup(_QUICK[language].sub(_part, escape(text, quote=False)))
    lexer = _lexer(language)
    if lexer is None:
        return Markup(escape(text))
    return Markup("".join(_parts(lexer, text)).rstrip("\n"))


def _part(found: re.Match[str]) -> str:
    name = found.lastgroup or ""
    return f'<i class="{name}">{found[0]}</i>'


def _parts(lexer: Lexer, text: str) -> Iterator[str]:
    """Yield code as HTML; without line numbers this takes half the time of Pygments."""
    for kind, word in lexer.get_tokens(text):
        name = STANDARD_TYPES.get(kind, "")
        part = escape(word, quote=False)
        yield f'<i class="{name}">{part}</i>' if name in COLOURS else part


@cache
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name({"sh": "bash", "": "text"}.get(language, language))
    except ClassNotFound:
        return None
