"""Reports changes of state to one server, by `notifications/mgp.lifecycle` (MGP 0.2.0, 11.4)."""

from __future__ import annotations

__all__ = ("Announcer",)

from collections import deque
from contextlib import suppress

import anyio

from kinwire.mgp.rules.lifecycle import StateChange
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.session import Session
from kinwire.support.timestamps import timestamp_of
from kinwire_protocols.mgp.methods import NOTIFICATIONS_MGP_LIFECYCLE
from kinwire_protocols.mgp.models import LifecycleNotificationParams

_MOST = 100  # changes that wait for a server that does not read; the oldest goes first


class Announcer:
    """The changes that were not reported to a server yet."""

    def __init__(self) -> None:
        self._waiting = deque[StateChange](maxlen=_MOST)
        self._news = anyio.Event()

    def put(self, change: StateChange) -> None:
        """Tell of a change as soon as the server reads."""
        self._waiting.append(change)
        self._news.set()

    async def run(self, session: Session) -> None:
        """Tell the server of one connection, until that has ended."""
        with suppress(ConnectionClosedError):
            while True:
                while self._waiting:
                    params = _params(self._waiting.popleft())
                    await session.notify(NOTIFICATIONS_MGP_LIFECYCLE, params)
                self._news = anyio.Event()
                await self._news.wait()

    def clear(self) -> None:
        """Forget what waits: the connection is over."""
        self._waiting.clear()


def _params(change: StateChange) -> LifecycleNotificationParams:
    return LifecycleNotificationParams(
        server_id=change.server,
        previous_state=change.previous,
        new_state=change.new,
        reason=change.reason,
        timestamp=timestamp_of(change.at),
    )
