"""Checks a server from its start to its end, or by its URL; every step has a deadline."""

from __future__ import annotations

__all__ = (
    "SLOW_PING",
    "SLOW_START",
    "Examination",
    "RemoteExamination",
    "latency",
    "said_of",
    "version",
)

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import anyio

from kinwire.transports.child import ChildProcess
from kinwire.transports.process import BY_ITSELF
from kinwire_cli.diagnosis.checks import Check, failed, skipped
from kinwire_cli.diagnosis.remedies import COPY_ID, why_ended, why_not_started, why_silent
from kinwire_cli.failure import (
    PASS_HEADERS,
    PEER_ERROR,
    PEER_SCHEMA,
    PROBLEMS_FOUND,
    UNAUTHORIZED,
    UNREACHABLE,
    USAGE,
    wants_to_know_who,
)
from kinwire_cli.layout import counted, first_line
from kinwire_cli.listening import Listening
from kinwire_cli.raw_server import Greeting, RawAnswer, RawServer, raw_server
from kinwire_cli.target import Target
from kinwire_protocols.mcp.methods import INITIALIZE, PING, PROTOCOL
from kinwire_protocols.problems import shown

_QUOTED, _TAIL = 3, 10  # lines
_SHOWN = 200  # characters of a line

_AFTER_START = ("handshake", "version", "latency", "end", "stdout", "stderr")
_UNREACHABLE = (
    "Is it running there? Look at host, port and path (most servers listen at /mcp or /sse), and "
    "whether it wants a --header."
)
_WHO = "Authenticate, as with --header 'Authorization: Bearer ${TOKEN}'."
_SILENT = "It took the request and did not answer. Is it an MCP server? --timeout waits longer."
_PINGS = 20
SLOW_START, SLOW_PING = 5.0, 1.0  # seconds


@dataclass(frozen=True, slots=True)
class Examination:
    """The checks of one server; each is passed to `tell` as soon as it is made."""

    target: Target
    child: ChildProcess
    """The target's."""
    command: Sequence[str]
    """What starts it, as it was typed."""
    stderr: Sequence[str]
    """Where the lines end up that it writes there."""
    tell: Callable[[Check], object]

    async def run(self) -> None:
        """Make all checks."""
        began = anyio.current_time()
        async with raw_server(self.target) as server:
            if self.child.pid is None:
                self._not_started(server)
                return
            self.tell(Check(name="spawn", seen=f"started {' '.join(self.command)}"))
            greeting = await server.greet()
            handshake = self._handshake(greeting, server.heard)
            self.tell(handshake)
            self.tell(version(greeting))
            if greeting.answer.outcome in ("answered", "broken"):
                start = anyio.current_time() - began
                self.tell(await latency(server, self.target.timeout, start, self._why_ended))
            else:
                self.tell(skipped("latency", "the handshake failed"))
            gone = self.child.exit_code is not None
            closing = anyio.current_time()
        self.tell(self._end(gone, anyio.current_time() - closing))
        self.tell(_stdout(server.heard))
        for check in lenient(server.lenient):
            self.tell(check)
        self.tell(self._stderr(tells=handshake.status == "fail"))

    def _not_started(self, server: RawServer) -> None:
        why = server.session.closed_why
        reason = "it did not start" if why is None else why.reason
        remedy = why_not_started(self.command)
        self.tell(failed("spawn", reason, remedy, UNREACHABLE))
        for name in _AFTER_START:
            self.tell(skipped(name, "the server could not be started"))

    def _handshake(self, greeting: Greeting, heard: Listening) -> Check:
        answer = greeting.answer
        match answer.outcome:
            case "answered":
                who = f"{greeting.server.get('name')} {greeting.server.get('version')}".rstrip()
                return Check(name="handshake", seen=f"{who} answered")
            case "silent":
                remedy, code = why_silent(heard, self.stderr), UNREACHABLE
            case "ended":
                unusable = self.target.file and self.child.exit_code == USAGE
                remedy, code = self._why_ended(), USAGE if unusable else UNREACHABLE
            case _ if any(message["method"] == INITIALIZE.name for message in heard.unasked):
                remedy = "It echoes its input. Is it an MCP server?"
                code = PEER_ERROR
            case "broken":
                remedy = COPY_ID if heard.foreign_ids else "Fix the result of initialize."
                code = PEER_SCHEMA
            case _:
                remedy, code = "Answer initialize with a result.", PEER_ERROR
        return failed("handshake", said_of(INITIALIZE.name, answer, heard), remedy, code)

    def _why_ended(self) -> str:
        program = sys.executable if self.target.file else self.command[0]
        return why_ended(program, self.child.exit_code, self.stderr)

    def _end(self, gone: bool, took: float) -> Check:
        code = self.child.exit_code
        if gone:
            return skipped("end", "the server had ended before it was asked to")
        if took >= BY_ITSELF or (code or 0) < 0:
            seen = f"still ran {BY_ITSELF:g} s after its stdin was closed, and was made to end"
            remedy = "End when stdin ends: that is how a host stops a server."
            return Check(name="end", status="warn", seen=seen, remedy=remedy)
        if code:
            seen = f"ended with code {code} when its stdin was closed"
            remedy = "End with 0: the end of stdin is not an error."
            return Check(name="end", status="warn", seen=seen, remedy=remedy)
        return Check(name="end", seen="ended when its stdin was closed")

    def _stderr(self, *, tells: bool) -> Check:
        lines = [line[:_SHOWN] for line in self.stderr]
        seen = counted(len(lines), "line") if lines else "nothing"
        if any(line.startswith("Traceback (most recent call last)") for line in lines):
            remedy = "An exception was not caught: fix its cause, or catch it."
            tail = tuple(lines[-_TAIL:])
            return Check(name="stderr", status="warn", seen=seen, remedy=remedy, lines=tail)
        return Check(name="stderr", seen=seen, lines=tuple(lines[-_TAIL:]) if tells else ())


