"""What `kinwire validate` says of one recorded line: its verdict, as JSON or as text."""

from __future__ import annotations

__all__ = ("Report", "report_of", "text_of")

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic_core import from_json

from kinwire.rpc.codec import FrameError, decode, is_object
from kinwire_protocols.problems import Problem, shown

if TYPE_CHECKING:
    from kinwire_cli.judge.judge import Judge, Verdict
    from kinwire_protocols.base import JsonObject

_SHOWN = 60  # characters of a line that is no JSON


class Report(NamedTuple):
    """What is to be said of a line."""

    verdict: Verdict | None
    """None if it holds no message to judge."""
    problems: Sequence[Problem]
    is_object: bool = True
    """Whether it is a JSON object at least."""

    def to_json(self, line: int) -> dict[str, Any]:
        """Return the verdict on the line of that number."""
        verdict, row = self.verdict, self.verdict and self.verdict.row
        return {
            "line": line,
            "ok": not self.problems,
            "protocol": verdict.protocol if verdict else None,
            "method": row.name if row else None,
            "kind": verdict.kind if verdict else None,
            "matched": verdict.matched if verdict else None,
            "errors": [problem.to_json() for problem in self.problems],
        }


def text_of(report: Report) -> str:
    """Return what is wrong with a line as one line: its first problem, and how many follow."""
    row = report.verdict and report.verdict.row
    about = f"{row.name}: " if row else ""
    more = len(report.problems) - 1
    return f"{about}{report.problems[0]}".removeprefix(": ") + (f" ({more} more)" if more else "")


def report_of(judge: Judge, line: bytes) -> Report:
    """Return what is to be said of `line`, after those before it."""
    try:
        value = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        return Report(None, [Problem("", "JSON", _unreadable(line, error))], is_object=False)
    if not is_object(value):
        return Report(None, [Problem("", "one JSON object", shown(value))], is_object=False)
    if "jsonrpc" not in value and "message" in value:
        return _wrapped(judge, value)
    if "jsonrpc" not in value and "unreadable" in value:
        text = _cut(str(value["unreadable"]), str(value.get("because")))
        return Report(None, [Problem("", "JSON", text)])
    verdict = judge.judge(value)
    try:
        decode(line)  # also finds what a decoded object does not show: a repeated id
    except FrameError as error:
        if verdict.ok:
            return Report(verdict, [Problem("", "a message", error.error.message)])
    return Report(verdict, verdict.problems)


def _wrapped(judge: Judge, line: JsonObject) -> Report:
    sender, message = line.get("from"), line["message"]
    if sender not in (None, "client", "server"):
        return Report(None, [Problem("/from", '"client" or "server"', shown(sender))])
    if not is_object(message):
        return Report(None, [Problem("/message", "one JSON object", shown(message))])
    verdict = judge.judge(message, sender)
    return Report(verdict, verdict.problems)


def _unreadable(line: bytes, error: ValueError) -> str:
    return _cut(line.decode(errors="replace"), str(error))


def _cut(text: str, because: str) -> str:
    cut = text[:_SHOWN].replace("\n", "\\n") + ("…" if len(text) > _SHOWN else "")
    why = re.sub(r"at line \d+ column", "at column", because)
    return f"{cut} ({why})"
