"""Runs a server from its start to its end and checks each step; every step has a deadline."""

from __future__ import annotations

__all__ = ("Examination",)

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import anyio

from kinwire.cli.diagnosis.check import Check, failed, skipped
from kinwire.cli.diagnosis.remedies import why_ended, why_not_started, why_silent
from kinwire.cli.failure import FINDINGS, PEER_ERROR, PEER_SCHEMA, UNREACHABLE, USAGE
from kinwire.cli.layout import counted, first_line
from kinwire.cli.listening import Listening
from kinwire.cli.raw_server import Answer, Greeting, RawServer, raw_server
from kinwire.cli.target import Target
from kinwire.transports.process import BY_ITSELF
from kinwire_protocols.mcp.methods import INITIALIZE, PING, PROTOCOL
from kinwire_protocols.problems import shown

_PINGS = 20
SLOW_START, SLOW_PING = 5.0, 1.0  # seconds
_QUOTED, _TAIL = 3, 10  # lines
_SHOWN = 200  # characters of a line

_AFTER_START = ("handshake", "version", "latency", "end", "stdout", "stderr")


@dataclass(frozen=True, slots=True)
class Examination:
    """One server, and who is told of each check as soon as it is made."""

    target: Target
    command: Sequence[str]
    """What starts it, as it was typed."""
    stderr: Sequence[str]
    """Where the lines end up that it writes there."""
    tell: Callable[[Check], object]

    async def run(self) -> None:
        """Make all checks."""
        began = anyio.current_time()
        async with raw_server(self.target) as server:
            if self.target.transport.pid is None:
                self._not_started(server)
                return
            self.tell(Check(name="spawn", seen=f"started {' '.join(self.command)}"))
            greeting = await server.greet()
            handshake = self._handshake(greeting, server.heard)
            self.tell(handshake)
            self.tell(_version(greeting))
            if greeting.answer.outcome in ("answered", "broken"):
                self.tell(await self._latency(server, anyio.current_time() - began))
            else:
                self.tell(skipped("latency", "the handshake failed"))
            gone = self.target.transport.exit_code is not None
            closing = anyio.current_time()
        self.tell(self._end(gone, anyio.current_time() - closing))
        self.tell(_stdout(server.heard))
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
                unusable = self.target.file and self.target.transport.exit_code == USAGE
                remedy, code = self._why_ended(), USAGE if unusable else UNREACHABLE
            case _ if any(message["method"] == INITIALIZE.name for message in heard.unasked):
                remedy = "It sends back what it gets: is it a server of MCP?"
                code = PEER_ERROR
            case "broken":
                remedy, code = "Mend the result of initialize.", PEER_SCHEMA
            case _:
                remedy, code = "Answer initialize with a result.", PEER_ERROR
        return failed("handshake", f"initialize: {_text(answer)}", remedy, code)

    async def _latency(self, server: RawServer, start: float) -> Check:
        times: list[float] = []
        with anyio.move_on_after(self.target.timeout):
            while len(times) < _PINGS:
                began = anyio.current_time()
                answer = await server.ask(PING)
                if answer.outcome == "ended":
                    seen = f"ping: {_text(answer)}"
                    return failed("latency", seen, self._why_ended(), UNREACHABLE)
                if answer.outcome != "answered":
                    remedy = "Answer ping with an empty result, at any time."
                    return failed("latency", f"ping: {_text(answer)}", remedy)
                times.append(anyio.current_time() - began)
        return _of_times(times, start)

    def _why_ended(self) -> str:
        program = sys.executable if self.target.file else self.command[0]
        return why_ended(program, self.target.transport.exit_code, self.stderr)

    def _end(self, gone: bool, took: float) -> Check:
        code = self.target.transport.exit_code
        if gone:
            return skipped("end", "the server had ended before it was asked to")
        if took >= BY_ITSELF or (code or 0) < 0:
            seen = f"still ran {BY_ITSELF:g} s after its stdin was closed, and was made to end"
            remedy = "End when stdin ends: that is how a host stops a server."
            return Check(name="end", status="warn", seen=seen, remedy=remedy)
        if code:
            seen = f"ended with code {code} when its stdin was closed"
            remedy = "End with 0: the end of stdin is no fault."
            return Check(name="end", status="warn", seen=seen, remedy=remedy)
        return Check(name="end", seen="ended when its stdin was closed")

    def _stderr(self, *, tells: bool) -> Check:
        lines = [line[:_SHOWN] for line in self.stderr]
        seen = counted(len(lines), "line") if lines else "nothing"
        if any(line.startswith("Traceback (most recent call last)") for line in lines):
            remedy = "An exception came out somewhere: mend that, or catch it."
            tail = tuple(lines[-_TAIL:])
            return Check(name="stderr", status="warn", seen=seen, remedy=remedy, lines=tail)
        return Check(name="stderr", seen=seen, lines=tuple(lines[-_TAIL:]) if tells else ())


def _version(greeting: Greeting) -> Check:
    version = greeting.version
    if not isinstance(version, str):
        return skipped("version", "the handshake failed")
    if version == PROTOCOL.version:
        return Check(name="version", seen=f"MCP {PROTOCOL.version}")
    seen = f"offered {PROTOCOL.version}, the server answered {shown(version)}"
    remedy = "Have the server answer the offered version if it speaks it, or update the server."
    return failed("version", seen, remedy, PEER_SCHEMA)


def _of_times(pings: list[float], start: float) -> Check:
    if not pings:
        return failed("latency", "ping: no answer in time", "Answer ping at once.")
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


def _stdout(heard: Listening) -> Check:
    if heard.overlong_count:
        seen = f"{heard.overlong_count} messages longer than hosts read"
        return failed("stdout", seen, "Make pages and results smaller.")
    if not heard.stray_count:
        return Check(name="stdout", seen="nothing but messages")
    return Check(
        name="stdout",
        status="fail",
        seen=f"{counted(heard.stray_count, 'line')} of what is no message",
        remedy="Print to stderr, as in print(..., file=sys.stderr): stdout is the protocol's.",
        lines=tuple(line[:_SHOWN] for line in heard.strays[:_QUOTED]),
        exit_code=FINDINGS,
    )


def _text(answer: Answer) -> str:
    code = "" if answer.code is None else f" ({answer.code})"
    return first_line(answer.text) + code


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
