"""The sections at the top of each page, and the list of pages of its section at the side."""

from __future__ import annotations

__all__ = ("HUES", "Navigation", "NavigationEntry")

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from jinja2 import Environment
from markupsafe import Markup

from kinwire_codegen.docs.reference.blocks import Page
from kinwire_codegen.docs.reference.groups import Group
from kinwire_codegen.docs.site.pages import CHANGELOG, SitePlan, page_url
from kinwire_codegen.load.document import Document
from kinwire_codegen.load.names import slug
from kinwire_codegen.load.notes import status_mark

HUES = 6
SECTIONS = {
    "Guides": ("guides/README",),
    "Reference": ("reference",),
    "API": ("api/README",),
    "Changes": ("changes/README", CHANGELOG, "rules/README"),
}
"""The sections, each with the pages that may be its first one."""

TABLES = ("methods", "tools")
_OF_KIND = {
    **{"guides": "Guides", "guide": "Guides", "api": "API"},
    **{"changes": "Changes", "rules": "Changes", "rule": "Changes"},
}


MOST_GROUPS = 80
"""Groups of a table that a list shows; of more, only the one that the page is in."""


class NavigationEntry(NamedTuple):
    """A link in a list."""

    text: str
    place: str
    note: str = ""
    inner: tuple[NavigationEntry, ...] = ()
    """The entries of the group that the page is in."""


