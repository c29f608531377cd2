"""A server that is asked past every gate, each answer taken as what it is: no failure ends this.

For subcommands that look for problems. Their client offers no capabilities of MCP, so an honest
server sends it no requests of MCP.
"""

from __future__ import annotations

__all__ = ("Greeting", "Outcome", "RawAnswer", "RawServer", "raw_server")

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

from pydantic import ValidationError

from kinwire import __version__
from kinwire.mcp.profile import PROFILE
from kinwire.mgp.rules.negotiation import read_offer
from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import ConnectionClosedError, InvalidResponseError, RequestTimeoutError
from kinwire.rpc.routes import Route
from kinwire.rpc.session import Session
from kinwire_cli.layout import first_line
from kinwire_cli.listening import Listening
from kinwire_cli.running import patience_with
from kinwire_cli.target import Target
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.jsonrpc.errors import MethodNotFoundError
from kinwire_protocols.lenient import LenientReading
from kinwire_protocols.mcp.methods import INITIALIZE, NOTIFICATIONS_INITIALIZED, PING, PROTOCOL
from kinwire_protocols.mgp.methods import PROTOCOL as MGP
from kinwire_protocols.mgp.tables import EXTENSIONS
from kinwire_protocols.peer import Method
from kinwire_protocols.problems import Problem, problems

Outcome = Literal["answered", "refused", "missing", "broken", "silent", "ended", "skipped"]

_SHOWN = 120  # characters of a peer's error message


class RawAnswer(NamedTuple):
    """What came of a request."""

    outcome: Outcome
    """A result, an error, "method not found", no valid response, no answer, the end, no request."""
    text: str = ""
    """What was said, or what is wrong."""
    result: Any = None
    problems: Sequence[Problem] = ()
    """What in the result breaks the schema."""
    code: int | None = None
    """That of an error."""
    error: Exception | None = None
    """What a caller who needs the result may raise."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """The answer to `initialize`; its parts are read as far as they are there."""

    answer: RawAnswer

    @property
    def version(self) -> object:
        """Return the version of the protocol that the server wants to speak."""
        return self._member("protocolVersion")

    @property
    def server(self) -> JsonObject:
        """Which program the server is."""
        info = self._member("serverInfo")
        return info if is_object(info) else {}

    @property
    def capabilities(self) -> JsonObject:
        """Return the declared capabilities."""
        declared = self._member("capabilities")
        return declared if is_object(declared) else {}

    @property
    def mgp(self) -> str | None:
        """Return what the server offers of MGP, in a line; None if it offers nothing of it."""
        offers = (self.capabilities, self.capabilities.get("experimental"))
        offer = next((one["mgp"] for one in offers if is_object(one) and "mgp" in one), None)
        if not is_object(offer):
            return None
        found = read_offer(offer, MGP.version).offer
        if found is None:
            return f"another version: {first_line(str(offer.get('version')))[:_SHOWN]}"
        needs = ", ".join(found.permissions_required or ())
        parts = [f"{found.version}: {', '.join(found.extensions) or 'no extensions'}"]
        parts += [f"needs {needs}"] if needs else []
        parts += [f"trust {found.trust_level}"] if found.trust_level else []
        return first_line("; ".join(parts))

    @property
    def instructions(self) -> object:
        """Return the server's own instructions."""
        return self._member("instructions")

    def _member(self, name: str) -> object:
        result = self.answer.result
        return result.get(name) if is_object(result) else None


class RawServer:
    """An open session whose calls do not fail."""

    def __init__(self, session: Session, heard: Listening) -> None:
        self.session = session
        self.heard = heard
        self.lenient = session.counts.lenient
        """The first place of each lenient reading, as `Counts.lenient`."""

    async def greet(self) -> Greeting:
        """Do the handshake; whatever is answered, the session is taken for open after it.

        MGP is offered, so that a server shows what it has of it.
        """
        params = {
            "protocolVersion": PROTOCOL.version,
            "capabilities": {"mgp": {"version": MGP.version, "extensions": list(EXTENSIONS)}},
            "clientInfo": {"name": "kinwire-cli", "version": __version__},
        }
        greeting = Greeting(await self.ask(INITIALIZE, params))
        if is_object(greeting.answer.result) and not self.session.closed:
            await self.session.raw_notify(NOTIFICATIONS_INITIALIZED.name)
        return greeting

    async def ask(self, row: Method[Any, Any], params: JsonObject | None = None) -> RawAnswer:
        """Send a request and return what came of it."""
        try:
            async with patience_with(row.name):
                result = await self.session.raw(row.name, params)
        except RpcError as error:
            text = first_line(error.message)[:_SHOWN]
            missing = error.code == MethodNotFoundError.default_code
            return RawAnswer(
                "missing" if missing else "refused", text, code=error.code, error=error
            )
        except RequestTimeoutError as error:
            return RawAnswer("silent", f"no answer within {error.timeout:g} s", error=error)
        except InvalidResponseError as error:
            text = first_line(str(error)).removeprefix(f"{row.name}: ")
            return RawAnswer("broken", text, error=error)
        except ConnectionClosedError as error:
            return RawAnswer("ended", error.reason, error=error)
        try:
            row.decode_result(result, partial(self._noticed, row.name))
        except ValidationError as error:
            found = problems(error, result)
            text = first_line(str(found[0])).removeprefix(": ")  # no pointer: all of it
            return RawAnswer("broken", text, result, found)
        return RawAnswer("answered", result=result)

    def _noticed(self, method: str, reading: LenientReading, _: str, problem: Problem) -> None:
        self.session.counts.noticed(reading, method, problem)


@asynccontextmanager
async def raw_server(target: Target) -> AsyncGenerator[RawServer]:
    """Yield the server, before its handshake; at the end it is asked to end."""
    heard = Listening(target.transport)
    routes = {PING.name: Route(PING, _pong)}
    async with Session(
        heard, profile=PROFILE, routes=routes, limits=target.limits, protocols=[PROTOCOL]
    ) as session:
        yield RawServer(session, heard)


async def _pong(params: Any, request: Any) -> JsonObject:
    return {}
