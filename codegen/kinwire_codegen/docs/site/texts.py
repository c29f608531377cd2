"""Files for programs: Markdown twins, llms.txt, a sitemap, an inventory for Sphinx."""

from __future__ import annotations

__all__ = ("inventory", "llms_full", "llms_list", "sitemap", "twin")

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from kinwire_codegen.docs.reference.blocks import Heading, Page
from kinwire_codegen.docs.reference.markdown import as_markdown
from kinwire_codegen.docs.site.html import Shown
from kinwire_codegen.docs.site.inline import with_short_links
from kinwire_codegen.docs.site.pages import SitePlan, SiteSource, twin_path
from kinwire_codegen.load.names import class_name

_README = re.compile(r"(\]\([^)\s]*?)README\.md")
_DETAIL = re.compile(r"/(?:types|data)/")
_PLACE = re.compile(r'<a id="[^"]*"></a>')
_MADE = re.compile(r"^<!-- Generated .*? -->\n\n", re.MULTILINE)
_LABELS = {
    "Guides": ("guides", "guide"),
    "Reference": ("reference",),
    "Protocols": ("protocol",),
    "Python interface": ("api",),
    "Changes": ("changes", "rules"),
    "Lists": ("list",),
    "Methods": ("method",),
    "Tools": ("tool",),
    "Data": ("data",),
    "Types": ("type",),
}
"""The sections of `llms.txt`, each with the kinds of its pages."""


def twin(page: Page) -> str:
    """Return the Markdown of a page, which is a file next to it."""
    text = _README.sub(r"\1index.md", _MADE.sub("", as_markdown(page)))
    return with_short_links(text, twin_path(page.path), "](")


def llms_list(shown: Sequence[Shown], source: SiteSource) -> str:
    """Return `llms.txt`: every page by kind, with its Markdown and its summary."""
    lines = [f"# {source.title}", "", f"> {shown[0].summary}", ""]
    for label, kinds in _LABELS.items():
        found = [one for one in shown if one.kind in kinds]
        if found:
            lines += [f"## {label}", ""]
            lines += [
                f"- [{one.name}{f' ({one.protocol})' if one.protocol else ''}]"
                f"({source.base_url}{one.twin}): {one.summary}"
                for one in found
            ]
            lines.append("")
    return "\n".join(lines)


def llms_full(twins: Mapping[str, str]) -> str:
    """Return `llms-full.txt`: the Markdown of every page but those of types and of single data.

    Marks of places are left out. These pages would be half of it; `llms.txt` leads to them.
    """
    shown = ((path, text) for path, text in twins.items() if not _DETAIL.search(path))
    whole = "\n---\n\n".join(f"<!-- {path} -->\n{text}" for path, text in shown)
    return _PLACE.sub("", whole)


def sitemap(shown: Sequence[Shown], source: SiteSource) -> str:
    """Return the list of all pages for search engines; it needs the published address."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append('<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">')
    lines += [f"<url><loc>{escape(source.base_url + one.url)}</loc></url>" for one in shown]
    return "\n".join([*lines, "</urlset>", ""])


def inventory(plan: SitePlan, source: SiteSource) -> bytes:
    """Return `objects.inv`, which lets Sphinx and mkdocstrings link to names of Python here."""
    head = f"# Sphinx inventory version 2\n# Project: {source.title}\n# Version: {source.version}\n"
    head += "# The remainder of this file is compressed using zlib.\n"
    return head.encode() + zlib.compress("\n".join([*_objects(plan), ""]).encode(), 9)


def _objects(plan: SitePlan) -> Iterator[str]:
    for document in plan.chosen:
        package = f"kinwire_protocols.{document.module}"
        for name in document.definitions:
            yield f"{package}.{name} py:class 1 {document.name}/types/{name}.html -"
        for name in document.content["errors"]:
            place = f"{document.name}/index.html#{name}"
            yield f"{package}.{class_name(name)} py:exception 1 {place} -"
    for page in plan.pages:
        if page.kind == "api" and not page.path.endswith("README"):
            module = page.path.partition("/")[2]
            yield f"{module} py:module 0 {page.path}.html -"
            for block in page.blocks:
                if isinstance(block, Heading) and block.anchor:
                    role = _role(block.anchor)
                    yield f"{module}.{block.anchor} py:{role} 1 {page.path}.html#{block.anchor} -"


def _role(name: str) -> str:
    if "." in name:
        return "method"
    return "exception" if name.endswith("Error") else "class" if name[0].isupper() else "function"
