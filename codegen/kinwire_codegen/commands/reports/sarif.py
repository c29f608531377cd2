"""Findings as SARIF 2.1.0, which code scanning of forges and editors read.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/ is the specification. Safe changes are left out.
"""

from __future__ import annotations

__all__ = ("as_sarif",)

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kinwire_codegen.commands.reports.report import Report
from kinwire_codegen.compare.policy import AcceptedFinding, ReviewedChange, fingerprint
from kinwire_codegen.compare.rules import Rule
from kinwire_codegen.compare.verdict import Level

_LEVELS = {Level.BREAKING: "error", Level.WARNING: "warning"}
FINGERPRINT = "kinwireFinding/v1"
"""The name of our fingerprint: it does not depend on lines."""


def as_sarif(report: Report) -> str:
    """Return a SARIF log with one run."""
    rules = {one.change.rule.id: one.change.rule for one in report.shown}
    indices = {rule: index for index, rule in enumerate(sorted(rules))}
    run = {
        "tool": {
            "driver": {
                "name": "kinwire breaking",
                "rules": [_rule(report, rules[name]) for name in indices],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report)],
        "results": [_result(report, one, indices[one.change.rule.id]) for one in report.shown],
    }
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(log, indent=2, ensure_ascii=False)


def _rule(report: Report, rule: Rule) -> dict[str, Any]:
    page = report.rule_page(rule.id)
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.title} {rule.why}\n\nkinwire rule {rule.id} explains it."},
        "properties": {"tags": [rule.category.name.lower()]},
        **({"helpUri": page} if page else {}),
    }


def _invocation(report: Report) -> dict[str, Any]:
    failed = bool(report.review.failures(*report.categories))
    stale = [
        {
            "level": "warning",
            "message": {"text": f"An accepted finding no longer occurs: {' '.join(one.key)}"},
            "locations": [_location(report.policy_file)],
        }
        for one in report.review.stale
    ]
    return {
        "executionSuccessful": True,
        "exitCode": int(failed),
        **({"toolConfigurationNotifications": stale} if stale else {}),
    }


def _result(report: Report, one: ReviewedChange, index: int) -> dict[str, Any]:
    change = one.change
    path, (line, column) = report.place(change)
    breaks = f" Breaks {', '.join(map(str, change.breaks))}." if change.breaks else ""
    announced = change.level is Level.BREAKING and one.announced
    return {
        "ruleId": change.rule.id,
        "ruleIndex": index,
        # As in other forms: what the version announces is for reading.
        "level": "warning" if announced else _LEVELS[change.level],
        "message": {"text": f"{change.what}.{breaks}"},
        "locations": [
            {
                **_location(path, line, column),
                "logicalLocations": [
                    {"fullyQualifiedName": f"{change.protocol}{change.pointer}", "kind": "member"}
                ],
            }
        ],
        "partialFingerprints": {FINGERPRINT: fingerprint(change)},
        # Without the key a result may or may not be suppressed; an empty list says that it is not.
        "suppressions": [] if one.accepted is None else [_suppression(one.accepted)],
        "properties": {
            "protocol": change.protocol,
            "verdict": change.level.name.lower(),
            "announced": announced,
            "in": list(change.flows),
        },
    }


def _suppression(accepted: AcceptedFinding) -> dict[str, Any]:
    people = {"acceptedBy": accepted.by} if accepted.by else {}
    return {
        "kind": "external",
        "status": "accepted",
        "justification": accepted.reason,
        **({"properties": people} if people else {}),
    }


def _location(path: str, line: int = 0, column: int = 0) -> dict[str, Any]:
    region = {"region": {"startLine": line, "startColumn": column}} if line else {}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(path)}, **region}}


def _uri(path: str) -> str:
    """Return a path as a reference that a reader resolves in the checkout, or as a file's URI."""
    there = Path(path)
    return there.as_uri() if there.is_absolute() else quote(there.as_posix())
