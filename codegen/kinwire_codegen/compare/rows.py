"""Methods and tools of two sides brought together, and what has changed in each row."""

from __future__ import annotations

__all__ = ("Rows", "Successors", "compare_rows")

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from kinwire_codegen.compare.anchors import anchor_of
from kinwire_codegen.compare.change import DocumentChange, changed
from kinwire_codegen.compare.deprecation import is_deprecated
from kinwire_codegen.compare.flows import row_flow
from kinwire_codegen.compare.likeness import alike
from kinwire_codegen.compare.members import shape_of
from kinwire_codegen.compare.sides import Side
from kinwire_codegen.compare.types import Pair
from kinwire_codegen.compare.verdict import OLD_RECEIVERS, OLD_SENDERS, Flow
from kinwire_codegen.load.document import Document, Reference, resolve

LIKE = 0.8  # of the members of two rows, for them to be one under another name
LISTS = (("aliases", "alias", "name"), ("errors", "error-of-method", "error"))
WITHDRAWN = "considered"
PARTS = ("params", "result", "partialResult", "registrationOptions")

Successors = dict[tuple[str, str], str | None]
Row = Mapping[str, Any]
Shape = set[tuple[str, str, str, bool]]
"""Part, name, type and whether it is required, of each member of a row."""
Shapes = dict[str, Shape]


@dataclass
class Rows:
    """What comparing the rows of a document gave."""

    changes: list[DocumentChange] = field(default_factory=list)
    pairs: list[tuple[Pair, Flow]] = field(default_factory=list)
    """The types of params and results that stand for each other."""
    successors: Successors = field(default_factory=dict)
    """The wire name now of each row that was there, by table and wire name; None if it is gone."""


def compare_rows(old: Side, new: Side, before: Document, after: Document) -> Rows:
    """Return what changed in the methods and tools of one protocol."""
    found = Rows()
    for table in ("methods", "tools"):
        comparison = _RowComparison(old, new, before, after, table)
        found.changes += comparison.changes()
        found.pairs += comparison.pairs()
        found.successors |= comparison.successors()
    return found


