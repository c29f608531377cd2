"""An inspection as JSON, and as text for people."""

from __future__ import annotations

__all__ = ("json_of", "said", "text_of")

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

from pydantic import ValidationError

from kinwire.rpc.codec import is_object
from kinwire_cli.inspection.probing import LISTS, UNKNOWN, Inspection, Probe
from kinwire_cli.inspection.problem import ServerProblem
from kinwire_cli.layout import coloured, columns, first_line, fitted, terminal_width
from kinwire_cli.shapes import tool_lines
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.mcp.methods import PROTOCOL
from kinwire_protocols.problems import shown

_COLOURS = {"✓": "green", "!": "yellow", "✗": "red", "error": "red", "warning": "yellow"}
_MARKS = {"error": "✗", "warning": "!"}
_INDENT = "  "


def json_of(inspection: Inspection, problems: Sequence[ServerProblem]) -> JsonObject:
    """Return all of it; lists are as they came."""
    greeting = inspection.greeting
    return {
        "serverInfo": greeting.server,
        "protocolVersion": {"offered": PROTOCOL.version, "answered": greeting.version},
        "capabilities": greeting.capabilities,
        "instructions": greeting.instructions,
        "methods": [
            {
                "method": probe.row.name,
                "gate": probe.row.gate,
                "advertised": probe.advertised,
                "outcome": probe.answer.outcome,
                "text": _seen(probe),
            }
            for probe in inspection.probes
        ],
        **{LISTS[p.row.name]: p.entries for p in inspection.probes if p.row.name in LISTS},
        "findings": [problem.to_json() for problem in problems],
    }


def text_of(inspection: Inspection, problems: Sequence[ServerProblem]) -> Iterator[str]:
    """Yield the paragraphs."""
    yield _greeting(inspection)
    for probe in inspection.probes:
        if probe.entries:
            lines = (fitted(_INDENT + line, _INDENT * 4) for line in _lines(probe))
            yield "\n".join([LISTS[probe.row.name], *lines])
    rows = [
        (_mark(probe, problems), probe.row.name, first_line(_seen(probe)))
        for probe in inspection.probes
    ]
    yield _painted(columns(rows))
    if problems:
        yield _painted("\n".join(line for problem in problems for line in said(problem)))


def _greeting(inspection: Inspection) -> str:
    greeting = inspection.greeting
    server = " ".join(str(greeting.server.get(name, "?")) for name in ("name", "version"))
    rows = [
        ("server", first_line(server)),
        ("protocol", f"MCP {PROTOCOL.version} offered, {shown(greeting.version)} answered"),
        ("capabilities", first_line(", ".join(_abilities(greeting.capabilities)) or "none")),
        ("instructions", first_line(str(greeting.instructions or "none"))),
    ]
    if greeting.mgp is not None:
        rows.insert(2, ("MGP", greeting.mgp))
    return columns(rows)


def _abilities(capabilities: JsonObject) -> Iterator[str]:
    for name, value in capabilities.items():
        inner = [key for key, on in value.items() if on] if is_object(value) else []
        yield f"{name} ({', '.join(inner)})" if inner else name


def _lines(probe: Probe) -> Iterator[str]:
    if probe.row.name == "tools/list":
        for tool in probe.entries:
            yield from _tool(tool)
        return
    rows = [_row(entry) for entry in probe.entries]
    width = terminal_width()
    yield from columns(rows, width and width - len(_INDENT)).split("\n")


def _tool(tool: Any) -> Iterator[str]:
    try:
        yield from tool_lines([from_wire(mcp.Tool, tool)])
    except ValidationError:
        yield f"{_name(tool)}  (it breaks the schema)"


def _row(entry: Any) -> tuple[str, ...]:
    if not is_object(entry):
        return (_name(entry), "", "")
    address = entry.get("uri", entry.get("uriTemplate"))
    words = first_line(str(entry.get("description") or ""))
    if address is not None:
        return first_line(str(address)), first_line(str(entry.get("name", ""))), words
    return _prompt(entry), words


def _prompt(entry: JsonObject) -> str:
    given = entry.get("arguments")
    arguments = filter(is_object, cast("list[object]", given) if isinstance(given, list) else [])
    words = (
        f"{one.get('name')}{'' if one.get('required') is True else ' = ...'}" for one in arguments
    )
    return first_line(f"{entry.get('name')}({', '.join(words)})")


def _name(entry: Any) -> str:
    return first_line(str(entry.get("name") if is_object(entry) else shown(entry)))


def _mark(probe: Probe, problems: Sequence[ServerProblem]) -> str:
    for severity, mark in _MARKS.items():
        if any(f.severity == severity and _is_about(f, probe.row.name) for f in problems):
            return mark
    return "-" if probe.answer.outcome in ("missing", "skipped") else "✓"


def _is_about(problem: ServerProblem, method: str) -> bool:
    return re.match(rf"{re.escape(method)}(?![/\w])", problem.where) is not None


def _seen(probe: Probe) -> str:
    name, answer = probe.row.name, probe.answer
    offer = "advertised" if probe.advertised else "not advertised"
    match answer.outcome:
        case "missing":
            return "not offered" if probe.advertised is None else f'{offer}, "method not found"'
        case "refused" if name in UNKNOWN:
            return f"refuses an unknown name ({answer.code})"
        case "refused":
            return f"an error: {answer.text} ({answer.code})"
        case "answered":
            return _answered(probe)
        case "skipped":
            return f"not asked: {answer.text}"
        case "ended":
            return "the connection ended"
        case _:
            return answer.text


def _answered(probe: Probe) -> str:
    name = probe.row.name
    if name in LISTS:
        pages = "" if len(probe.results) == 1 else f" on {len(probe.results)} pages"
        return f"{len(probe.entries)} listed{pages}"
    if name == "tools/call" and probe.answer.result.get("isError") is True:
        return "refuses an unknown name (isError)"
    return "answered"


def said(problem: ServerProblem) -> Iterator[str]:
    """Yield the lines of a problem: what is wrong, and below it how to fix it."""
    yield first_line(f"{problem.severity}: {problem.where}: {problem.text}")
    if problem.hint:
        yield f"  {problem.hint}"


def _painted(text: str) -> str:
    return "\n".join(map(_painted_line, text.split("\n")))


def _painted_line(line: str) -> str:
    for word, colour in _COLOURS.items():
        if line.startswith(word):
            return coloured(word, colour) + line[len(word) :]
    return line
