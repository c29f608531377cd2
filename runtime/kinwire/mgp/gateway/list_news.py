"""Which lists have changed, for clients: at most one notification in a while, however many come."""

from __future__ import annotations

__all__ = ("ListNews",)

from collections.abc import Callable
from functools import partial

import anyio

from kinwire.managers.while_open import while_open
from kinwire.mcp.rules.pagination import ListName
from kinwire.mgp.gateway.upstream import Upstream

_PAUSE = 0.2  # seconds between two notifications about one list


class ListNews:
    """Announces changes of lists. A client fetches a list again for each that it gets."""

    def __init__(self, announce: Callable[[ListName], None]) -> None:
        """`announce` notifies all clients."""
        self._announce = announce
        self._paused = set[ListName]()
        self._waiting = set[ListName]()

    def put(self, name: ListName, upstream: Upstream) -> None:
        """Announce that a list has changed, now or when the pause since the last time is over."""
        if name in self._paused:
            self._waiting.add(name)
            return
        self._announce(name)
        session = upstream.session
        if not session.closed:
            self._paused.add(name)
            session.start_soon(partial(while_open, session, partial(self._pause, name)))

    async def _pause(self, name: ListName) -> None:
        try:
            await anyio.sleep(_PAUSE)
        finally:
            self._paused.discard(name)
            if name in self._waiting:
                self._waiting.discard(name)
                self._announce(name)
