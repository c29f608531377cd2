"""The list of pages next to each page: of its protocol, or of all pages without a protocol."""

from __future__ import annotations

__all__ = ("Navigation",)

from collections.abc import Iterator
from typing import NamedTuple

from jinja2 import Environment
from markupsafe import Markup

from kinwire_codegen.document import Document
from kinwire_codegen.reference.blocks import Page
from kinwire_codegen.reference.links import slug
from kinwire_codegen.site.pages import SitePlan, page_url

HUES = 6
GROUPS = {"Across": "across", "Guides": "guide", "Python": "api", "Changes": "changes"}


class NavigationEntry(NamedTuple):
    """A link in the list."""

    text: str
    place: str
    note: str = ""


class Navigation:
    """The lists of one plan, each made once."""

    def __init__(self, plan: SitePlan) -> None:
        self._plan = plan
        self._made: dict[str, str] = {}

    def hue(self, document: Document | None) -> int:
        """Return the number of a protocol's colour."""
        return list(self._plan.chosen).index(document) % HUES if document else 0

    def trail(self, page: Page) -> Iterator[tuple[str, str]]:
        """Yield the pages that lead to a page."""
        if page.path == "README":
            return
        yield "All protocols", "index.html"
        document = page.document
        if document is not None:
            if page.kind != "protocol":
                yield document.content["title"], f"{document.name}/index.html"
            if page.kind in ("method", "tool", "type"):
                anchor = f"{document.name}/index.html#{page.kind}s"
                yield f"{page.kind.title()}s", anchor
        elif page.kind in ("api", "changes") and not page.path.endswith("README"):
            above = page.path.partition("/")[0]
            titles = {"api": "Python interface", "changes": "Changes"}
            yield titles[above], f"{above}/index.html"

    def html(self, page: Page, templates: Environment) -> Markup:
        """Return the list next to a page, with the page itself marked."""
        document = page.document
        key = document.name if document else ""
        if key not in self._made:
            groups = list(self._of(document) if document else self._general())
            template = templates.get_template("site/nav.html.j2")
            self._made[key] = template.render(protocol=document, groups=groups)
        here = f'href="../../{page_url(page.path)}"'
        return Markup(self._made[key].replace(here, f'{here} aria-current="page"', 1))

    def _of(self, document: Document) -> Iterator[tuple[str, list[NavigationEntry]]]:
        home = f"{document.name}/index.html"
        for table in ("methods", "tools"):
            entries = [
                NavigationEntry(
                    wire, f"{document.name}/{table}/{slug(wire)}.html", row.get("status", "")
                )
                for wire, row in document.table(table).items()
            ]
            if entries:
                yield table.title(), entries
        more = [NavigationEntry(f"Types ({len(document.definitions)})", f"{home}#types")]
        if document.content["errors"]:
            more.append(NavigationEntry("Errors", f"{home}#errors"))
        if document.augments:
            more.append(NavigationEntry("What it adds", f"{home}#augments"))
        if self._plan.links.has_data(document):
            more.append(NavigationEntry("Data", f"{document.name}/data.html"))
        yield "More", more

    def _general(self) -> Iterator[tuple[str, list[NavigationEntry]]]:
        titles = ((one.content["title"], f"{one.name}/index.html") for one in self._plan.chosen)
        yield "Protocols", [NavigationEntry(*one) for one in titles]
        for label, kind in GROUPS.items():
            pages = [page for page in self._plan.pages if page.kind == kind]
            entries = [NavigationEntry(page.name, page_url(page.path)) for page in pages]
            if entries:
                yield label, entries
