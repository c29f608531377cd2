"""What changed, for people who read changelogs: Added, Changed, Deprecated, Removed."""

from __future__ import annotations

__all__ = ("as_markdown", "as_plain")

from collections.abc import Iterator
from urllib.parse import quote

from kinwire_codegen.compare import Comparison, DocumentChange
from kinwire_codegen.compare.rules import Heading
from kinwire_codegen.compare.verdict import Category, Level
from kinwire_codegen.load.names import visible


def as_markdown(comparison: Comparison, reference: str) -> str:
    """Return the part about protocols of a changelog, each line with a link below `reference`."""
    lines = ["### Protocols"]
    for heading, found in _grouped(comparison):
        lines += ["", f"#### {heading.name.title()}", ""]
        lines += [f"- {_linked(change, reference)}" for change in found]
    return "\n".join(lines)


def as_plain(comparison: Comparison) -> str:
    """Return the same for a terminal, with the page and anchor behind each line."""
    lines: list[str] = []
    for heading, found in _grouped(comparison):
        lines += [*([""] if lines else []), heading.name.title()]
        lines += [f"  {_told(change)}  [{change.anchor or 'no page'}]" for change in found]
    return "\n".join(map(visible, lines)) if lines else "nothing changed"


def _grouped(comparison: Comparison) -> Iterator[tuple[Heading, list[DocumentChange]]]:
    found = [*comparison.of(Category.WIRE)]
    sent = {(one.protocol, one.place, one.gone) for one in found}
    found += [
        one
        for one in comparison.of(Category.BINDINGS)
        if one.level is Level.BREAKING and (one.protocol, one.place, one.gone) not in sent
    ]
    found.sort(key=lambda change: change.order)
    for heading in Heading:
        some = [change for change in found if change.rule.heading is heading]
        if some:
            yield heading, some


def _linked(change: DocumentChange, reference: str) -> str:
    text = f"{change.protocol}: {_escaped(change.what)}"
    target = quote(change.anchor or f"{change.protocol}/README.md", safe="/#.$:@")
    breaks = _escaped(visible(_breaking(change)))
    return f"{text} ([{change.rule.id}]({reference.rstrip('/')}/{target})){breaks}"


def _told(change: DocumentChange) -> str:
    return f"{change.protocol}: {change.what} ({change.rule.id}){_breaking(change)}"


def _breaking(change: DocumentChange) -> str:
    if change.level is not Level.BREAKING:
        return ""
    return f". Breaks {', '.join(map(str, change.breaks))}"


def _escaped(text: str) -> str:
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|#" else sign for sign in text)
