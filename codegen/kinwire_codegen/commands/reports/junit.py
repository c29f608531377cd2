"""Findings as a JUnit report, which CI servers show with the results of tests.

The format has no specification. This is what its common readers share: a suite for each protocol, a
case for each finding, a failure for what breaks, and a skipped case for what does not count.
"""

from __future__ import annotations

__all__ = ("as_junit",)

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from kinwire_codegen.commands.reports.report import Report
from kinwire_codegen.compare.policy import ReviewedChange
from kinwire_codegen.compare.verdict import Level

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(report: Report) -> str:
    """Return an XML document; a protocol without findings has one case, which passes."""
    names = {one.change.protocol for one in report.found} | report.review.versions.keys()
    suites = [_suite(report, name) for name in sorted(names)]
    top = ElementTree.Element("testsuites", {"name": "kinwire breaking"} | _totals(suites))
    top.extend(suites)
    ElementTree.indent(top)
    text = ElementTree.tostring(top, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'


def _suite(report: Report, protocol: str) -> ElementTree.Element:
    cases = [_case(report, one) for one in report.shown if one.change.protocol == protocol]
    if not cases:
        name = f"{protocol} breaks nobody"
        cases = [_element("testcase", name=name, classname=f"kinwire.breaking.{protocol}")]
    suite = _element("testsuite", name=protocol)
    suite.attrib |= {
        "tests": str(len(cases)),
        "failures": str(_having(cases, "failure")),
        "errors": "0",
        "skipped": str(_having(cases, "skipped")),
    }
    suite.extend(cases)
    return suite


def _totals(suites: Iterable[ElementTree.Element]) -> dict[str, str]:
    keys = ("tests", "failures", "errors", "skipped")
    return {key: str(sum(int(suite.attrib[key]) for suite in suites)) for key in keys}


def _having(cases: Iterable[ElementTree.Element], tag: str) -> int:
    return sum(case.find(tag) is not None for case in cases)


def _case(report: Report, one: ReviewedChange) -> ElementTree.Element:
    change = one.change
    path, (line, column) = report.place(change)
    case = _element(
        "testcase",
        name=f"{change.rule.id} {change.what}",
        classname=f"kinwire.breaking.{change.protocol}",
        file=path,
        line=str(line),
    )
    level = change.level.name.lower()
    facts = [f"{path}:{line}:{column}: {change.rule.id} {level}: {change.what}"]
    facts += [f"breaks: {', '.join(map(str, change.breaks))}"] if change.breaks else []
    facts += [f"in: {', '.join(change.flows)}"] if change.flows else []
    text = "\n".join(facts)
    if one.accepted is not None:
        case.append(_element("skipped", message=f"accepted: {one.accepted.reason}"))
    elif one.fails:
        kind = f"{change.rule.id} {change.rule.name}"
        case.append(_element("failure", text, message=change.what, type=kind))
        return case
    elif change.level is Level.BREAKING:
        step = report.review.versions[change.protocol]
        what = f"announced: {change.protocol} rose from {step.old} to {step.new}"
        case.append(_element("skipped", message=what))
    case.append(_element("system-out", text))
    return case


def _element(tag: str, text: str = "", **attributes: str) -> ElementTree.Element:
    """Return an element without the characters that XML cannot have."""
    found = {name: _NOT_XML.sub("", value) for name, value in attributes.items()}
    element = ElementTree.Element(tag, found)
    element.text = _NOT_XML.sub("", text) or None
    return element
