"""The pages where readers start: the home page, and the one that leads to the reference."""

from __future__ import annotations

__all__ = ("home_page", "reference_page")

import re
from collections.abc import Iterator, Sequence

from kinwire_codegen.docs.reference.blocks import (
    Block,
    Heading,
    Page,
    PageEntry,
    PageList,
    Prose,
    ProtocolCards,
    TableBlock,
    Text,
)
from kinwire_codegen.docs.reference.links import Links
from kinwire_codegen.docs.reference.methods import sender
from kinwire_codegen.docs.site.guides import ABOUT, Opening
from kinwire_codegen.docs.site.inline import plain
from kinwire_codegen.load.document import Document

LARGEST = 120
"""The number of methods and tools up to which the page of the reference lists all of them."""


def home_page(links: Links, title: str, opening: Opening) -> Page:
    """Return the first page: what the README begins with, the guides, and the protocols."""
    lead = opening.lead or _counted(links)
    blocks: list[Block] = [Prose(lead)]
    if opening.text:
        blocks.append(Prose(opening.text))
    for group in (one for one in opening.groups if one.label != ABOUT):
        label = re.sub(r"\W+", "-", group.label.lower()).strip("-")
        blocks += [Heading(group.label, anchor=f"home.{label}"), PageList(group.entries)]
    protocols = "Everything that is sent is in [the reference](../../reference.md)."
    blocks += [Heading("Protocols", anchor="home.protocols"), Text(protocols)]
    blocks.append(ProtocolCards(tuple(links.chosen)))
    sentences = " ".join(lead.partition("\n\n")[0].split())
    summary = plain(sentences[: sentences.rfind(".") + 1] or sentences)
    return Page("README", title, "start", summary, None, tuple(blocks))


def reference_page(links: Links, shared: Sequence[Page]) -> Page:
    """Return the page that leads to the protocols, to what they share, and to every method."""
    counted = _counted(links)
    decisions = (
        "Where a specification leaves a question open, a box called *Decision* shows the answer"
        " that is implemented here."
    )
    entries = (PageEntry(one.name, f"../../{one.path}.md", one.summary) for one in shared)
    blocks: list[Block] = [Text(counted), Text(decisions), ProtocolCards(tuple(links.chosen))]
    blocks += [Heading("In all protocols", anchor="shared"), PageList(tuple(entries))]
    rows = [(document, list(_rows(links, document))) for document in links.chosen]
    if sum(len(some) for _, some in rows) > LARGEST:
        lists = "Too many to list here: the page of each protocol leads to its methods."
        blocks += [Heading("Methods", anchor="methods"), Text(lists)]
        rows.clear()
    for document, some in rows:
        if some:
            blocks.append(Heading(document.content["title"], anchor=document.name))
            blocks.append(TableBlock.of(("name", "sent by", "kind", "meaning"), some))
    return Page("reference", "Reference", "reference", counted, None, tuple(blocks))


def _counted(links: Links) -> str:
    rows = [len(list(_rows(links, document))) for document in links.chosen]
    speaking = len(list(filter(None, rows)))
    protocols = f"{speaking} protocol{'' if speaking == 1 else 's'}"
    return f"{sum(rows)} methods and tools of {protocols}, with every field, type and error."


def _rows(links: Links, document: Document) -> Iterator[tuple[str, str, str, str]]:
    for table in ("methods", "tools"):
        for wire, row in document.table(table).items():
            link = links.row(document.name, table, wire)
            yield link, sender(document, row), row.get("kind", "tool"), row["summary"]
