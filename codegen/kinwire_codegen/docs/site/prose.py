"""Markdown of guides as HTML, with an anchor for each heading."""

from __future__ import annotations

__all__ = ("RenderedGuide", "Section", "in_sections", "rendered")

import re
from html import escape
from itertools import pairwise
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kinwire_codegen.docs.site.inline import coloured, plain, site_link


class Section(NamedTuple):
    """A heading of a guide, and the text below it."""

    level: int
    anchor: str
    text: str
    body: str = ""
    """The Markdown below the heading, up to the next one."""


class RenderedGuide(NamedTuple):
    """A guide as HTML."""

    html: str
    sections: list[Section]
    body: str
    """The Markdown before the first heading."""


def rendered(text: str) -> RenderedGuide:
    """Return Markdown as HTML, and its headings, each with the anchor that GitHub gives it."""
    parser = MarkdownIt("commonmark", {"html": False, "highlight": None}).enable("table")
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("table_open", lambda *_: '<div class="scroll"><table>')
    parser.add_render_rule("table_close", lambda *_: "</table></div>")
    tokens = parser.parse(text)
    first, *sections = _sections(tokens)
    html: str = parser.renderer.render(tokens, parser.options, {})
    html = site_link(html).replace("<th></th>", "<td></td>")
    return RenderedGuide(html, sections, first.body)


def in_sections(text: str) -> str:
    """Return Markdown as HTML in which each heading of the second level begins a section."""
    first, *others = rendered(text).html.split("<h2 ")
    sections = "".join(f"<section><h2 {one}</section>" for one in others)
    return f'{first}<div class="quick">{sections}</div>' if others else first


def _sections(tokens: list[Token]) -> list[Section]:
    """Return a section without a heading, and those of the headings, which get their anchors."""
    heads = [Section(0, "", "")]
    bodies: list[list[str]] = [[]]
    seen: dict[str, int] = {}
    for before, token in pairwise([Token("begin", "", 0), *tokens]):
        if before.type == "heading_open":
            text = plain(token.content)
            anchor = _anchor(text, seen)
            before.attrSet("id", anchor)
            heads.append(Section(int(before.tag[1]), anchor, text))
            bodies.append([])
        elif token.type in ("inline", "fence", "code_block"):
            bodies[-1].append(token.content)
    return [head._replace(body="\n".join(body)) for head, body in zip(heads, bodies, strict=True)]


def _anchor(text: str, seen: dict[str, int]) -> str:
    slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
    count = seen[slug] = seen.get(slug, -1) + 1
    return f"{slug}-{count}" if count else slug


def _fence(_: object, tokens: list[Token], index: int, *__: object) -> str:
    language, _, name = tokens[index].info.partition(" ")
    caption = f'<p class="file">{escape(name)}</p>' if name else ""
    code = coloured(language, tokens[index].content.rstrip("\n"))
    return f'{caption}<pre><code class="{escape(language)}">{code}</code></pre>\n'
