"""Checks a server that is reached by its URL: who started it, and its end, are not ours to see."""

from __future__ import annotations

__all__ = ("RemoteExamination",)

from collections.abc import Callable
from dataclasses import dataclass

import anyio

from kinwire_cli.diagnosis.check import Check, failed, skipped
from kinwire_cli.diagnosis.steps import latency, said_of, version
from kinwire_cli.failure import (
    PASS_HEADERS,
    PEER_ERROR,
    PEER_SCHEMA,
    UNAUTHORIZED,
    UNREACHABLE,
    wants_to_know_who,
)
from kinwire_cli.listening import Listening
from kinwire_cli.raw_server import Greeting, raw_server
from kinwire_cli.target import Target
from kinwire_protocols.mcp.methods import INITIALIZE

_UNREACHABLE = (
    "Is it running there? Look at host, port and path (most servers listen at /mcp or /sse), and "
    "whether it wants a --header."
)
_WHO = "Say who you are, as with --header 'Authorization: Bearer ${TOKEN}'."
_SILENT = "It took the request and did not answer. Is it a server of MCP? --timeout waits longer."


@dataclass(frozen=True, slots=True)
class RemoteExamination:
    """One server, and who is told of each check as soon as it is made."""

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
        case "broken" if answer.result is None:  # what came is no JSON-RPC at all
            remedy, code = _UNREACHABLE, PEER_SCHEMA
        case "broken":
            remedy, code = "Mend the result of initialize.", PEER_SCHEMA
        case _:
            remedy, code = "Answer initialize with a result.", PEER_ERROR
    seen = said_of(INITIALIZE.name, answer, heard).removesuffix(PASS_HEADERS)
    return failed("handshake", seen, remedy, code)
