"""Every page of a site, from the documents, the guides and the source of a package."""

from __future__ import annotations

__all__ = (
    "CHANGELOG",
    "PackageError",
    "SitePlan",
    "SiteSource",
    "page_url",
    "plan",
    "twin_path",
)

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kinwire_codegen.docs.reference import reference_pages
from kinwire_codegen.docs.reference.blocks import Page, Prose
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.docs.site.across import across_pages
from kinwire_codegen.docs.site.downloads import downloads
from kinwire_codegen.docs.site.guides import GuideGroup, Guides, guides_page, opening_of
from kinwire_codegen.docs.site.starts import home_page, reference_page
from kinwire_codegen.load.document import Document, Documents

CHANGELOG = "guides/changelog"
"""The page of the project's own changelog."""


class PackageError(Exception):
    """A package has no pages; `hint` says what to do."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.hint = hint


@dataclass(frozen=True, kw_only=True)
class SiteSource:
    """What a site is made from."""

    documents: Documents
    guides: Path | None = None
    """A folder of Markdown."""
    package: str | None = None
    """The package whose Python interface is shown."""
    olds: Sequence[tuple[str, Documents]] = ()
    """Earlier states of the documents, each with a name."""
    rules: bool = False
    """Whether it has the pages of the rules of `kinwire breaking`, as it has with `olds`."""
    title: str = "kinwire"
    base_url: str = ""
    """Where it will be published, with a slash at its end; empty if that does not matter."""
    version: str = ""
    versions: Sequence[tuple[str, str]] = ()
    """All versions that are published, each with its place."""


@dataclass(frozen=True)
class SitePlan:
    """Pages, and the files that they link to."""

    links: Links
    pages: tuple[Page, ...]
    groups: Sequence[GuideGroup]
    """The guides, as they belong together."""
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
    downloads_page, exported = downloads(links)
    files = {path: text.encode() for path, text in exported.items()}
    guides = Guides(source.guides) if source.guides is not None else None
    written = list(guides.pages()) if guides is not None else []
    opening = opening_of(written)
    shared = [*across_pages(links), downloads_page]
    pages = [home_page(links, source.title, opening), reference_page(links, shared)]
    _, *described = reference_pages(links)
    pages += [*described, *shared, *_changes(source, written)]
    if guides is not None:
        pages += [guides_page(opening.groups), *written]
        files |= guides.attachments()
    pages += _interface(source, written)
    return SitePlan(links, tuple(pages), opening.groups, files)


def _changes(source: SiteSource, guides: Sequence[Page]) -> Iterable[Page]:
    if source.olds:
        from kinwire_codegen.docs.site.changes import changes_pages

        written = next((page for page in guides if page.path == CHANGELOG), None)
        yield from changes_pages(source.documents, source.olds, written)
    if source.rules or source.olds:
        from kinwire_codegen.docs.site.rules import rule_pages

        yield from rule_pages()


def _interface(source: SiteSource, guides: Sequence[Page]) -> Iterable[Page]:
    if source.package is None:
        return ()
    from kinwire_codegen.docs.site.api import api_pages

    blocks = (block for page in guides for block in page.blocks)
    return api_pages(source.package, [one.text for one in blocks if isinstance(one, Prose)])


def page_url(path: str) -> str:
    """Return the place of a page, from the top of the site."""
    return re.sub(r"README$", "index", path) + ".html"


def twin_path(path: str) -> str:
    """Return the place of the Markdown of a page, from the top of the site."""
    return re.sub(r"README$", "index", path) + ".md"


def _order(document: Document, chosen: Sequence[Document]) -> tuple[bool, int, str]:
    """Return a key that puts protocols that others extend first, and envelopes last."""
    speaks = bool(document.content["methods"] or document.table("tools"))
    built_on = sum(document.name in other.extends for other in chosen)
    return (not speaks, -built_on, document.content["title"])
