"""The reference: a Markdown page a method, a tool and a type, and what leads to them."""

from __future__ import annotations

__all__ = ("reference_files",)

from collections.abc import Iterable

from kinwire_codegen.document import Document, Documents
from kinwire_codegen.reference.data import data_page
from kinwire_codegen.reference.index import protocol_page, start_page
from kinwire_codegen.reference.links import Links, slug
from kinwire_codegen.reference.methods import method_page, tool_page
from kinwire_codegen.reference.types import type_page


def reference_files(documents: Documents, chosen: Iterable[Document]) -> dict[str, str]:
    """Return the pages of the chosen documents and the page that leads to them, by path."""
    listed = list(chosen)
    links = Links(documents, listed)
    pages = {"README.md": start_page(links)}
    for document in listed:
        home = document.name
        pages[f"{home}/README.md"] = protocol_page(links, document)
        for wire in document.content["methods"]:
            pages[f"{home}/methods/{slug(wire)}.md"] = method_page(links, document, wire)
        for name in document.table("tools"):
            pages[f"{home}/tools/{slug(name)}.md"] = tool_page(links, document, name)
        for name in document.definitions:
            pages[f"{home}/types/{name}.md"] = type_page(links, document, name)
        data = data_page(links, document)
        if data is not None:
            pages[f"{home}/data.md"] = data
    return {f"reference/{path}": text for path, text in pages.items()}
