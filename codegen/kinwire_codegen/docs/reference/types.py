"""The page of a type: its fields, examples, and the places that use it."""

from __future__ import annotations

__all__ = ("type_page",)

from collections.abc import Iterator

from kinwire_codegen.docs.reference.blocks import Badges, Block, Heading, Items, Page, Text
from kinwire_codegen.docs.reference.fields import field_blocks
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.docs.reference.parts import (
    as_json,
    decision,
    namesakes,
    value_table,
    vendor_items,
)
from kinwire_codegen.docs.reference.shapes import shape
from kinwire_codegen.load.document import Document, Reference, members_of
from kinwire_codegen.load.notes import class_of_values, deprecation

SECTIONS = 3  # of the specification, on the page of a type


def type_page(links: Links, document: Document, name: str) -> Page:
    """Return the page of a type."""
    blocks = tuple(_blocks(links, document, name))
    summary = document.definitions[name]["description"]
    return Page(f"{document.name}/types/{name}", name, "type", summary, document, blocks)


def _blocks(links: Links, document: Document, name: str) -> Iterator[Block]:
    node, here = document.definitions[name], Reference(document.name, name)
    yield _badges(links, document, name)
    yield Text(" ".join(filter(None, (node["description"], deprecation(node)))))
    yield from decision(node)
    yield from vendor_items(node)
    yield from namesakes(links, document, "$defs", name)
    if members_of(links.documents, here)[0]:
        yield from field_blocks(links, document, here)
    else:
        yield Text(shape(links, node, document.name))
    yield from _values(document, name)
    if "discriminator" in node:
        yield Text(f"Meaning apart by `{node['discriminator']['propertyName']}`.")
    bases = [part["$ref"] for part in node.get("allOf", ()) if "$ref" in part]
    if bases:
        shown = ", ".join(links.named(base, document.name) for base in bases)
        yield Text(f"Has all fields of {shown}.")
    if "examples" in node:
        yield Heading("Examples")
        yield from map(as_json, node["examples"])
    users = links.users(here)
    if users:
        yield from (Heading("Used by"), Items(tuple(users)))


def _badges(links: Links, document: Document, name: str) -> Badges:
    node = document.definitions[name]
    badges = [
        f"`{document.module}.{name}`",
        f"{document.content['title']} {document.content['version']}",
    ]
    sections = links.sections(Reference(document.name, name))
    if sections:
        more = ", …" if len(sections) > SECTIONS else ""
        badges.append(f"used in section {', '.join(sections[:SECTIONS])}{more}")
    badges += [f"since {node['since']}"] if "since" in node else []
    badges += ["**deprecated**"] if node.get("deprecated") else []
    return Badges(tuple(badges))


def _values(document: Document, name: str) -> Iterator[Block]:
    """Yield the values of an enum, and where their names are in Python."""
    node = document.definitions[name]
    yield from value_table(node)
    made = class_of_values(name, node)
    if made is not None:
        yield Text(f"In Python the names are constants of `{document.module}.{made}`.")
