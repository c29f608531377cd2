"""Runs a server from its start to its end and checks each step; every step has a deadline."""

from __future__ import annotations

__all__ = ("Examination",)

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import anyio

from kinwire.transports.child import ChildProcess
from kinwire.transports.process import BY_ITSELF
from kinwire_cli.diagnosis.check import Check, failed, skipped
from kinwire_cli.diagnosis.remedies import why_ended, why_not_started, why_silent
from kinwire_cli.diagnosis.steps import latency, said_of, version
from kinwire_cli.failure import FINDINGS, PEER_ERROR, PEER_SCHEMA, UNREACHABLE, USAGE
from kinwire_cli.layout import counted
from kinwire_cli.listening import Listening
from kinwire_cli.raw_server import Greeting, RawServer, raw_server
from kinwire_cli.target import Target
from kinwire_protocols.mcp.methods import INITIALIZE

_QUOTED, _TAIL = 3, 10  # lines
_SHOWN = 200  # characters of a line

_AFTER_START = ("handshake", "version", "latency", "end", "stdout", "stderr")


@dataclass(frozen=True, slots=True)
class Examination:
    """One server, and who is told of each check as soon as it is made."""

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
                remedy = "It sends back what it gets: is it a server of MCP?"
                code = PEER_ERROR
            case "broken":
                remedy, code = "Mend the result of initialize.", PEER_SCHEMA
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
