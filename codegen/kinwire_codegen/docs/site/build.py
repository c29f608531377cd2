"""A whole site in memory: every file by its path."""

from __future__ import annotations

__all__ = ("markdown_files", "site_files")

from importlib.resources import files as resources

from kinwire_codegen.docs.reference.blocks import Page
from kinwire_codegen.docs.site.html import Writer
from kinwire_codegen.docs.site.pages import SiteSource, plan, twin_path
from kinwire_codegen.docs.site.search import search_files
from kinwire_codegen.docs.site.texts import inventory, llms_full, llms_list, sitemap, twin

ASSETS = ("site.css", "site.js", "search.js", "theme.js", "icon.svg")


def site_files(source: SiteSource) -> dict[str, bytes]:
    """Return every file of the site."""
    planned = plan(source)
    writer = Writer(planned, source)
    shown = [writer.shown(page) for page in planned.pages]
    twins = {one.twin: twin(one.page) for one in shown}
    found = dict(planned.files) | {path: text.encode() for path, text in twins.items()}
    for one in shown:
        found[one.url] = writer.page(one).encode()
    missing = Page("404", "Page not found", "missing", "", None, ())
    found["404.html"] = writer.missing(writer.shown(missing)).encode()
    found |= {path: text.encode() for path, text in search_files(shown).items()}
    for name in ASSETS:
        found[f"assets/{name}"] = (
            resources("kinwire_codegen.docs.site") / "static" / name
        ).read_bytes()
    found["llms.txt"] = llms_list(shown, source).encode()
    # Rules are about a command, and the protocols are long enough.
    full = {one.twin: twins[one.twin] for one in shown if one.kind != "rule"}
    found["llms-full.txt"] = llms_full(full).encode()
    found["objects.inv"] = inventory(planned, source)
    if source.base_url:
        found["sitemap.xml"] = sitemap(shown, source).encode()
    return dict(sorted(found.items()))


def markdown_files(source: SiteSource) -> dict[str, bytes]:
    """Return the pages as Markdown, and the files that they link to, for other site generators."""
    planned = plan(source)
    found = dict(planned.files)
    found |= {twin_path(page.path): twin(page).encode() for page in planned.pages}
    return dict(sorted(found.items()))
