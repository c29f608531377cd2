"""Pages as HTML, each with its navigation and its outline."""

from __future__ import annotations

__all__ = ("Shown", "Writer", "environment")

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

from kinwire_codegen.docs.reference.blocks import (
    Block,
    Code,
    Drawing,
    Examples,
    Fields,
    Folded,
    Heading,
    Page,
    Prose,
    ProtocolCards,
    TableBlock,
)
from kinwire_codegen.docs.site.fields import FieldWriter
from kinwire_codegen.docs.site.inline import (
    as_html,
    breakable,
    coloured,
    inline,
    plain,
    site_link,
    with_short_links,
)
from kinwire_codegen.docs.site.machines import machine_svg
from kinwire_codegen.docs.site.navigation import Navigation
from kinwire_codegen.docs.site.pages import SitePlan, SiteSource, page_url, twin_path
from kinwire_codegen.docs.site.prose import Section, in_sections, rendered
from kinwire_codegen.docs.site.sequences import sequence_svg
from kinwire_codegen.load.document import Document
from kinwire_codegen.templating import template_environment

LISTED = 40  # sections at the side of a page; of more, only the upper ones
_DRAWN: dict[str, Callable[[Any], str]] = {"sequence": sequence_svg, "machine": machine_svg}


@dataclass(frozen=True)
class HtmlBlock:
    """A block that is HTML already."""

    html: Markup


@dataclass(frozen=True)
class FoldedHtml:
    """Blocks that open when the reader wants them."""

    title: str
    blocks: tuple[HtmlReady, ...]


HtmlReady = Block | HtmlBlock | FoldedHtml


@dataclass(frozen=True)
class Shown:
    """A page as the templates read it."""

    page: Page
    blocks: tuple[HtmlReady, ...]
    example: Examples | None
    """The example of a method, which is next to its blocks on wide screens."""
    blocks_after: tuple[HtmlReady, ...]
    """The blocks that follow the example."""
    body: Markup
    sections: tuple[Section, ...]
    outline: tuple[Section, ...]
    """The sections that are listed at the side."""
    text: str
    """The Markdown of a guide before its first section, for the search."""
    hue: int
    section: str
    """The section of the site."""
    trail: tuple[tuple[str, str], ...]

    @property
    def title(self) -> str:
        return self.page.title

    @property
    def name(self) -> str:
        return plain(self.page.name)

    @property
    def kind(self) -> str:
        return self.page.kind

    @property
    def summary(self) -> str:
        return self.page.summary

    @property
    def document(self) -> Document | None:
        return self.page.document

    @property
    def protocol(self) -> str:
        return self.page.document.name if self.page.document else ""

    @property
    def place(self) -> str:
        """The protocol of the page, for the title of the window."""
        return self.page.document.content["title"] if self.page.document else ""

    @property
    def url(self) -> str:
        return page_url(self.page.path)

    @property
    def twin(self) -> str:
        return twin_path(self.page.path)

    @property
    def depth(self) -> int:
        return self.page.path.count("/")


