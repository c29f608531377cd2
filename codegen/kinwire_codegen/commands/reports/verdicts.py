"""Who breaks: one entry a change, for people, for programs, and for GitHub's pull requests."""

from __future__ import annotations

__all__ = ("as_github", "as_json", "as_text")

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from kinwire_codegen.compare import Comparison, DocumentChange
from kinwire_codegen.compare.verdict import Category, Level
from kinwire_codegen.load.positions import Position
from kinwire_codegen.load.sources import DocumentSource

SHOWN_FLOWS = 3

Categories = Sequence[Category]


def as_text(
    comparison: Comparison, old: DocumentSource, new: DocumentSource, categories: Categories
) -> str:
    """Return what somebody may notice, worst first in each file, and how much there is."""
    found = comparison.of(*categories)
    lines = [line for change in found if change.level for line in _lines(change, old, new)]
    lines += [_summary(found, old, comparison)]
    lines += _announced(comparison, found)
    return "\n".join(lines)


def _lines(change: DocumentChange, old: DocumentSource, new: DocumentSource) -> Iterator[str]:
    path, (line, column) = _place(change, old, new)
    category, level = change.rule.category.name.lower(), change.level.name.lower()
    yield f"{path}:{line}:{column}: {change.rule.id} {category} {level}: {change.what}"
    if change.breaks:
        yield f"    breaks: {', '.join(map(str, change.breaks))}"
    if change.flows:
        more = len(change.flows) - SHOWN_FLOWS
        rest = [f"{more} more"] if more > 0 else []
        yield f"    in:     {', '.join([*change.flows[:SHOWN_FLOWS], *rest])}"
    if change.anchor:
        yield f"    docs:   {change.anchor}"


def _place(
    change: DocumentChange, old: DocumentSource, new: DocumentSource
) -> tuple[str, Position]:
    """Return where a change stands in the new documents; in the old ones if it is in no new one."""
    here = old if change.gone and change.protocol not in new.documents else new
    place = change.place[:-1] if change.gone else change.place
    return here.position(change.protocol, place)


def _summary(found: list[DocumentChange], old: DocumentSource, comparison: Comparison) -> str:
    counted = Counter(change.level for change in found)
    warnings = counted[Level.WARNING]
    words = [f"{counted[Level.BREAKING]} breaking"]
    words += [f"{warnings} warning{'' if warnings == 1 else 's'}", f"{counted[Level.SAFE]} safe"]
    versions = sorted({was for was, _ in comparison.versions.values()})
    version = f" {versions[0]}" if len(versions) == 1 else ""
    return f"{', '.join(words)}   (against{version}: {old.name})"


def _announced(comparison: Comparison, found: list[DocumentChange]) -> Iterator[str]:
    breaking = {change.protocol for change in found if change.level is Level.BREAKING}
    for protocol in sorted(breaking):
        if comparison.announced(protocol):
            was, is_now = comparison.versions[protocol]
            yield f"{protocol} rose from {was} to {is_now}: what breaks is announced"


def as_json(
    comparison: Comparison, old: DocumentSource, new: DocumentSource, categories: Categories
) -> str:
    """Return everything as one JSON object."""
    found = comparison.of(*categories)
    counted = Counter(change.level for change in found)
    report = {
        "against": old.name,
        "summary": {level.name.lower(): counted[level] for level in Level},
        "protocols": {
            name: {"from": was, "to": is_now, "announced": comparison.announced(name)}
            for name, (was, is_now) in comparison.versions.items()
        },
        "changes": [entry(change, old, new) for change in found],
    }
    return json.dumps(report, indent=2, ensure_ascii=False)


def entry(change: DocumentChange, old: DocumentSource, new: DocumentSource) -> dict[str, Any]:
    """Return one change for programs."""
    path, (line, column) = _place(change, old, new)
    return {
        "rule": change.rule.id,
        "name": change.rule.name,
        "category": change.rule.category.name.lower(),
        "heading": change.rule.heading.name.lower(),
        "level": change.level.name.lower(),
        "what": change.what,
        "breaks": [{"who": who, "roles": list(roles)} for who, roles in change.breaks],
        "in": list(change.flows),
        "file": path,
        "line": line,
        "column": column,
        "protocol": change.protocol,
        "pointer": change.pointer,
        "gone": change.gone,
        "docs": change.anchor,
    }


def as_github(
    comparison: Comparison, old: DocumentSource, new: DocumentSource, categories: Categories
) -> str:
    """Return an annotation for each change that somebody may notice; announced ones only warn."""
    found = comparison.of(*categories)
    lines = []
    for change in found:
        if change.level is Level.SAFE:
            continue
        path, (line, column) = _place(change, old, new)
        breaking = change.level is Level.BREAKING and not comparison.announced(change.protocol)
        victims = f". Breaks: {', '.join(map(str, change.breaks))}" if change.breaks else ""
        title = _property(f"{change.rule.id} {change.rule.name}")
        place = f"file={_property(path)},line={line},col={column},title={title}"
        verb = "error" if breaking else "warning"
        lines.append(f"::{verb} {place}::{_data(change.what + victims)}")
    return "\n".join([*lines, _summary(found, old, comparison)])


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
