"""Sends audit events to one server that negotiated `audit`; a slow one delays nothing (MGP 6.3)."""

from __future__ import annotations

__all__ = ("AuditForwarder",)

import logging
from collections import deque

import anyio

from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.rpc.errors import ConnectionClosedError, KinwireError
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mgp.methods import NOTIFICATIONS_MGP_AUDIT

logger = logging.getLogger("kinwire.mgp")


class AuditForwarder:
    """A queue of events for one audit server; if it is full, the oldest event is dropped."""

    def __init__(self, server: GuardedServer, limit: int) -> None:
        self._server = server
        self._queue = deque[JsonObject](maxlen=limit)
        self._changed = anyio.Event()
        self.dropped = 0
        """How many events the server did not get."""

    def put(self, params: JsonObject) -> None:
        """Send an event when the server has taken those before it."""
        if len(self._queue) == self._queue.maxlen:
            if not self.dropped:
                logger.warning("%s: it is too slow for the audit events", self._server.id)
            self.dropped += 1
        self._queue.append(params)
        self._changed.set()

    async def run(self) -> None:
        """Send events until the session has ended."""
        try:
            while True:
                while self._queue:
                    await self._send(self._queue.popleft())
                self._changed = anyio.Event()
                await self._changed.wait()
        except ConnectionClosedError:
            return

    async def _send(self, params: JsonObject) -> None:
        try:
            await self._server.session.raw_notify(NOTIFICATIONS_MGP_AUDIT.name, params)
        except ConnectionClosedError:
            raise
        except KinwireError as error:
            logger.warning("%s: an audit event was not sent: %s", self._server.id, error)
