"""A page a pair of versions: what changed between them, and who breaks."""

from __future__ import annotations

__all__ = ("changes_pages",)

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from kinwire_codegen.compare import Comparison, DocumentChange, compare
from kinwire_codegen.compare.verdict import Category, Level
from kinwire_codegen.document import Documents
from kinwire_codegen.reference.blocks import Block, Heading, Items, Page, TableBlock, TableRow, Text

CATEGORIES = (Category.WIRE, Category.BINDINGS)
_WORDS = {Level.BREAKING: "breaking", Level.WARNING: "to look at", Level.SAFE: "safe"}


def changes_pages(documents: Documents, olds: Iterable[tuple[str, Documents]]) -> Iterator[Page]:
    """Yield a page for each older state of the documents, and one that leads to these."""
    compared = [(name, compare(old, documents)) for name, old in olds]
    pages = [_page(name, comparison) for name, comparison in compared]
    links = [f"[{page.title}](../../{page.path}.md): {page.summary}" for page in pages]
    if links:
        summary = (
            "What changed in the documents since an earlier state of them, and who breaks by it."
        )
        blocks = (Text(summary), Items(tuple(links)))
        yield Page("changes/README", "Changes", "changes", summary, None, blocks)
    yield from pages


def _page(name: str, comparison: Comparison) -> Page:
    path = f"changes/{re.sub(r'[^A-Za-z0-9.-]+', '-', name).strip('-.')}"
    blocks = tuple(_blocks(comparison))
    return Page(path, f"Since {name}", "changes", _summary(comparison), None, blocks)


def _summary(comparison: Comparison) -> str:
    counted = Counter(change.level for change in comparison.of(*CATEGORIES))
    return ", ".join(f"{counted[level]} {word}" for level, word in _WORDS.items()) + "."


def _blocks(comparison: Comparison) -> Iterator[Block]:
    yield Text(_summary(comparison))
    moved = [
        f"{protocol}: {was} → {is_now}"
        for protocol, (was, is_now) in comparison.versions.items()
        if was != is_now
    ]
    if moved:
        yield Items(tuple(moved))
    found = comparison.of(*CATEGORIES)
    for protocol, some in groupby(found, key=lambda change: change.protocol):
        yield Heading(protocol, anchor=protocol)
        columns = ("what", "rule", "verdict", "breaks")
        yield TableBlock(columns, tuple(map(_row, some)))
    if not found:
        yield Text("Nothing changed.")


def _row(change: DocumentChange) -> TableRow:
    what = "".join(f"\\{sign}" if sign in "\\`*_[]<>" else sign for sign in change.what)
    if change.anchor:
        what = f"[{what}](../../{change.anchor})"
    breaks = ", ".join(map(str, change.breaks))
    return TableRow(
        (what, f"{change.rule.id} {change.rule.name}", change.level.name.lower(), breaks)
    )
