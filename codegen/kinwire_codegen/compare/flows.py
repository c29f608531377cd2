"""On which ways each pair of types is sent: from the rows down to what they are made of."""

from __future__ import annotations

__all__ = ("Roots", "data_flow", "library_roots", "other_roots", "row_flow", "spread")

from collections.abc import Iterator, Mapping
from typing import Any

from kinwire_codegen.compare.sides import Side
from kinwire_codegen.compare.types import Pair
from kinwire_codegen.compare.verdict import Flow, Way
from kinwire_codegen.load.document import Document, resolve
from kinwire_codegen.load.places import at

Roots = dict[Pair, set[Flow]]
"""The pairs that stand in messages directly, with the ways of those."""

Row = Mapping[str, Any]


def row_flow(document: Document, wire: str, row: Row, part: str = "params") -> Flow:
    """Return how a part of a method or tool goes."""
    roles = document.content["roles"]
    ends = (roles["client"], roles["server"])
    sender, receiver = {
        "client": ends,
        "server": ends[::-1],
        "both": (f"{ends[0]} or {ends[1]}",) * 2,
    }[row.get("from", "client")]
    label = f"{wire} {part}"
    if part == "partialResult":  # in notifications of progress, from who answers
        return Flow(label, Way.EVENT, receiver, sender)
    if part == "registrationOptions":  # who handles the method asks for it
        return Flow(label, Way.REQUEST, receiver, sender)
    way = Way.REQUEST if row.get("kind", "request") == "request" else Way.EVENT
    return Flow(label, Way.RESULT if part == "result" else way, sender, receiver)


def data_flow(document: Document, label: str, way: Way) -> Flow:
    """Return the flow of data outside of rows: events from the server, the rest from the client."""
    ends = [document.content["roles"][end] for end in ("client", "server")]
    return Flow(label, way, *(ends[::-1] if way is Way.EVENT else ends))


def spread(roots: Roots, inner: Mapping[Pair, set[Pair]]) -> Roots:
    """Return the ways of every pair that can be reached from `roots`."""
    found: Roots = {pair: set(flows) for pair, flows in roots.items()}
    waiting = list(found)
    while waiting:
        here = waiting.pop()
        for there in inner.get(here, ()):
            known = found.setdefault(there, set())
            if not found[here] <= known:
                known |= found[here]
                waiting.append(there)
    return found


def other_roots(old: Side, new: Side, document: Document) -> Iterator[tuple[Pair, Flow]]:
    """Yield the types that stand outside of rows, on both sides of one document."""
    before = old.document(document.name)
    if before is None:
        return
    for pattern, label, way in OUTSIDE:
        olds = dict(at(before.content, pattern))
        for place, text in at(document.content, pattern):
            if place in olds and isinstance(olds[place], str):
                pair = Pair(resolve(olds[place], document.name), resolve(text, document.name))
                name = label.format(*(step for step in place if isinstance(step, str)))
                yield pair, data_flow(document, name, way)


OUTSIDE = (
    ("errors/*/data", "data of {1}", Way.RESULT),
    ("offers/client", "offer of the client", Way.REQUEST),
    ("offers/server", "offer of the server", Way.RESULT),
    ("http/paths/*/request", "HTTP {2} request", Way.REQUEST),
    ("http/paths/*/response", "HTTP {2} response", Way.RESULT),
    ("http/events/*/data", "HTTP event {2}", Way.EVENT),
    ("records/*/type", "{1}", Way.STORED),
)
"""Where types are used in messages and files, except rows and augments."""


def library_roots(old: Side, new: Side) -> Iterator[tuple[Pair, Flow]]:
    """Yield the types of documents without methods and tools: their users read and write them."""
    for reference in sorted(old.names & new.names):
        document = new.document(reference.protocol)
        if document is not None and not _speaks(document):
            pair = Pair(reference, reference)
            yield pair, data_flow(document, reference.name, Way.EVENT)


def _speaks(document: Document) -> bool:
    return any(document.table(table) for table in ("methods", "tools"))
