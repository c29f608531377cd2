"""What is kept of supervised servers between two runs of a kernel, if it has records."""

from __future__ import annotations

__all__ = ("KeptHistories", "KeptHistory")

import logging
from typing import Any, NamedTuple, cast

from kinwire.mgp.rules.restarts import RestartHistory
from kinwire.rpc.codec import is_object
from kinwire.rpc.identity import PeerIdentity
from kinwire.storage.errors import StorageError
from kinwire.storage.records import Records
from kinwire.support.validation import is_count, is_number

logger = logging.getLogger("kinwire.mgp.supervisor")


class KeptHistory(NamedTuple):
    """What is kept of one server."""

    restarts: RestartHistory
    stopped: bool
    """Whether an operator has stopped it: it stays down until it is started."""


_NOTHING = KeptHistory(RestartHistory(), stopped=False)


class KeptHistories:
    """The restarts of servers, in records. A store that is away stops no server."""

    def __init__(self, records: Records | None) -> None:
        self._records = records

    async def load(self, server: str) -> KeptHistory:
        """Return what is known of a server."""
        if self._records is None:
            return _NOTHING
        try:
            record = await self._records.get(_key(server))
        except StorageError as error:
            logger.warning("%s: its restarts could not be read: %s", server, error)
            return _NOTHING
        return _NOTHING if record is None else _read(record.value)

    async def forget(self, server: str) -> None:
        """Forget a server."""
        await self.save(server, _NOTHING)

    async def save(self, server: str, kept: KeptHistory) -> None:
        """Keep what is known of a server."""
        if self._records is None:
            return
        try:
            if kept == _NOTHING:
                await self._records.delete(_key(server))
            else:
                await self._records.put(_key(server), _written(kept))
        except StorageError as error:
            logger.warning("%s: its restarts could not be written: %s", server, error)


def _key(server: str) -> str:
    return f"lifecycle/{PeerIdentity.of(None, server).key}"


def _written(kept: KeptHistory) -> dict[str, Any]:
    return {
        "times": list(kept.restarts.times),
        "streak": kept.restarts.streak,
        "stopped": kept.stopped,
    }


def _read(value: Any) -> KeptHistory:
    """Return what a record says; nothing, if another program has written it."""
    if not is_object(value):
        return _NOTHING
    times, streak = value.get("times"), value.get("streak")
    if not (isinstance(times, list) and is_count(streak, 0)):
        return _NOTHING
    numbers = cast("list[object]", times)
    if not all(map(is_number, numbers)):
        return _NOTHING
    history = RestartHistory(tuple(cast("list[float]", times)), cast("int", streak))
    return KeptHistory(history, value.get("stopped") is True)