@dataclass(frozen=True)
class _RowComparison:
    old: Side
    new: Side
    before: Document
    after: Document
    table: str

    @cached_property
    def _matched(self) -> list[tuple[str | None, str | None, int]]:
        """Return the wire names that stand for each other, with how like they are if renamed."""
        olds, news = self.before.table(self.table), self.after.table(self.table)
        gone, fresh = [n for n in olds if n not in news], [n for n in news if n not in olds]
        found: list[tuple[str | None, str | None, int]] = [(n, n, 0) for n in olds if n in news]
        for name in gone:
            best = max(((self._alike(name, other), other) for other in fresh), default=(0.0, ""))
            if best[0] >= LIKE:
                fresh.remove(best[1])
                found.append((name, best[1], round(100 * best[0])))
            else:
                found.append((name, None, 0))
        return [*found, *((None, name, 0) for name in fresh)]

    @cached_property
    def _members(self) -> tuple[Shapes, Shapes]:
        """The members of every row that only one side has."""
        olds, news = self.before.table(self.table), self.after.table(self.table)
        return (
            {n: _members(self.old, self.before, olds[n]) for n in olds if n not in news},
            {n: _members(self.new, self.after, news[n]) for n in news if n not in olds},
        )

    def _alike(self, name: str, other: str) -> float:
        row, there = self.before.table(self.table)[name], self.after.table(self.table)[other]
        if name in there.get("aliases", ()):
            return 1.0
        if any(row.get(key) != there.get(key) for key in ("kind", "from")):
            return 0.0
        olds, news = self._members[0][name], self._members[1][other]
        shared = len(olds & news) / max(len(olds | news), 1)
        # Rows with few members are all alike: their names decide then.
        return shared if len(olds & news) > 3 else shared * min(1.0, alike(name, other) + 0.2)

    def pairs(self) -> Iterator[tuple[Pair, Flow]]:
        """Yield the types of params and results that stand for each other."""
        for name, other, _ in self._matched:
            if name is None or other is None:
                continue
            row, there = self.before.table(self.table)[name], self.after.table(self.table)[other]
            for part in PARTS:
                if part in row and part in there and self._stands_for(part, row, there):
                    kinds = (
                        resolve(row[part], self.before.name),
                        resolve(there[part], self.after.name),
                    )
                    by_position = part == "params" and all(map(_by_position, (row, there)))
                    flow = row_flow(self.after, other, there, part)
                    yield Pair(*kinds, by_position=by_position), flow

    def _stands_for(self, part: str, row: Row, there: Row) -> bool:
        """Return whether the types of a part stand for each other: any result says nothing."""
        return part != "result" or (
            self._has_output(self.before, row) == self._has_output(self.after, there)
        )

    def successors(self) -> Successors:
        """Return what each row that was there is called now."""
        return {(self.table, name): other for name, other, _ in self._matched if name is not None}

    def changes(self) -> Iterator[DocumentChange]:
        """Yield what changed, except types."""
        for name, other, share in self._matched:
            if other is None and name is not None:
                yield from self._removed(name)
            elif name is None and other is not None:
                yield self._told("method-added", other, f"{other} is new")
            elif name is not None and other is not None:
                yield from self._renamed(name, other, share)
                yield from self._changed(name, other)

    def _removed(self, name: str) -> Iterator[DocumentChange]:
        yield self._told("method-removed", name, f"{name} is gone", gone=True)
        if not is_deprecated(self.before.table(self.table)[name]):
            what = f"{name} was not deprecated before it was removed"
            yield self._told("removed-without-deprecation", name, what, gone=True)

    def _renamed(self, name: str, other: str, share: int) -> Iterator[DocumentChange]:
        if name == other:
            return
        kept = name in self.after.table(self.table)[other].get("aliases", ())
        rule = "method-renamed-with-alias" if kept else "method-renamed"
        how = "renamed" if kept else f"renamed? ({share} % same shape)"
        yield self._told(rule, other, f"{name} is {other} now: {how}")

    def _changed(self, name: str, other: str) -> Iterator[DocumentChange]:
        row, there = self.before.table(self.table)[name], self.after.table(self.table)[other]
        for key, one_rule in (("kind", _kind_rule), ("from", _sender_rule)):
            if row.get(key) != there.get(key):
                rule = one_rule(row.get(key), there.get(key))
                change = self._told(rule, other, f"{other}: {_was(key, row, there)}", key)
                flows = row_flow(self.before, name, row), row_flow(self.after, other, there)
                yield _of_old_ends(change, *flows)
        yield from self._parts(other, row, there)
        for key, rule in (("gate", "gate-moved"), ("order", "order-changed")):
            if row.get(key) != there.get(key):
                yield self._told(rule, other, f"{other}: {_was(key, row, there)}", key)
        if row.get("entry") != there.get("entry"):
            what = f"{other}: its entry in lists has changed"
            yield self._told("tool-entry-changed", other, what, "entry")
        yield from self._status(other, *(one.get("status") == WITHDRAWN for one in (row, there)))
        yield from self._lists(name, other, row, there)
        yield from self._classes(other, row, there)

    def _parts(self, other: str, row: Row, there: Row) -> Iterator[DocumentChange]:
        if ("result" in row) != ("result" in there) and row.get("kind") == there.get("kind"):
            what = f"{other}: {_was('result', row, there)}"
            yield self._told("part-changed", other, what, "result")
        if ("params" in row) != ("params" in there):
            yield from self._params(other, row, there)
        for key in ("partialResult", "registrationOptions", "registrationMethod"):
            texts = row.get(key), there.get(key)
            if texts[0] != texts[1] and (None in texts or key == "registrationMethod"):
                what = f"{other}: {_was(key, row, there)}"
                yield self._told("part-of-method-changed", other, what, key)
        outputs = self._has_output(self.before, row), self._has_output(self.after, there)
        if outputs[0] != outputs[1]:
            verb, word = ("added", "says") if outputs[1] else ("removed", "does not say")
            what = f"{other} {word} what its output is now"
            yield self._told(f"output-schema-{verb}", other, what, "result", part="result")
        if "params" in row and _by_position(row) != _by_position(there):
            what = f"{other}: {_was('paramsBy', row, there)}"
            yield self._told("part-changed", other, what, "paramsBy")

    def _status(self, name: str, was: bool, is_now: bool) -> Iterator[DocumentChange]:
        if is_now and not was:
            yield self._told("method-withdrawn", name, f"{name} is only considered now", "status")
        elif was and not is_now:
            yield self._told("method-established", name, f"{name} is defined now", "status")

    def _params(self, other: str, row: Row, there: Row) -> Iterator[DocumentChange]:
        """Yield that params came or went: without params all fields are absent."""
        is_new = "params" in there
        side, document, text = (
            (self.new, self.after, there["params"])
            if is_new
            else (self.old, self.before, row["params"])
        )
        typed = side.object_named(resolve(text, document.name))
        if typed is None or not typed.node.keys() & {"properties", "allOf", "type"}:
            yield self._told("part-changed", other, f"{other}: {_was('params', row, there)}")
            return
        word = "required" if side.required(typed) else "optional"
        verb, state = ("added", "new") if is_new else ("removed", "gone")
        what = f"{other}: params are {state}, and {word}"
        yield self._told(f"{word}-member-{verb}", other, what, "params")

    def _has_output(self, document: Document, row: Row) -> bool:
        """Return whether a row is a tool that says what its output is: not just any result."""
        if self.table != "tools" or "result" not in row:
            return False
        return resolve(row["result"], document.name) != self._any_result(document)

    def _any_result(self, document: Document) -> Reference | None:
        """Return the type that `tools/call` itself returns."""
        side = self.old if document is self.before else self.new
        called = side.documents.caller(document)
        if called is None or "result" not in called[1]:
            return None
        return resolve(called[1]["result"], called[0].name)

    def _lists(self, name: str, other: str, row: Row, there: Row) -> Iterator[DocumentChange]:
        for key, rule, word in LISTS:
            olds, news = set(row.get(key, ())), set(there.get(key, ()))
            for one in sorted(olds - news - {other}):
                yield self._told(
                    f"{rule}-removed", other, f"{other}: the {word} {one} is gone", key
                )
            for one in sorted(news - olds - {name}):
                what = f"{other}: {one} is a new {word}"
                yield self._told(f"{rule}-added", other, what, key)

    def _classes(self, wire: str, row: Row, there: Row) -> Iterator[DocumentChange]:
        """Yield where another existing class is used now; not for renamed classes."""
        for part in sorted({*PARTS} & row.keys() & there.keys()):
            was = resolve(row[part], self.before.name)
            is_now = resolve(there[part], self.after.name)
            stands = self._stands_for(part, row, there)
            if stands and was != is_now and (was in self.new.names or is_now in self.old.names):
                what = f"{wire} {part}: {is_now.name} in Python, and was {was.name}"
                yield self._told("annotation-changed", wire, what, part)

    def _told(
        self,
        rule: str,
        wire: str,
        what: str,
        *steps: str,
        gone: bool = False,
        part: str = "params",
    ) -> DocumentChange:
        document = self.before if gone else self.after
        row = document.table(self.table)[wire]
        place = (self.table, wire, *(step for step in steps if step in row))
        anchor = anchor_of(document, ()) if gone else anchor_of(document, place)
        flow = row_flow(document, wire, row, part)
        return changed(rule, document.name, place, what, flows=[flow], gone=gone, anchor=anchor)


