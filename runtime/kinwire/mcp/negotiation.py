"""The extensions of one session, from their offers to the end of the handshake, in either role.

The offers travel inside `initialize`. As soon as both sides' capabilities are known, gates apply
and extensions are attached, before any other message is handled; then they do their own part.
"""

from __future__ import annotations

__all__ = ("Negotiation", "SpokenProtocols")

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

import anyio
from anyio.abc import TaskGroup

from kinwire.mcp.extension import Extension, ExtensionBase, checked_extensions
from kinwire.rpc.codec import is_object
from kinwire.rpc.negotiated import Gates, Side, at_path, put_at_path
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Route
from kinwire.rpc.session import Session
from kinwire_protocols.base import JsonObject, Message
from kinwire_protocols.jsonrpc.errors import MethodNotFoundError
from kinwire_protocols.mcp.methods import INITIALIZE, PING, PROTOCOL as MCP
from kinwire_protocols.peer import Method, ProtocolTable
from kinwire_protocols.problems import Problem

logger = logging.getLogger("kinwire.session")


class SpokenProtocols:
    """MCP and the extensions of one server or host, made once for all its sessions."""

    def __init__(self, side: Side, extensions: Iterable[Extension]) -> None:
        """Prepare what every handshake needs.

        Raises:
            ValueError: two extensions are of the same protocol.
            TypeError: an extension is for the other side.
        """
        self.side: Side = side
        self.extensions = checked_extensions(extensions, side)
        self.tables: list[ProtocolTable] = [MCP, *(one.protocol for one in self.extensions)]
        self.gates = Gates(side, self.tables)
        self.extension_rows = {
            name: row
            for table in self.tables[1:]
            for row in table.methods.values()
            if row.sender != side
            for name in row.names
        }
        """The methods that extensions may come to serve, by wire name."""


class Negotiation:
    """What the extensions of one side do in one handshake."""

    def __init__(self, spoken: SpokenProtocols) -> None:
        self.spoken = spoken
        self._opened: Mapping[str, Route] = {}
        self._active: list[Extension] = []
        self._settled = anyio.Event() if spoken.extensions else None
        self.step = INITIALIZE.name
        """What is under way: the opening request, or the part of an extension."""

    def routes(
        self, closed: Mapping[str, Route], opened: Mapping[str, Route]
    ) -> Mapping[str, Route]:
        """Return the routes to begin with, for `closed` before the handshake and `opened` after."""
        self._opened = opened
        if self._settled is None:
            return closed
        return _EarlyRoutes(closed, self.spoken, self._settled)

    def offer(self, capabilities: JsonObject, theirs: JsonObject | None = None) -> None:
        """Write the offers into the `capabilities` of this side; a server is given the client's."""
        for extension in self.spoken.extensions:
            path = extension.protocol.capability
            if path is None:
                continue
            offered = None if theirs is None else _offer_in(theirs, extension.protocol)
            if theirs is None or is_object(offered) or _offers_to_plain_peers(extension):
                ours = extension.offer(offered if is_object(offered) else None)
                if ours is not None:
                    put_at_path(capabilities, path, ours)

    def settle(self, session: Session, *, client: JsonObject, server: JsonObject) -> None:
        """Set up gates and extensions by the capabilities of both sides; messages find them now."""
        if self._settled is None:  # there are no extensions
            self._set_up(session, client, server)
            return
        is_client = self.spoken.side == "client"
        theirs, ours = (server, client) if is_client else (client, server)
        self._note_empty_arrays(session, theirs)
        theirs = self._understood(_at_main_places(theirs, self.spoken.tables[1:]))
        ours = self._understood(ours)
        client, server = (ours, theirs) if is_client else (theirs, ours)
        self._set_up(session, client, server)
        for extension in self.spoken.extensions:
            offered = _offered(extension.protocol.capability, theirs, ours)
            if offered is not None:
                session.add_errors_of(extension.protocol)
            if offered is not None or _guards_plain_peers(extension):
                self._active.append(extension)
            extension.attach(session, offered)
        self._settled.set()

    def _set_up(self, session: Session, client: JsonObject, server: JsonObject) -> None:
        session.set_negotiated(self.spoken.gates.negotiated(client, server))
        session.replace_routes(self._opened)

    def _note_empty_arrays(self, session: Session, theirs: JsonObject) -> None:
        """Log the offers that were read leniently."""
        for protocol in self.spoken.tables[1:]:
            for place in _places_of(protocol):
                if at_path(theirs, place) == []:
                    from kinwire_protocols.lenient import EMPTY_ARRAY  # few processes need it

                    pointer = "/capabilities/" + place.replace(".", "/")
                    problem = Problem(pointer, "an object", "an array")
                    session.counts.noticed(EMPTY_ARRAY, INITIALIZE.name, problem)

    def _understood(self, capabilities: JsonObject) -> JsonObject:
        """Return `capabilities` with what counts of each offer."""
        for extension in self.spoken.extensions:
            place = extension.protocol.capability
            offer = None if place is None else at_path(capabilities, place)
            if place is None or not is_object(offer) or not isinstance(extension, ExtensionBase):
                continue
            counts = extension.understood(offer)
            if counts is not offer:
                capabilities = deepcopy(capabilities)
                put_at_path(capabilities, place, counts)
        return capabilities

    async def complete(self, session: Session) -> None:
        """Have the extensions do their part of the handshake, in listed order."""
        for extension in self._active:
            self.step = f"the handshake of {extension.protocol.name}"
            await extension.negotiated(session)

    async def attend(self, session: Session, adopt: Callable[[TaskGroup], None]) -> None:
        """Complete the handshake of a server when it has answered; return at the session's end.

        `adopt` gets a task group that is cancelled then, if there are extensions.
        """
        if self._settled is None:
            await session.wait_closed()
            return
        async with anyio.create_task_group() as tasks:
            adopt(tasks)
            tasks.start_soon(self._complete_behind_the_answer, session, self._settled)
            await session.wait_closed()
            tasks.cancel_scope.cancel()

    async def _complete_behind_the_answer(self, session: Session, settled: anyio.Event) -> None:
        # The handler of `initialize` that ends this wait queues its result in the same step.
        await settled.wait()
        try:
            await self.complete(session)
        except Exception:
            if not session.closed:
                logger.exception("an extension failed in the handshake; the session is closed")
                await session.aclose()


