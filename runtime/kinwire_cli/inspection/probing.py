"""Send a server the requests that only read, one after another.

The specification of MCP 2024-11-05 says which methods those are, so they are listed here. What
other methods do, such as those that a document adds, is not known.
"""

from __future__ import annotations

__all__ = ("LISTS", "UNKNOWN", "Inspection", "Probe", "advertised", "inspected")

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import ValidationError

from kinwire.mcp.rules.pagination import Pages
from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import PaginationError
from kinwire.rpc.negotiated import Negotiated
from kinwire_cli.listening import Listening
from kinwire_cli.raw_server import Greeting, RawAnswer, RawServer, raw_server
from kinwire_cli.target import Target, handshake_error
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import INITIALIZE, PROTOCOL
from kinwire_protocols.peer import Method, ProtocolTable
from kinwire_protocols.problems import Problem

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
"""The methods that list something, and in which member."""

_MOST_PAGES = 200
_SILENT = 2  # requests in a row without an answer: then none is waited for any more
_NAME, _URI = "kinwire-probe-of-nothing", "kinwire-probe:nothing"

UNKNOWN: dict[str, JsonObject] = {
    "tools/call": {"name": _NAME, "arguments": {}},
    "prompts/get": {"name": _NAME},
    "resources/read": {"uri": _URI},
    "resources/subscribe": {"uri": _URI},
    "resources/unsubscribe": {"uri": _URI},
    "completion/complete": {
        "ref": {"type": "ref/prompt", "name": _NAME},
        "argument": {"name": "nothing", "value": ""},
    },
}
"""Requests for names that no server has: a server refuses them, and nothing happens."""

_READING: dict[str, JsonObject | None] = {
    **dict.fromkeys(("ping", *LISTS)),
    **UNKNOWN,
    "logging/setLevel": {"level": "info"},
}
"""What is asked, with which params."""

_TOO_LATE = RawAnswer("skipped", "nothing was answered any more")
_MAY_ACT = RawAnswer("skipped", "it may do something")
_NEEDS_MORE = RawAnswer("skipped", "it needs params that are not known here")

# Later versions of MCP announce it; this one does not.
_LATER = {"completion/complete": "completions"}


@dataclass(frozen=True, slots=True)
class Probe:
    """One method, and what came of asking for it."""

    row: Method[Any, Any]
    advertised: bool | None
    """Whether the capabilities offer it; None if no capability stands for it."""
    answer: RawAnswer
    entries: Sequence[Any] = ()
    """What a list brought, as it came, all pages together."""
    results: Sequence[Any] = ()
    """The results as they came: one, or one a page."""
    problems: Sequence[Problem] = ()
    """What breaks the schema, on any page."""
    cut: bool = False
    """Whether a list has more pages than were asked for."""


@dataclass(slots=True)
class Inspection:
    """All that was seen of a server."""

    greeting: Greeting
    heard: Listening
    probes: list[Probe] = field(default_factory=list[Probe])
    lenient: Mapping[str, str] = field(default_factory=dict[str, str])
    """The first place of each lenient reading, as `Counts.lenient`."""
    error: Exception | None = None
    """Why the handshake has come to nothing."""


async def inspected(target: Target, added: Sequence[ProtocolTable] = ()) -> Inspection:
    """Return what `target` has to say; if the handshake has come to nothing, no method is asked.

    The methods of the protocols `added` are listed, and never asked.
    """
    async with raw_server(target) as server:
        inspection = Inspection(await server.greet(), server.heard, lenient=server.lenient)
        answer = inspection.greeting.answer
        if answer.error is not None:
            inspection.error = handshake_error(target, answer.error)
            return inspection
        inspection.probes.append(_probe_of(INITIALIZE, None, answer))
        for row in PROTOCOL.methods.values():
            if row.kind == "request" and row.sender != "server" and row is not INITIALIZE:
                inspection.probes.append(await _probed(server, row, inspection))
    for table in added:
        inspection.probes += _listed(table, inspection.greeting.capabilities)
    return inspection