def _members(side: Side, document: Document, row: Row) -> Shape:
    found = set()
    for part in ("params", "result"):
        kind = resolve(row[part], document.name) if part in row else None
        typed = side.object_named(Reference(*kind)) if kind else None
        for name, member in side.members(typed).items() if typed else ():
            found.add((part, name, shape_of(member.typed.node), member.required))
    return found


def _of_old_ends(change: DocumentChange, old: Flow, new: Flow) -> DocumentChange:
    """Return the change with the ends that its victims are, if it is about who sends."""
    if change.rule.name == "sender-changed":
        ends = {OLD_SENDERS: old.sender, OLD_RECEIVERS: new.receiver}
    elif change.rule.name == "sender-narrowed":
        ends = {OLD_SENDERS: new.receiver}  # the end that sends no more
    else:
        return change
    victims = tuple(one._replace(roles=(ends[one.group],)) for one in change.breaks)
    return replace(change, breaks=victims)


def _by_position(row: Row) -> bool:
    return row.get("paramsBy") == "position"


def _kind_rule(was: Any, is_now: Any) -> str:
    if "either" in (was, is_now):
        return "kind-widened" if is_now == "either" else "kind-narrowed"
    return "kind-changed"


def _sender_rule(was: Any, is_now: Any) -> str:
    if "both" in (was, is_now):
        return "sender-widened" if is_now == "both" else "sender-narrowed"
    return "sender-changed"


def _was(key: str, row: Row, there: Row) -> str:
    word = {"from": "sender"}.get(key, key)
    return f"{word} was {_text(row.get(key))} and is {_text(there.get(key))}"


def _text(value: Any) -> str:
    return "unset" if value is None else value if isinstance(value, str) else json.dumps(value)