class _EarlyRoutes(Mapping[str, Route]):
    """The routes of a session whose handshake is under way.

    A peer may send a message right behind the one that ends the handshake, so that both arrive
    together: before any handler or interceptor of an extension is attached. Its route is a
    stand-in, which decides when it runs. A client lets everything that arrives wait for the end of
    the handshake. A server does that only with methods that extensions may come to serve: the
    handshake is serial, so what comes behind it waits for it anyway, and the server's own routes
    refuse by themselves what comes too early.
    """

    def __init__(
        self, own: Mapping[str, Route], spoken: SpokenProtocols, settled: anyio.Event
    ) -> None:
        self._own = own
        self._rows: Mapping[str, Method[Any, Any]] = spoken.extension_rows
        self._waits = spoken.side == "client"
        self._settled = settled

    def __getitem__(self, name: str) -> Route:
        route = self._own.get(name)
        if name == PING.name or (route is not None and not self._waits):
            if route is None:
                raise KeyError(name)
            return route
        return Route(self._rows[name] if route is None else route.method, self._decide)

    def __iter__(self) -> Iterator[str]:
        return iter({**self._own, **self._rows})

    def __len__(self) -> int:
        return sum(1 for _ in self)

    async def _decide(self, params: Message, request: Request) -> Any:
        if self._waits:
            await self._settled.wait()
        name = request.method.name
        route = request.session.route(name) if self._settled.is_set() else None
        if route is not None:
            return await request.run(route, params)
        if request.id is None:
            return None  # nobody handles it: ignored
        raise MethodNotFoundError(f"Method not found: {name:.60}")


def _offer_in(capabilities: JsonObject, protocol: ProtocolTable) -> object:
    """Return what a peer offers of `protocol`, also where only older peers have it.

    An empty array is read as an empty object.
    """
    offers = (at_path(capabilities, place) for place in _places_of(protocol))
    return next((offer or {} for offer in offers if is_object(offer) or offer == []), None)


def _places_of(protocol: ProtocolTable) -> list[str]:
    """Return where an offer may sit, the main place first."""
    places = (protocol.capability, *protocol.capability_aliases)
    return [place for place in places if place is not None]


def _at_main_places(capabilities: JsonObject, protocols: Iterable[ProtocolTable]) -> JsonObject:
    """Return `capabilities` with each offer at the place that its protocol gives first."""
    for protocol in protocols:
        place, offer = protocol.capability, _offer_in(capabilities, protocol)
        if place is not None and is_object(offer) and at_path(capabilities, place) is not offer:
            capabilities = deepcopy(capabilities)
            put_at_path(capabilities, place, offer)
    return capabilities


def _offers_to_plain_peers(extension: Extension) -> bool:
    return isinstance(extension, ExtensionBase) and extension.offers_to_plain_peers


def _guards_plain_peers(extension: Extension) -> bool:
    return isinstance(extension, ExtensionBase) and extension.guards_plain_peers


def _offered(path: str | None, theirs: JsonObject, ours: JsonObject) -> JsonObject | None:
    """Return what the peer offers, if both sides do."""
    if path is None:
        return {}
    offered = at_path(theirs, path)
    return offered if is_object(offered) and is_object(at_path(ours, path)) else None
