"""A change as it is reported: which rule, where, to whom, and how badly."""

from __future__ import annotations

__all__ = ("DocumentChange", "changed")

from collections.abc import Iterable
from dataclasses import dataclass

from kinwire_codegen.compare.rules import Rule, rule
from kinwire_codegen.compare.verdict import Flow, Level, Victim, judge
from kinwire_codegen.load.findings import Place, pointer
from kinwire_codegen.load.names import visible


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """One difference between two sides."""

    rule: Rule
    level: Level
    protocol: str
    place: Place
    """Where: in the new documents, or in the old ones if it is `gone`."""
    gone: bool
    what: str
    breaks: tuple[Victim, ...]
    """Who stays behind."""
    flows: tuple[str, ...]
    """On which ways the type is sent; empty if the change is not about a type."""
    anchor: str | None
    """The page of the reference and the place there; None if there is no page."""

    @property
    def pointer(self) -> str:
        """The place as a JSON pointer."""
        return pointer(*self.place)

    @property
    def order(self) -> tuple[str, str, str, str]:
        """What changes are sorted by."""
        return (self.protocol, self.pointer, self.rule.id, self.what)


def changed(
    name: str,
    protocol: str,
    place: Place,
    what: str,
    *,
    flows: Iterable[Flow] = (),
    gone: bool = False,
    anchor: str | None = None,
) -> DocumentChange:
    """Return a change by the name of its rule."""
    row, found = rule(name), sorted(flows)
    level, victims = judge(row.effect, found)
    labels = tuple(dict.fromkeys(flow.label for flow in found)) if row.of_types else ()
    return DocumentChange(row, level, protocol, place, gone, visible(what), victims, labels, anchor)
