"""Who breaks: one entry a change, for people, for programs, and for GitHub's pull requests."""

from __future__ import annotations

__all__ = ("as_github", "as_json", "as_text")

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from kinwire_codegen.commands.common import count
from kinwire_codegen.commands.reports.report import Report
from kinwire_codegen.compare.policy import AcceptedFinding, ReviewedChange, fingerprint
from kinwire_codegen.load.names import visible

SHOWN_FLOWS = 3


def as_text(report: Report) -> str:
    """Return what somebody may notice, worst first in each file, and how much there is."""
    lines = [line for one in report.shown for line in _lines(report, one)]
    return _joined([*lines, _summary(report), *report.version_lines()])


def _joined(lines: Iterable[str]) -> str:
    """Return lines as a text; what documents say must not begin a line, a command of GitHub's."""
    return "\n".join(map(visible, lines))


def _lines(report: Report, one: ReviewedChange) -> Iterator[str]:
    change = one.change
    path, (line, column) = report.place(change)
    category, level = change.rule.category.name.lower(), change.level.name.lower()
    verdict = level if one.accepted is None else "accepted"
    yield f"{path}:{line}:{column}: {change.rule.id} {category} {verdict}: {change.what}"
    if one.accepted is not None:
        yield f"    reason: {' '.join(one.accepted.reason.split())}"
    if change.breaks:
        yield f"    breaks: {', '.join(map(str, change.breaks))}"
    if change.flows:
        more = len(change.flows) - SHOWN_FLOWS
        rest = [f"{more} more"] if more > 0 else []
        yield f"    in:     {', '.join([*change.flows[:SHOWN_FLOWS], *rest])}"
    if change.anchor:
        yield f"    docs:   {change.anchor}"


def _summary(report: Report) -> str:
    counted = report.counted
    words = [f"{counted['breaking']} breaking"]
    words += [count(counted["warning"], "warning"), f"{counted['safe']} safe"]
    words += [f"{counted['accepted']} accepted"] if counted["accepted"] else []
    versions = sorted({step.old for step in report.review.versions.values()})
    version = f" {versions[0]}" if len(versions) == 1 else ""
    return f"{', '.join(words)}   (against{version}: {report.old.name})"


def as_json(report: Report) -> str:
    """Return everything as one JSON object."""
    review = report.review
    content = {
        "against": report.old.name,
        "summary": report.counted,
        "protocols": {
            name: {
                "from": step.old,
                "to": step.new,
                "versions": step.scheme.value,
                "announced": step.announces_breaks,
                "needed": review.needed(name, *report.categories),
            }
            for name, step in review.versions.items()
        },
        "changes": [_entry(report, one) for one in report.found],
        "stale": [_accepted(one) for one in review.stale],
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def _entry(report: Report, one: ReviewedChange) -> dict[str, Any]:
    """Return one change for programs."""
    change = one.change
    path, (line, column) = report.place(change)
    return {
        "rule": change.rule.id,
        "name": change.rule.name,
        "category": change.rule.category.name.lower(),
        "heading": change.rule.heading.name.lower(),
        "level": change.level.name.lower(),
        "fails": one.fails,
        "accepted": one.accepted and _accepted(one.accepted),
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
        "fingerprint": fingerprint(change),
    }


def _accepted(one: AcceptedFinding) -> dict[str, str]:
    entry = asdict(one)
    return {**one.key._asdict(), **{key: entry[key] for key in ("reason", "by", "date")}}


def as_github(report: Report) -> str:
    """Return an annotation for each change that somebody may notice.

    What fails is an error, what is accepted a notice, and the rest a warning.
    """
    lines = []
    for one in report.shown:
        change = one.change
        path, (line, column) = report.place(change)
        broken = f". Breaks: {', '.join(map(str, change.breaks))}" if change.breaks else ""
        reason = f". Accepted: {one.accepted.reason}" if one.accepted is not None else ""
        title = _property(f"{change.rule.id} {change.rule.name}")
        place = f"file={_property(path)},line={line},col={column},title={title}"
        verb = "error" if one.fails else "warning" if one.accepted is None else "notice"
        lines.append(f"::{verb} {place}::{_data(change.what + broken + reason)}")
    for stale in report.review.stale:
        what = f"An accepted finding no longer occurs: {stale.key.rule} {stale.key.what}"
        lines.append(f"::warning file={_property(report.policy_file)}::{_data(what)}")
    return _joined([*lines, _summary(report), *report.version_lines()])


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
