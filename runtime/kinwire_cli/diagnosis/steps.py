"""The checks of a server that are the same however it is reached: its version, its pings."""

from __future__ import annotations

__all__ = ("SLOW_PING", "SLOW_START", "latency", "said_of", "version")

from collections.abc import Callable
from statistics import median

import anyio

from kinwire_cli.diagnosis.check import Check, failed, skipped
from kinwire_cli.diagnosis.remedies import COPY_ID
from kinwire_cli.failure import PEER_SCHEMA, UNREACHABLE
from kinwire_cli.layout import first_line
from kinwire_cli.listening import Listening
from kinwire_cli.raw_server import Answer, Greeting, RawServer
from kinwire_protocols.mcp.methods import PING, PROTOCOL
from kinwire_protocols.problems import shown

_PINGS = 20
SLOW_START, SLOW_PING = 5.0, 1.0  # seconds


def version(greeting: Greeting) -> Check:
    """Return whether both speak the same version."""
    answered = greeting.version
    if not isinstance(answered, str):
        return skipped("version", "the handshake failed")
    if answered == PROTOCOL.version:
        return Check(name="version", seen=f"MCP {PROTOCOL.version}")
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
        late = Answer("silent", f"no answer within {timeout:g} s")
        return _no_pong(said_of(PING.name, late, server.heard), server)
    return _of_times(times, start)


def said_of(method: str, answer: Answer, heard: Listening) -> str:
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
