"""Every page of a site, from the documents, the guides and the source of a package."""

from __future__ import annotations

__all__ = ("SitePlan", "SiteSource", "page_url", "plan", "twin_path")

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kinwire_codegen.document import Document, Documents
from kinwire_codegen.reference import reference_pages
from kinwire_codegen.reference.blocks import Page, Prose
from kinwire_codegen.reference.links import Links
from kinwire_codegen.site.across import across_pages
from kinwire_codegen.site.downloads import downloads
from kinwire_codegen.site.prose import Guides


@dataclass(frozen=True, kw_only=True)
class SiteSource:
    """What a site is made from."""

    documents: Documents
    guides: Path | None = None
    """A folder of Markdown."""
    package: str | None = None
    """The package whose Python interface is shown."""
    olds: Sequence[tuple[str, Documents]] = ()
    """Earlier states of the documents, by what they are called."""
    title: str = "kinwire reference"
    base_url: str = ""
    """Where it will be published, with a slash at its end; empty if that does not matter."""
    version: str = ""
    versions: Sequence[tuple[str, str]] = ()
    """All versions that are published, each with its place."""


@dataclass(frozen=True)
class SitePlan:
    """Pages, and files next to them."""

    links: Links
    pages: tuple[Page, ...]
    files: dict[str, bytes] = field(default_factory=dict)

    @property
    def chosen(self) -> Sequence[Document]:
        """The documents that the site is about."""
        return self.links.chosen


def plan(source: SiteSource) -> SitePlan:
    """Return everything that the site shows, before it is HTML."""
    documents = source.documents
    chosen = [documents[name] for name in documents.chosen]
    links = Links(documents, sorted(chosen, key=lambda one: _order(one, chosen)))
    page, exported = downloads(links)
    files = {path: text.encode() for path, text in exported.items()}
    pages = [*reference_pages(links), *across_pages(links), page]
    if source.olds:
        from kinwire_codegen.site.changes import changes_pages

        pages += changes_pages(documents, source.olds)
    if source.guides is not None:
        guides = Guides(source.guides)
        pages += guides.pages()
        files |= guides.attachments()
    if source.package is not None:
        from kinwire_codegen.site.api import api_pages

        blocks = (block for one in pages if one.kind == "guide" for block in one.blocks)
        texts = [block.text for block in blocks if isinstance(block, Prose)]
        pages += api_pages(source.package, texts)
    return SitePlan(links, tuple(pages), files)


def page_url(path: str) -> str:
    """Return where the page of a path is, from the top of the site."""
    return re.sub(r"README$", "index", path) + ".html"


def twin_path(path: str) -> str:
    """Return where the Markdown of a page is, from the top of the site."""
    return re.sub(r"README$", "index", path) + ".md"


def _order(document: Document, chosen: Sequence[Document]) -> tuple[bool, int, str]:
    """Return what protocols are sorted by: first those that others build on, envelopes last."""
    speaks = bool(document.content["methods"] or document.table("tools"))
    built_on = sum(document.name in other.extends for other in chosen)
    return (not speaks, -built_on, document.content["title"])
