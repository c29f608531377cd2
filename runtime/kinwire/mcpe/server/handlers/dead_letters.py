"""What handlers could not do: kept, to be looked at and tried again."""

from __future__ import annotations

__all__ = ("RETRY_REQUESTS", "DeadLetter", "DeadLetters")

from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from kinwire.managers.durable_map import DurableMap, RecordCodec
from kinwire.mcpe.server.handlers.work import HandlerWork
from kinwire.storage.clock import Clock, forward
from kinwire.storage.records import Records
from kinwire_protocols.base import JsonObject

MOST_DEAD: Final = 1000
"""How many are kept; for one more, the oldest is removed."""


_DEAD: Final = "mcpe-dead/"

RETRY_REQUESTS: Final = "mcpe-retry/"
"""The prefix of records with the ids of dead letters that are to be tried again."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Work that a handler has failed to do."""

    id: str
    work: HandlerWork
    reason: str
    """Why it has failed, as a clause."""
    failed_at: float
    """When it failed last, in seconds since 1970."""

    def to_record(self) -> JsonObject:
        """Return it as it is recorded."""
        return {
            "work": self.work.to_record(),
            "attempts": self.work.attempt,
            "reason": self.reason,
            "failedAt": self.failed_at,
        }


class DeadLetters:
    """The work that failed, the oldest first; without records it is in memory."""

    def __init__(self, records: Records | None, clock: Clock) -> None:
        self._records, self._clock = records, clock
        self._letters = DurableMap(records, _DEAD, _CODEC, limit=MOST_DEAD, clock=forward(clock))

    async def load(self) -> None:
        """Read what is recorded.

        Raises:
            StorageError: the store failed.
        """
        await self._letters.load()

    def __len__(self) -> int:
        return len(self._letters)

    def all(self) -> list[DeadLetter]:
        """Return them, the oldest first."""
        return [letter for _, letter in self._letters.items()]

    async def add(self, work: HandlerWork, reason: str) -> None:
        """Keep work that has failed.

        Raises:
            StorageError: the store failed.
        """
        now = self._clock()
        id = f"{int(now * 1000):013d}-{uuid4().hex[:8]}"
        await self._letters.put(id, DeadLetter(id, work, reason, now))

    async def find(self, id: str) -> DeadLetter | None:
        """Return one, also of another process; None if it is not there.

        Raises:
            StorageError: the store failed.
        """
        return await self._letters.find(id)

    async def request_retry(self, id: str) -> None:
        """Have the process with the handlers try one again: soon, or when it starts.

        Raises:
            StorageError: the store failed.
        """
        if self._records is not None:
            await self._records.put(RETRY_REQUESTS + id, None)

    async def remove(self, id: str) -> None:
        """Remove one; one that is not there changes nothing.

        Raises:
            StorageError: the store failed.
        """
        await self._letters.delete(id)


def _letter(id: str, kept: Any) -> DeadLetter:
    work = HandlerWork.from_record(kept["work"], int(kept["attempts"]))
    return DeadLetter(id, work, str(kept["reason"]), float(kept["failedAt"]))


_CODEC = RecordCodec[str, DeadLetter](
    lambda id: id, lambda _, letter: letter.to_record(), lambda id, kept: (id, _letter(id, kept))
)
