"""The places of handlers that run at the same time, shared fairly by clients."""

from __future__ import annotations

__all__ = ("HandlerPlaces",)

from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio


class HandlerPlaces:
    """A number of places. Clients that wait for one take turns, however much work each of them has.

    So a client whose handlers take long holds others up no longer than one of its handlers takes.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: dict[str, deque[anyio.Event]] = {}  # by client; the next one comes first

    @asynccontextmanager
    async def of(self, client_id: str) -> AsyncGenerator[None]:
        """Have a place while the block lasts."""
        await self._take(client_id)
        try:
            yield
        finally:
            self._give_back()

    async def _take(self, client_id: str) -> None:
        if self._free:
            self._free -= 1
            return
        turn = anyio.Event()
        self._waiting.setdefault(client_id, deque()).append(turn)
        try:
            await turn.wait()
        except BaseException:
            self._forget(client_id, turn)
            raise

    def _give_back(self) -> None:
        if not self._waiting:
            self._free += 1
            return
        client_id = next(iter(self._waiting))
        turns = self._waiting.pop(client_id)
        turns.popleft().set()
        if turns:
            self._waiting[client_id] = turns  # behind the other clients

    def _forget(self, client_id: str, turn: anyio.Event) -> None:
        if turn.is_set():  # it was given a place at the same time
            self._give_back()
            return
        turns = self._waiting[client_id]
        turns.remove(turn)
        if not turns:
            del self._waiting[client_id]
