"""A whole site in memory: every file by its path."""

from __future__ import annotations

__all__ = ("markdown_files", "site_files")

from importlib.resources import files as resources
from typing import Any

from kinwire_codegen.document import Document
from kinwire_codegen.reference.blocks import Page
from kinwire_codegen.reference.links import slug
from kinwire_codegen.reference.methods import sender
from kinwire_codegen.site.html import Writer
from kinwire_codegen.site.pages import SitePlan, SiteSource, page_url, plan, twin_path
from kinwire_codegen.site.search import search_index
from kinwire_codegen.site.texts import inventory, llms_full, llms_list, sitemap, twin

ASSETS = ("site.css", "site.js", "search.js", "theme.js", "icon.svg")


def site_files(source: SiteSource) -> dict[str, bytes]:
    """Return every file of the site."""
    planned = plan(source)
    writer = Writer(planned, source)
    shown = [writer.shown(page) for page in planned.pages]
    twins = {one.twin: twin(one.page) for one in shown}
    found = dict(planned.files) | {path: text.encode() for path, text in twins.items()}
    for one in shown:
        home = one.page.path == "README"
        html = writer.home(one, **_home(planned, writer)) if home else writer.page(one)
        found[one.url] = html.encode()
    missing = Page("404", "There is no such page", "missing", "", None, ())
    found["404.html"] = writer.missing(writer.shown(missing)).encode()
    found["assets/index.js"] = search_index(shown).encode()
    for name in ASSETS:
        found[f"assets/{name}"] = (resources("kinwire_codegen.site") / "static" / name).read_bytes()
    found["llms.txt"] = llms_list(shown, source).encode()
    found["llms-full.txt"] = llms_full(twins).encode()
    found["objects.inv"] = inventory(planned, source)
    if source.base_url:
        found["sitemap.xml"] = sitemap(shown, source).encode()
    return dict(sorted(found.items()))


def markdown_files(source: SiteSource) -> dict[str, bytes]:
    """Return the pages as Markdown alone, and what they lead to: for other makers of sites."""
    planned = plan(source)
    found = dict(planned.files)
    found |= {twin_path(page.path): twin(page).encode() for page in planned.pages}
    return dict(sorted(found.items()))


def _home(planned: SitePlan, writer: Writer) -> dict[str, Any]:
    cards = [_card(document, writer) for document in planned.chosen]
    tasks = _listed(planned, "across")
    lists = [
        (label, rows)
        for label, kind in (("Guides", "guide"), ("Python", "api"), ("Changes", "changes"))
        if (rows := _listed(planned, kind))
    ]
    spoken = [card for card in cards if card["rows"]]
    lead = (
        f"{sum(len(card['rows']) for card in spoken)} methods and tools of {len(spoken)} protocols"
    )
    lead += ", with every member, type and error: from the documents that the bindings are made of."
    return {"cards": cards, "tasks": tasks, "lists": lists, "lead": lead}


def _listed(planned: SitePlan, kind: str) -> list[tuple[str, str, str]]:
    pages = [page for page in planned.pages if page.kind == kind]
    return [(page.name, f"../../{page_url(page.path)}", page.summary) for page in pages]


def _card(document: Document, writer: Writer) -> dict[str, Any]:
    content, home = document.content, f"../../{document.name}/index.html"
    counted = (
        ("method", document.content["methods"], "#methods"),
        ("tool", document.table("tools"), "#tools"),
        ("error", content["errors"], "#errors"),
        ("type", document.definitions, "#types"),
    )
    rows = [
        {
            "name": wire,
            "place": f"../../{document.name}/{table}/{slug(wire)}.html",
            "sender": sender(document, row),
            "kind": row.get("kind", "tool"),
            "summary": row["summary"],
        }
        for table in ("methods", "tools")
        for wire, row in document.table(table).items()
    ]
    return {
        "name": document.name,
        "title": content["title"],
        "version": content["version"],
        "description": content["description"],
        "place": home,
        "hue": writer.navigation.hue(document),
        "counts": [
            (f"{len(some)} {word}{'' if len(some) == 1 else 's'}", home + anchor)
            for word, some, anchor in counted
            if some
        ],
        "rows": rows,
    }
