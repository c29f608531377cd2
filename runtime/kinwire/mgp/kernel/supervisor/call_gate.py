"""What every request to a supervised server passes: refused by its state, counted while it runs."""

from __future__ import annotations

__all__ = ("CallGate",)

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import anyio

from kinwire.rpc.interceptors import Send
from kinwire.rpc.session import Session
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.mcp.methods import INITIALIZE, PING, PROTOCOL

Refused = Callable[[str, JsonObject], RpcError | None]
"""Returns why a request of a method, with its params, is refused; None if it is sent."""


class CallGate:
    """The requests of MCP to one server, over all its connections. Pings do not count."""

    def __init__(self, refused: Refused, now: Callable[[], float]) -> None:
        self._refused = refused
        self._now = now
        self.under_way = 0
        """How many requests are not answered yet."""
        self.last_used = now()
        """When the last request began or ended, by `now`."""
        self._quiet = anyio.Event()

    def join(self, session: Session) -> None:
        """Stand before everything else around the requests of a session."""
        self.last_used = self._now()
        for name in _counted():
            session.intercept_wire(name, partial(self._pass, name))

    async def wait_quiet(self) -> None:
        """Return when no request is under way."""
        while self.under_way:
            if self._quiet.is_set():
                self._quiet = anyio.Event()
            await self._quiet.wait()

    async def _pass(self, name: str, params: JsonObject, send: Send) -> Any:
        refused = self._refused(name, params)
        if refused is not None:
            raise refused
        self.under_way += 1
        self.last_used = self._now()
        try:
            return await send(params)
        finally:
            self.under_way -= 1
            self.last_used = self._now()
            if not self.under_way:
                self._quiet.set()


def _counted() -> Iterator[str]:
    """Yield the names of what a client asks for."""
    for row in PROTOCOL.methods.values():
        asked = row.kind == "request" and row.sender != "server"
        if asked and row not in (INITIALIZE, PING):
            yield row.name
