"""Pages of what changed between two versions, and who is affected."""

from __future__ import annotations

__all__ = ("changes_pages",)

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from kinwire_codegen.compare import Comparison, DocumentChange, compare
from kinwire_codegen.compare.verdict import Category, Level
from kinwire_codegen.docs.reference.blocks import (
    Block,
    Heading,
    Items,
    Page,
    PageEntry,
    PageList,
    TableBlock,
    TableRow,
    Text,
)
from kinwire_codegen.docs.site.rules import rule_link
from kinwire_codegen.load.document import Documents

CATEGORIES = (Category.WIRE, Category.BINDINGS)
_WORDS = {Level.BREAKING: "breaking", Level.WARNING: "to check", Level.SAFE: "safe"}


def changes_pages(
    documents: Documents, olds: Iterable[tuple[str, Documents]], changelog: Page | None
) -> Iterator[Page]:
    """Yield a page for each older state of the documents, after one that lists them."""
    compared = [(name, compare(old, documents)) for name, old in olds]
    pages = [_page(name, comparison) for name, comparison in compared]
    listed = [*pages, *([changelog] if changelog is not None else [])]
    entries = (PageEntry(one.name, f"../../{one.path}.md", one.summary) for one in listed)
    summary = "What changed in the protocols since an earlier version, and who is affected."
    blocks = (Text(summary), PageList(tuple(entries)))
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
    return TableRow((what, rule_link(change.rule), change.level.name.lower(), breaks))
