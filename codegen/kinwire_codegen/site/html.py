"""Pages as HTML: each with its navigation, its outline and its way back."""

from __future__ import annotations

__all__ = ("Shown", "Writer", "environment")

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from kinwire_codegen.document import Document
from kinwire_codegen.reference.blocks import Block, Code, Drawing, Heading, Page, Prose, TableBlock
from kinwire_codegen.site.inline import as_html, breakable, coloured, inline, plain
from kinwire_codegen.site.machines import machine_svg
from kinwire_codegen.site.navigation import Navigation
from kinwire_codegen.site.pages import SitePlan, SiteSource, page_url, twin_path
from kinwire_codegen.site.prose import Section, rendered
from kinwire_codegen.site.sequences import sequence_svg

LISTED = 40  # sections next to a page; of more, only the upper ones
_DRAWN: dict[str, Callable[[Any], str]] = {"sequence": sequence_svg, "machine": machine_svg}


@dataclass(frozen=True)
class Shown:
    """A page as the templates read it."""

    page: Page
    blocks: tuple[Block, ...]
    body: Markup
    sections: tuple[Section, ...]
    outline: tuple[Section, ...]
    """Those of its sections that are listed next to it."""
    hue: int
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
        """What the page is part of, for the window's title."""
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

    def shown(self, page: Page) -> Shown:
        """Return a page with everything but its frame."""
        blocks, told = _anchored(page.blocks)
        body = ""
        if page.kind == "guide":
            (prose,) = (block for block in page.blocks if isinstance(block, Prose))
            body, told = rendered(prose.text)
            blocks = ()
        sections = tuple(one for one in told if one.level in (2, 3))
        upper = tuple(one for one in sections if one.level == 2)
        outline = upper if len(sections) > LISTED else sections
        hue = self.navigation.hue(page.document)
        trail = tuple(self.navigation.trail(page))
        return Shown(page, blocks, Markup(body), sections, outline, hue, trail)

    def page(self, shown: Shown) -> str:
        """Return a page as HTML."""
        return self._framed("page", shown)

    def home(self, shown: Shown, **facts: Any) -> str:
        """Return the first page."""
        return self._framed("home", shown, **facts)

    def missing(self, shown: Shown) -> str:
        """Return the page that a server shows for what is not there, at any depth."""
        html = self._framed("missing", shown)
        if not self.source.base_url:
            return html
        return re.sub(r'(href|src|data-root)="(?!https?:|#)([^"]*)"', self._absolute, html)

    def _absolute(self, found: re.Match[str]) -> str:
        return f'{found[1]}="{self.source.base_url}{found[2]}"'

    def _framed(self, template: str, shown: Shown, **facts: Any) -> str:
        root = "../" * shown.depth
        nav = self.navigation.html(shown.page, environment())
        html = (
            environment()
            .get_template(f"site/{template}.html.j2")
            .render(page=shown, site=self.source, root=root, nav=nav, **facts)
        )
        # What links make is for pages two folders down.
        if shown.depth == 2:
            return html
        return html.replace('href="../../', f'href="{root}').replace('src="../../', f'src="{root}')


def _anchored(blocks: Sequence[Block]) -> tuple[tuple[Block, ...], list[Section]]:
    """Return blocks whose headings all have anchors, and these headings."""
    found: list[Block] = []
    sections: list[Section] = []
    for block in blocks:
        if isinstance(block, Heading):
            anchor = block.anchor or re.sub(r"\W+", "-", plain(block.text).lower()).strip("-")
            block = replace(block, anchor=anchor)
            sections.append(Section(block.level, anchor, plain(block.text)))
        found.append(block)
    return tuple(found), sections


def _shown_columns(table: TableBlock) -> list[int]:
    """Return the columns that have something in some row."""
    return [
        number
        for number in range(len(table.columns))
        if any(row.cells[number] for row in table.rows)
    ]


def _breakable(text: str) -> Markup:
    """Return a name that a browser may break where its parts meet."""
    return Markup(breakable(str(escape(text))))


def _drawn(drawing: Drawing) -> Markup:
    return Markup(_DRAWN[drawing.kind](drawing.facts))


def _coloured(code: Code) -> Markup:
    return coloured(code.language, code.text)


@cache
def environment() -> Environment:
    """Return the templates."""
    made = Environment(
        loader=PackageLoader("kinwire_codegen"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=True,
    )
    made.filters |= {
        "breakable": _breakable,
        "inline": inline,
        "plain": plain,
        "kind": lambda block: type(block).__name__,
        "drawn": _drawn,
        "coloured": _coloured,
        "shown_columns": _shown_columns,
        "prose": lambda block: Markup(as_html(block.text)),
    }
    return made
