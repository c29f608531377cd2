"""What a protocol adds to messages of others, compared by message and member."""

from __future__ import annotations

__all__ = ("Augments", "compare_augments")

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kinwire_codegen.compare.anchors import anchor_of
from kinwire_codegen.compare.change import DocumentChange, changed
from kinwire_codegen.compare.flows import row_flow
from kinwire_codegen.compare.types import Pair
from kinwire_codegen.compare.verdict import Flow, Way
from kinwire_codegen.load.document import Document, resolve

Row = Mapping[str, Any]


@dataclass
class Augments:
    """What comparing the augments of a document gave."""

    changes: list[DocumentChange] = field(default_factory=list)
    pairs: list[tuple[Pair, Flow]] = field(default_factory=list)


def compare_augments(before: Document, after: Document) -> Augments:
    """Return what changed in what one protocol adds to others' messages."""
    found = Augments()
    olds, news = _by_place(before), _by_place(after)
    for key, (index, row) in olds.items():
        if key not in news:
            flow = _flow(before, row)
            found.changes.append(
                _told("augment-removed", before, index, f"{_label(row)} is gone", flow, gone=True)
            )
    for key, (index, row) in news.items():
        flow = _flow(after, row)
        if key not in olds:
            what = f"{_label(row)} is new"
            found.changes.append(_told("augment-added", after, index, what, flow))
            continue
        found.changes += _changed(after, index, olds[key][1], row, flow)
        texts = olds[key][1]["schema"]["$ref"], row["schema"]["$ref"]
        was, is_now = (resolve(text, after.name) for text in texts)
        pair = Pair(was, is_now)
        found.pairs.append((pair, flow))
    return found


def _by_place(document: Document) -> dict[tuple[str, str], tuple[int, Row]]:
    return {
        (str(sorted(row["to"].items())), row["member"]): (index, row)
        for index, row in enumerate(document.augments)
    }


def _changed(
    document: Document, index: int, old: Row, new: Row, flow: Flow
) -> Iterator[DocumentChange]:
    if old["from"] != new["from"]:
        what = f"{_label(new)}: written by {old['from']} before, by {new['from']} now"
        rule = {new["from"]: "augment-added", old["from"]: "augment-writer-narrowed"}.get(
            "both", "augment-writer-changed"
        )
        yield _told(rule, document, index, what, flow)
    for name in sorted({*new.get("errors", ())} - {*old.get("errors", ())}):
        what = f"{_label(new)}: {name} is a new error"
        yield _told("error-of-method-added", document, index, what, flow)
    for name in sorted({*old.get("errors", ())} - {*new.get("errors", ())}):
        what = f"{_label(new)}: the error {name} is gone"
        yield _told("error-of-method-removed", document, index, what, flow)


def _flow(document: Document, row: Row) -> Flow:
    to = row["to"]
    part = to.get("part", to.get("every"))
    way = {"params": Way.REQUEST, None: Way.EVENT}.get(part, Way.RESULT)
    flow = row_flow(document, _label(row), {"from": row["from"]})
    sender, receiver = flow.sender, flow.receiver
    if way is Way.RESULT:  # who writes a result received the request
        sender, receiver = receiver, sender
    return Flow(_label(row), way, sender, receiver)


def _label(row: Row) -> str:
    to = row["to"]
    where = to.get("def") or f"every {to.get('every')}"
    if "method" in to:
        where = f"{to['method']} {to.get('part', '')}".strip()
    return f"{row['member']} in {where}"


def _told(
    rule: str, document: Document, index: int, what: str, flow: Flow, *, gone: bool = False
) -> DocumentChange:
    place = ("augments", index)
    anchor = anchor_of(document, place)
    return changed(rule, document.name, place, what, flows=[flow], gone=gone, anchor=anchor)