class Writer:
    """Renders the pages of one plan."""

    def __init__(self, plan: SitePlan, source: SiteSource) -> None:
        self.plan, self.source = plan, source
        self.navigation = Navigation(plan)
        self.fields = FieldWriter(plan.links)

    def shown(self, page: Page) -> Shown:
        """Return a page with everything but its frame."""
        found, sections = _anchored(page.blocks)
        body, text = "", ""
        if page.kind == "guide":
            (prose,) = (block for block in found if isinstance(block, Prose))
            body, sections, text = rendered(prose.text)
            found = []
        blocks = tuple(map(self._html, found))
        at = next((n for n, one in enumerate(blocks) if isinstance(one, Examples)), len(blocks))
        example = blocks[at] if at < len(blocks) else None
        assert example is None or isinstance(example, Examples)
        sections = [one for one in sections if one.level in (2, 3)]
        return Shown(
            page,
            blocks[:at],
            example,
            blocks[at + 1 :],
            Markup(body),
            tuple(sections),
            _outline(sections) if example is None and page.kind != "start" else (),
            text,
            self.navigation.hue(page.document),
            self.navigation.section(page),
            tuple(self.navigation.trail(page)),
        )

    def _html(self, block: Block) -> HtmlReady:
        """Return a block that templates render without knowing the other pages."""
        if isinstance(block, Fields):
            return HtmlBlock(Markup(self.fields.html(block.rows)))
        if isinstance(block, ProtocolCards):
            return HtmlBlock(self._cards(block))
        if isinstance(block, Folded):
            return FoldedHtml(block.title, tuple(map(self._html, block.blocks)))
        return block

    def _cards(self, block: ProtocolCards) -> Markup:
        cards = [(one, self.navigation.hue(one), list(_counts(one))) for one in block.documents]
        return Markup(environment().get_template("site/cards.html.j2").render(cards=cards))

    def page(self, shown: Shown) -> str:
        """Return a page as HTML."""
        return self._framed("home" if shown.kind == "start" else "page", shown)

    def missing(self, shown: Shown) -> str:
        """Return the page that a server shows for a missing path, at any depth."""
        html = self._framed("missing", shown)
        if not self.source.base_url:
            return html
        return re.sub(r'(href|src|data-root)="(?!https?:|#)([^"]*)"', self._absolute, html)

    def _absolute(self, found: re.Match[str]) -> str:
        return f'{found[1]}="{self.source.base_url}{found[2]}"'

    def _framed(self, template: str, shown: Shown) -> str:
        root = "../" * shown.depth
        nav = self.navigation.html(shown.page, environment())
        html = (
            environment()
            .get_template(f"site/{template}.html.j2")
            .render(
                page=shown,
                site=self.source,
                root=root,
                nav=nav,
                areas=self.navigation.sections,
            )
        )
        # Links are made for pages two folders down.
        if shown.depth != 2:
            up = f'="{root}'
            html = html.replace('href="../../', f"href{up}").replace('src="../../', f"src{up}")
        return with_short_links(html, page_url(shown.page.path), 'href="')


def _outline(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Return the sections to list at the side: all of them, or the upper ones of many."""
    upper = tuple(one for one in sections if one.level == 2)
    return upper if len(sections) > LISTED else tuple(sections)


def _counts(document: Document) -> Iterator[tuple[str, str]]:
    """Yield how much a protocol defines, each with the place of the list."""
    for word, table in (("method", "methods"), ("tool", "tools"), ("error", "errors")):
        yield _count(len(document.table(table)), word), f"{document.name}/index.html#{table}"
    yield _count(len(document.definitions), "type"), f"{document.name}/index.html#types"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}" if number else ""


def _anchored(blocks: Sequence[Block]) -> tuple[list[Block], list[Section]]:
    """Return blocks in which all headings have anchors, and these headings."""
    found: list[Block] = []
    sections: list[Section] = []
    for block in blocks:
        if isinstance(block, Heading):
            anchor = block.anchor or re.sub(r"\W+", "-", plain(block.text).lower()).strip("-")
            block = block._replace(anchor=anchor)
            sections.append(Section(block.level, anchor, plain(block.text)))
        found.append(block)
    return found, sections


def _shown_columns(table: TableBlock) -> list[int]:
    """Return the columns that are not empty in every row."""
    return [
        number
        for number in range(len(table.columns))
        if any(row.cells[number] for row in table.rows)
    ]


def _breakable(text: str) -> Markup:
    """Return a name that a browser may break between its parts."""
    return Markup(breakable(str(escape(text))))


def _drawn(drawing: Drawing) -> Markup:
    return Markup(_DRAWN[drawing.kind](drawing.facts))


def _coloured(code: Code) -> Markup:
    return coloured(code.language, code.text)


@cache
def environment() -> Environment:
    """Return the templates."""
    made = template_environment(autoescape=True)
    made.filters |= {
        "breakable": _breakable,
        "inline": inline,
        "plain": plain,
        "kind": lambda block: type(block).__name__,
        "drawn": _drawn,
        "site_place": lambda place: site_link(f'href="{place}"')[6:-1],
        "coloured": _coloured,
        "shown_columns": _shown_columns,
        "prose": lambda block: Markup(as_html(block.text)),
        "quick_start": lambda block: Markup(in_sections(block.text)),
    }
    return made
