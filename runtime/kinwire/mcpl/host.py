"""MCPL in a host: its offer, its policy, and the servers that speak it."""

from __future__ import annotations

__all__ = ("McplHost",)

import logging
from collections.abc import Iterable
from typing import ClassVar

from kinwire.connection import Connection
from kinwire.extension import ExtensionHandlers
from kinwire.mcpl.live_server import LiveServer
from kinwire.mcpl.rules.feature_sets import FeaturePolicy, FeatureSets
from kinwire.mcpl.rules.offers import VERSION, read_offer
from kinwire.session import Session
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject, Message
from kinwire_protocols.mcpl.methods import (
    FEATURE_SETS_CHANGED,
    INFERENCE_REQUEST,
    PROTOCOL,
    PUSH_EVENT,
)
from kinwire_protocols.peer import ProtocolTable

logger = logging.getLogger("kinwire.mcpl")


class McplHost:
    """The host's side of MCPL: `Host(..., extensions=[McplHost(enabled=["memory.*"])])`.

    `enabled` and `disabled` are names of feature sets or patterns (`memory.*`, `*`) that are on or
    off at first; what neither names is off. `forbidden` ones can never be enabled.
    """

    protocol: ClassVar[ProtocolTable] = PROTOCOL

    def __init__(
        self,
        *,
        enabled: Iterable[str] = (),
        disabled: Iterable[str] = (),
        forbidden: Iterable[str] = (),
    ) -> None:
        """Prepare to speak with any number of servers.

        Raises:
            ValueError: a pattern is none.
        """
        self._policy = FeaturePolicy(
            enabled=tuple(enabled), disabled=tuple(disabled), forbidden=tuple(forbidden)
        )
        self._handlers = ExtensionHandlers()
        self._defaults = ExtensionHandlers()
        self._defaults.add(FEATURE_SETS_CHANGED, _taken)
        self.on = mcpl.ClientOn(self._handlers.add)
        """Where handlers of your own are registered: `@live.on.push_event`."""
        self._servers: dict[Session, LiveServer] = {}

    @property
    def servers(self) -> list[LiveServer]:
        """The servers that speak MCPL and are connected, in the order in which they came."""
        return [live for session, live in self._servers.items() if not session.closed]

    def of(self, connection: Connection) -> LiveServer | None:
        """Return the MCPL side of a connection; None if the server speaks only MCP."""
        return self._servers.get(connection.session)

    def offer(self, theirs: JsonObject | None) -> JsonObject:
        """Return what the host offers: what it has handlers for, and hooks."""
        served = self._handlers.routes
        offered: JsonObject = {
            "version": VERSION,
            "contextHooks": {"beforeInference": True, "afterInference": {"blocking": True}},
            "featureSets": True,
        }
        if PUSH_EVENT.name in served:
            offered["pushEvents"] = True
        if INFERENCE_REQUEST.name in served:
            offered["inferenceRequest"] = {"streaming": True}
        return offered

    def attach(self, session: Session, theirs: JsonObject | None) -> None:
        """Take up a server that speaks MCPL; leave one that does not as it is."""
        if theirs is None:
            return
        for ended in [one for one in self._servers if one.closed]:
            del self._servers[ended]
        offer = read_offer(theirs)
        for warning in offer.warnings:
            logger.warning("%s: its offer of MCPL: %s", session.peer_id, warning)
        sets = FeatureSets(offer.feature_sets, enabled=False, policy=self._policy)
        sets.obey_policy()
        self._servers[session] = LiveServer(session, offer, sets)
        session.serve(self._handlers.routes)
        session.serve(self._defaults.routes)

    async def negotiated(self, session: Session) -> None:
        """Do nothing: the first update goes out behind `initialized`."""


async def _taken(params: Message) -> None:
    """Serve what the interceptors have acted on already."""
