"""The extensions of one session, from their offers to the end of the handshake, in either role.

The offers travel inside `initialize`. As soon as both sides' capabilities are known, gates stand
and extensions are attached, before any other message is handled; then they do their own part.
"""

from __future__ import annotations

__all__ = ("Negotiation",)

import logging
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Literal

import anyio

from kinwire.mcp.extension import Extension
from kinwire.rpc.calls import Route
from kinwire.rpc.codec import is_object
from kinwire.rpc.negotiated import Agreement, at_path
from kinwire.rpc.routes import EarlyRoutes
from kinwire.rpc.session import Session
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import PROTOCOL as MCP
from kinwire_protocols.peer import ProtocolTable

logger = logging.getLogger("kinwire.session")


class Negotiation:
    """What the extensions of the `side` that this is do in one handshake."""

    def __init__(self, side: Literal["client", "server"], extensions: Sequence[Extension]) -> None:
        self._side: Literal["client", "server"] = side
        self._extensions = extensions
        self._active: list[Extension] = []
        self._over = anyio.Event()

    @property
    def protocols(self) -> list[ProtocolTable]:
        """The tables of all that the session may speak."""
        return [MCP, *(extension.protocol for extension in self._extensions)]

    def routes(self, own: Mapping[str, Route]) -> Mapping[str, Route]:
        """Return the routes of the session: `own`, and what extensions may come to serve."""
        if not self._extensions:
            return own
        rows = {
            name: row
            for extension in self._extensions
            for row in extension.protocol.methods.values()
            if row.sender != self._side
            for name in row.names
        }
        return EarlyRoutes(own, rows, self._over, waits=self._side == "client")

    def offer(self, capabilities: JsonObject, theirs: JsonObject | None = None) -> None:
        """Write the offers into the `capabilities` of this side; a server is given the client's."""
        for extension in self._extensions:
            path = extension.protocol.capability
            if path is None:
                continue
            offered = None if theirs is None else _offer_in(theirs, extension.protocol)
            if theirs is None or is_object(offered):
                ours = extension.offer(offered if is_object(offered) else None)
                if ours is not None:
                    _put(capabilities, path, ours)

    def settle(self, session: Session, *, client: JsonObject, server: JsonObject) -> None:
        """Set up gates and extensions by the capabilities of both sides; messages find them now."""
        theirs, ours = (server, client) if self._side == "client" else (client, server)
        theirs = _at_main_places(theirs, [one.protocol for one in self._extensions])
        client, server = (ours, theirs) if self._side == "client" else (theirs, ours)
        paths = {one.protocol.name: one.protocol.capability for one in self._extensions}
        session.agree(Agreement(client, server, paths))
        for extension in self._extensions:
            offered = _offered(extension.protocol.capability, theirs, ours)
            if offered is not None:
                session.add_errors_of(extension.protocol)
                self._active.append(extension)
            extension.attach(session, offered)
        self._over.set()

    async def complete(self, session: Session) -> None:
        """Have the extensions do their part of the handshake, in listed order."""
        for extension in self._active:
            await extension.negotiated(session)

    async def attend(self, session: Session) -> None:
        """Complete the handshake of a server when it has answered; return at the session's end."""
        if not self._extensions:
            await session.wait_closed()
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._complete_behind_the_answer, session)
            await session.wait_closed()
            tasks.cancel_scope.cancel()

    async def _complete_behind_the_answer(self, session: Session) -> None:
        # The handler of `initialize` that ends this wait queues its result in the same step.
        await self._over.wait()
        try:
            await self.complete(session)
        except Exception:
            if not session.closed:
                logger.exception("an extension failed in the handshake; the session is closed")
                await session.aclose()


def _offer_in(capabilities: JsonObject, protocol: ProtocolTable) -> object:
    """Return what a peer offers of `protocol`, also where only older peers have it."""
    places = (protocol.capability, *protocol.capability_aliases)
    offers = (at_path(capabilities, place) for place in places if place is not None)
    return next((offer for offer in offers if is_object(offer)), None)


def _at_main_places(capabilities: JsonObject, protocols: Iterable[ProtocolTable]) -> JsonObject:
    """Return `capabilities` with each offer at the place that its protocol gives first."""
    for protocol in protocols:
        place, offer = protocol.capability, _offer_in(capabilities, protocol)
        if place is not None and is_object(offer) and at_path(capabilities, place) is not offer:
            capabilities = deepcopy(capabilities)
            _put(capabilities, place, offer)
    return capabilities


def _offered(path: str | None, theirs: JsonObject, ours: JsonObject) -> JsonObject | None:
    """Return what the peer offers, if both sides do."""
    if path is None:
        return {}
    offered = at_path(theirs, path)
    return offered if is_object(offered) and is_object(at_path(ours, path)) else None


def _put(capabilities: JsonObject, path: str, offer: JsonObject) -> None:
    *parents, name = path.split(".")
    for parent in parents:
        capabilities = capabilities.setdefault(parent, {})
    capabilities[name] = offer