def lenient(found: Mapping[str, str]) -> Iterator[Check]:
    """Yield a warning if kinwire had to read something leniently."""
    if found:
        yield Check(
            name="reading",
            status="warn",
            seen=f"{counted(len(found), 'mistake')} that other clients may refuse",
            remedy="Fix the server: kinwire reads this leniently.",
            lines=tuple(found.values()),
        )


def _stdout(heard: Listening) -> Check:
    if heard.overlong_count:
        seen = f"{heard.overlong_count} messages longer than hosts read"
        return failed("stdout", seen, "Make pages and results smaller.")
    if not heard.stray_count:
        return Check(name="stdout", seen="only messages")
    return Check(
        name="stdout",
        status="fail",
        seen=f"{counted(heard.stray_count, 'line')} of output that is not JSON-RPC",
        remedy="Print to stderr, as in print(..., file=sys.stderr): stdout is the protocol's.",
        lines=tuple(line[:_SHOWN] for line in heard.strays[:_QUOTED]),
        exit_code=PROBLEMS_FOUND,
    )


@dataclass(frozen=True, slots=True)
class RemoteExamination:
    """The checks of one server; each is passed to `tell` as soon as it is made."""

    target: Target
    tell: Callable[[Check], object]

    async def run(self) -> None:
        """Make all checks."""
        began = anyio.current_time()
        async with raw_server(self.target) as server:
            greeting = await server.greet()
            self.tell(_handshake(greeting, server.heard))
            self.tell(version(greeting))
            if greeting.answer.result is not None:
                start = anyio.current_time() - began
                timeout = self.target.timeout
                self.tell(await latency(server, timeout, start, lambda: _UNREACHABLE))
            else:
                self.tell(skipped("latency", "the handshake failed"))
        for check in lenient(server.lenient):
            self.tell(check)


def _handshake(greeting: Greeting, heard: Listening) -> Check:
    answer = greeting.answer
    match answer.outcome:
        case "answered":
            who = f"{greeting.server.get('name')} {greeting.server.get('version')}".rstrip()
            return Check(name="handshake", seen=f"{who} answered")
        case _ if wants_to_know_who(answer.error):
            remedy, code = _WHO, UNAUTHORIZED
        case "silent":
            remedy, code = _SILENT, UNREACHABLE
        case "ended":
            remedy, code = _UNREACHABLE, UNREACHABLE
        case "broken" if answer.result is None:  # the answer is not JSON-RPC at all
            remedy, code = _UNREACHABLE, PEER_SCHEMA
        case "broken":
            remedy, code = "Fix the result of initialize.", PEER_SCHEMA
        case _:
            remedy, code = "Answer initialize with a result.", PEER_ERROR
    seen = said_of(INITIALIZE.name, answer, heard).removesuffix(PASS_HEADERS)
    return failed("handshake", seen, remedy, code)


def version(greeting: Greeting) -> Check:
    """Return whether both speak the same version."""
    answered = greeting.version
    if not isinstance(answered, str):
        return skipped("version", "the handshake failed")
    if answered == PROTOCOL.version:
        also = "" if greeting.mgp is None else f", MGP {greeting.mgp}"
        return Check(name="version", seen=f"MCP {PROTOCOL.version}{also}")
    seen = f"offered {PROTOCOL.version}, the server answered {shown(answered)}"
    remedy = "Have the server answer the offered version if it speaks it, or update the server."
    return failed("version", seen, remedy, PEER_SCHEMA)


async def latency(
    server: RawServer, timeout: float, start: float, why_ended: Callable[[], str]
) -> Check:
    """Return how fast it answers pings; `start` is what it took to the first answer, in seconds."""
    times: list[float] = []
    with anyio.move_on_after(timeout):
        while len(times) < _PINGS:
            began = anyio.current_time()
            answer = await server.ask(PING)
            seen = said_of(PING.name, answer, server.heard)
            if answer.outcome == "ended":
                return failed("latency", seen, why_ended(), UNREACHABLE)
            if answer.outcome != "answered":
                return _no_pong(seen, server)
            times.append(anyio.current_time() - began)
    if not times:
        late = RawAnswer("silent", f"no answer within {timeout:g} s")
        return _no_pong(said_of(PING.name, late, server.heard), server)
    return _of_times(times, start)


def said_of(method: str, answer: RawAnswer, heard: Listening) -> str:
    """Return what came of a request, in a line."""
    code = "" if answer.code is None else f" ({answer.code})"
    other = f"; {heard.other_id}" if answer.outcome == "silent" and heard.other_id else ""
    return f"{method}: {first_line(answer.text)}{code}{other}"


def _no_pong(seen: str, server: RawServer) -> Check:
    remedy = "Answer ping with an empty result, at any time."
    return failed("latency", seen, COPY_ID if server.heard.other_id else remedy)


def _of_times(pings: list[float], start: float) -> Check:
    worst = max(pings)
    seen = (
        f"ping {_ms(median(pings))} (median), {_ms(worst)} (worst of {len(pings)}); "
        f"{start:.1f} s from start to first answer"
    )
    if start > SLOW_START:
        remedy = "Load what is heavy when it is first needed: some hosts give up on slow starters."
    elif worst > SLOW_PING:
        remedy = "Something blocks it: run long work in a thread."
    else:
        return Check(name="latency", seen=seen)
    return Check(name="latency", status="warn", seen=seen, remedy=remedy)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
