"""The page of a type: what it is made of, examples, and where it is used."""

from __future__ import annotations

__all__ = ("type_page",)

from collections.abc import Iterator

from kinwire_codegen.document import Document, Reference, members_of
from kinwire_codegen.reference.links import Links
from kinwire_codegen.reference.parts import decision, examples, head, member_table
from kinwire_codegen.reference.shapes import shape


def type_page(links: Links, document: Document, name: str) -> str:
    """Return the page of a type."""
    return "\n".join([*head(name, document), *_type(links, document, name)])


def _type(links: Links, document: Document, name: str) -> Iterator[str]:
    node, here = document.definitions[name], Reference(document.name, name)
    yield f"`{document.module}.{name}` · {document.content['title']} {document.content['version']}"
    yield from ("", node["description"], "", *decision(node))
    if members_of(links.documents, here)[0]:
        yield from member_table(links, here)
    else:
        yield from (shape(links, node, document.name), "")
    if "discriminator" in node:
        yield from (f"Told apart by `{node['discriminator']['propertyName']}`.", "")
    bases = [part["$ref"] for part in node.get("allOf", ()) if "$ref" in part]
    if bases:
        shown = ", ".join(links.named(base, document.name) for base in bases)
        yield from (f"Has everything of {shown}.", "")
    if "examples" in node:
        yield from ("## Examples", "", *examples(node["examples"]))
    users = sorted(links.users(here))
    if users:
        yield from ("## Used by", "", *(f"- {user}" for user in users), "")