def advertised(row: Method[Any, Any], capabilities: JsonObject) -> bool | None:
    """Return whether `capabilities` offer `row`, None if they say nothing of it."""
    if row.name in _LATER:
        return True if is_object(capabilities.get(_LATER[row.name])) else None
    if row.gate is None:
        return None
    return Negotiated({}, capabilities).denial_reason(row) is None


def _listed(table: ProtocolTable, capabilities: JsonObject) -> Iterator[Probe]:
    """Yield the requests that clients send of a protocol, with whether the server offers them."""
    for row in table.methods.values():
        if (
            row.kind != "notification"
            and row.sender != "server"
            and row.name not in PROTOCOL.methods
        ):
            yield Probe(row, _offered(row, table, capabilities), _MAY_ACT)


def _offered(row: Method[Any, Any], table: ProtocolTable, capabilities: JsonObject) -> bool | None:
    if row.gate is None and table.capability is None:
        return None
    # What both sides have to offer is offered if the server does.
    sides = (
        Negotiated(capabilities, capabilities, {table.name: place})
        for place in (table.capability, *table.capability_aliases)
    )
    return any(side.denial_reason(row) is None for side in sides)


async def _probed(server: RawServer, row: Method[Any, Any], so_far: Inspection) -> Probe:
    offered = advertised(row, so_far.greeting.capabilities)
    if _is_gone(so_far.probes):
        return Probe(row, offered, _TOO_LATE)
    if row.name not in _READING:
        return Probe(row, offered, _MAY_ACT)
    params = _READING[row.name]
    if not _fit(row, params):
        return Probe(row, offered, _NEEDS_MORE)
    if row.name in LISTS:
        return await _walked(server, row, offered)
    return _probe_of(row, offered, await server.ask(row, params))


def _fit(row: Method[Any, Any], params: JsonObject | None) -> bool:
    # A server is right to refuse what a document has made incomplete: that would be no problem.
    try:
        row.decode_params(params or {})
    except ValidationError:
        return False
    return True


def _probe_of(row: Method[Any, Any], offered: bool | None, answer: RawAnswer) -> Probe:
    return Probe(row, offered, answer, results=[answer.result], problems=answer.problems)


def _is_gone(probes: Sequence[Probe]) -> bool:
    outcomes = [one.answer.outcome for one in probes if one.answer.outcome != "skipped"][-_SILENT:]
    return "ended" in outcomes or outcomes == ["silent"] * _SILENT


async def _walked(server: RawServer, row: Method[Any, Any], offered: bool | None) -> Probe:
    """Return the pages of a list; no entry is left out, as a repeated one is a problem."""
    entries: list[Any] = []
    results: list[Any] = []
    found: list[Problem] = []
    pages = Pages[Any](row.name, id)
    answer = RawAnswer("answered")
    try:
        while pages.has_next() and len(results) < _MOST_PAGES:
            cursor = pages.cursor
            answer = await server.ask(row, None if cursor is None else {"cursor": cursor})
            results.append(answer.result)
            page: JsonObject = answer.result if is_object(answer.result) else {}
            listed = page.get(LISTS[row.name])
            here = cast("list[object]", listed) if isinstance(listed, list) else []
            found += (_on_page(problem, len(results)) for problem in answer.problems)
            entries += here
            following = page.get("nextCursor")
            pages.accept(here, following if isinstance(following, str) else None)
    except PaginationError as error:
        answer = RawAnswer("broken", str(error).removeprefix(row.name).lstrip(": "))
    if found and answer.outcome == "answered":  # the last page was good, another was not
        answer = RawAnswer("broken", str(found[0]))
    cut = len(results) == _MOST_PAGES and pages.cursor is not None
    return Probe(row, offered, answer, entries, results, found, cut)


def _on_page(problem: Problem, page: int) -> Problem:
    where = problem.pointer if page == 1 else f"{problem.pointer} (page {page})"
    return Problem(where, problem.expected, problem.got)