class Navigation:
    """The lists of one plan, each rendered once."""

    def __init__(self, plan: SitePlan) -> None:
        self._plan = plan
        self._rendered: dict[str, str] = {}
        self._grouped: dict[str, dict[str, Group]] = {}
        paths = {page.path for page in plan.pages}
        first = ((label, paths.intersection(starts)) for label, starts in SECTIONS.items())
        self.sections = {
            label: page_url(min(found, key=SECTIONS[label].index))
            for label, found in first
            if found
        }
        """The place of the first page of each section."""

    def hue(self, document: Document | None) -> int:
        """Return the number of a protocol's colour."""
        return list(self._plan.chosen).index(document) % HUES if document else 0

    @staticmethod
    def section(page: Page) -> str:
        """Return the section that a page is part of; the home page has the section `''`."""
        if page.kind in ("start", "missing"):
            return ""
        return "Changes" if page.path == CHANGELOG else _OF_KIND.get(page.kind, "Reference")

    def trail(self, page: Page) -> Iterator[tuple[str, str]]:
        """Yield the pages above a page."""
        section = self.section(page)
        if not section or page_url(page.path) == self.sections[section]:
            return
        yield section, self.sections[section]
        document = page.document
        if document is not None and page.kind != "protocol":
            yield document.content["title"], f"{document.name}/index.html"
            if page.kind in ("method", "tool", "type"):
                anchor = f"{document.name}/index.html#{page.kind}s"
                yield f"{page.kind.title()}s", anchor
                group = self._group(page)
                if group is not None:
                    yield group.label, _group_place(document, group)
            elif page.kind == "data" and page.path != f"{document.name}/data":
                yield "Data", f"{document.name}/data.html"

    def html(self, page: Page, templates: Environment) -> Markup:
        """Return the list at the side of a page, with the page itself marked.

        Types and data have many pages, so these have a list of lists: else it would be a third of
        the site.
        Of a table with groups, only the entries of the page's own group are listed.
        """
        document = page.document
        short = page.kind == "type" or (page.kind == "data" and page.path.count("/") > 1)
        opened = self._group(page)
        key = self.section(page)
        if document is not None:
            key = f"{document.name}{short:d}{opened.file if opened else ''}"
        if key not in self._rendered:
            groups = list(
                self._of(document, opened, short=short) if document else self._in_section(key)
            )
            template = templates.get_template("site/nav.html.j2")
            self._rendered[key] = template.render(protocol=document, groups=groups)
        here = f'href="../../{page_url(page.path)}"'
        return Markup(self._rendered[key].replace(here, f'{here} aria-current="page"', 1))

    def _group(self, page: Page) -> Group | None:
        """Return the group whose page this is, or that its method, tool or type is in."""
        if page.document is None:
            return None
        return self._groups(page.document).get(page_url(page.path))

    def _groups(self, document: Document) -> dict[str, Group]:
        """Return the groups of a protocol by the places of their pages and of their entries."""
        if document.name not in self._grouped:
            found: dict[str, Group] = {}
            for table in (*TABLES, "$defs"):
                for group in self._plan.links.groups(document, table):
                    found[_group_place(document, group)] = group
                    found |= {_entry_place(document, table, name): group for name in group.names}
            self._grouped[document.name] = found
        return self._grouped[document.name]

    def _of(
        self, document: Document, opened: Group | None, *, short: bool
    ) -> Iterator[tuple[str, list[NavigationEntry]]]:
        home = f"{document.name}/index.html"
        if short:
            yield "Lists", [*_tables(document, home), *self._more(document, home)]
            return
        for table in TABLES:
            groups = self._plan.links.groups(document, table)
            if groups:
                title = f"{table.title()} ({len(document.table(table))})"
                yield title, list(_grouped(document, table, groups, opened))
            elif document.table(table):
                yield table.title(), list(_entries(document, table, document.table(table)))
        yield "More", list(self._more(document, home))

    def _more(self, document: Document, home: str) -> Iterator[NavigationEntry]:
        yield NavigationEntry(f"Types ({len(document.definitions)})", f"{home}#types")
        if document.content["errors"]:
            yield NavigationEntry("Errors", f"{home}#errors")
        if document.augments:
            yield NavigationEntry("Added fields", f"{home}#augments")
        if self._plan.links.has_data(document):
            yield NavigationEntry("Data", f"{document.name}/data.html")

    def _in_section(self, section: str) -> Iterator[tuple[str, list[NavigationEntry]]]:
        if section in ("", "Guides"):
            yield from self._guides()
        if section in ("", "Reference"):
            titles = ((one.content["title"], f"{one.name}/index.html") for one in self._plan.chosen)
            yield "Protocols", [NavigationEntry(*one) for one in titles]
            yield "In all protocols", self._listed("reference")
        if section == "API":
            yield "Modules", self._listed("api")
        if section == "Changes":
            yield "Changes", [*self._listed("changes"), *self._changelog(), *self._listed("rules")]

    def _guides(self) -> Iterator[tuple[str, list[NavigationEntry]]]:
        for group in self._plan.groups:
            entries = (
                NavigationEntry(one.name, one.place.removeprefix("../../")[:-3] + ".html")
                for one in group.entries
            )
            yield group.label, list(entries)

    def _listed(self, *kinds: str) -> list[NavigationEntry]:
        """Return the pages of some kinds that are not the first of their section."""
        first = self.sections.values()
        places = (
            (page.name, page_url(page.path)) for page in self._plan.pages if page.kind in kinds
        )
        return [NavigationEntry(name, place) for name, place in places if place not in first]

    def _changelog(self) -> Iterator[NavigationEntry]:
        for page in self._plan.pages:
            if page.path == CHANGELOG:
                yield NavigationEntry(page.name, page_url(page.path))


def _entry_place(document: Document, table: str, name: str) -> str:
    folder, file = ("types", name) if table == "$defs" else (table, slug(name))
    return f"{document.name}/{folder}/{file}.html"


def _group_place(document: Document, group: Group) -> str:
    return f"{document.name}/lists/{group.file}.html"


def _entries(document: Document, table: str, names: Iterable[str]) -> Iterator[NavigationEntry]:
    for name in names:
        note = status_mark(document.table(table)[name])
        yield NavigationEntry(name, _entry_place(document, table, name), note)


def _grouped(
    document: Document, table: str, groups: Sequence[Group], opened: Group | None
) -> Iterator[NavigationEntry]:
    """Yield a link to each group, one of them with its entries."""
    shown = groups if len(groups) <= MOST_GROUPS else [one for one in groups if one is opened]
    for group in shown:
        inner = tuple(_entries(document, table, group.names)) if group is opened else ()
        yield NavigationEntry(group.label, _group_place(document, group), inner=inner)
    if len(shown) < len(groups):
        yield NavigationEntry("All groups", f"{document.name}/index.html#{table}")


def _tables(document: Document, home: str) -> Iterator[NavigationEntry]:
    for table in TABLES:
        if rows := document.table(table):
            yield NavigationEntry(f"{table.title()} ({len(rows)})", f"{home}#{table}")
