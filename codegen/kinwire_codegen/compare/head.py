"""The head of a document: where the offer sits, and what is offered."""

from __future__ import annotations

__all__ = ("compare_head",)

from collections.abc import Iterator

from kinwire_codegen.compare.change import DocumentChange, changed
from kinwire_codegen.compare.flows import data_flow
from kinwire_codegen.compare.verdict import Way
from kinwire_codegen.load.document import Document
from kinwire_codegen.load.findings import Place


def compare_head(before: Document, after: Document) -> Iterator[DocumentChange]:
    """Yield what changed in how ends find out that they speak the protocol."""
    was, is_now = (document.content.get("capability") for document in (before, after))
    aliases = [set(one.content.get("capabilityAliases", ())) for one in (before, after)]
    if was != is_now:
        what = f"the offer was at {was or 'no place'} and is at {is_now or 'no place'}"
        yield _told("capability-moved", after, ("capability",), what)
    for alias in sorted(aliases[0] - aliases[1] - {is_now}):
        what = f"the offer is not read at {alias} now"
        yield _told("capability-alias-removed", after, ("capabilityAliases",), what)
    for alias in sorted(aliases[1] - aliases[0] - {was}):
        what = f"the offer is also read at {alias}"
        yield _told("capability-alias-added", after, ("capabilityAliases",), what)
    bases = [one.content.get("extends", []) for one in (before, after)]
    if bases[0] != bases[1]:
        was, is_now = (", ".join(one) or "no other protocol" for one in bases)
        yield _told("extends-changed", after, ("extends",), f"it built on {was}, now on {is_now}")
    offers = [one.content.get("offers", {}) for one in (before, after)]
    for role in sorted(offers[0].keys() ^ offers[1].keys()):
        word = "offers something" if role in offers[1] else "offers nothing"
        what = f"a {after.content['roles'][role]} {word} now"
        yield _told("offer-changed", after, ("offers",), what)


def _told(rule: str, document: Document, place: Place, what: str) -> DocumentChange:
    there = place if str(place[0]) in document.content else ()
    flow = data_flow(document, "", Way.REQUEST)
    anchor = f"{document.name}/README.md"
    return changed(rule, document.name, there, what, flows=[flow], anchor=anchor)
