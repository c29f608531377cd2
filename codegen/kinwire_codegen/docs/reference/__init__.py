"""The reference: a page for each method, tool and type, and lists of them.

Pages are made of blocks (`blocks.py`), which become Markdown here and HTML in the site.
"""

from __future__ import annotations

__all__ = ("reference_files", "reference_pages")

from collections.abc import Iterable, Iterator

from kinwire_codegen.docs.reference.blocks import Page
from kinwire_codegen.docs.reference.data import data_pages
from kinwire_codegen.docs.reference.index import group_pages, protocol_page, start_page
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.docs.reference.markdown import as_markdown
from kinwire_codegen.docs.reference.methods import method_page, tool_page
from kinwire_codegen.docs.reference.types import type_page
from kinwire_codegen.load.document import Document, Documents


def reference_files(documents: Documents, chosen: Iterable[Document]) -> dict[str, str]:
    """Return the pages of the chosen documents and the page that leads to them, by path."""
    pages = reference_pages(Links(documents, list(chosen)))
    return {f"reference/{page.path}.md": as_markdown(page) for page in pages}


def reference_pages(links: Links) -> Iterator[Page]:
    """Yield every page; the first one leads to all others."""
    yield start_page(links)
    for document in links.chosen:
        yield protocol_page(links, document)
        yield from group_pages(links, document)
        for wire in document.content["methods"]:
            yield method_page(links, document, wire)
        for name in document.table("tools"):
            yield tool_page(links, document, name)
        for name in document.definitions:
            yield type_page(links, document, name)
        yield from data_pages(links, document)
