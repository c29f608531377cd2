"""Appends to a log whose entries are a chain of hashes, for any number of writers and processes.

What waits at the same time is linked and appended together. If another process appended first, the
entries are linked to its entries and appended again, so that the log has one chain.
"""

from __future__ import annotations

__all__ = ("ChainedLog",)

import logging
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import anyio

from kinwire.managers.hash_chain import START, CanonicalJson, ChainHead, chained, head_of
from kinwire.storage.errors import CursorLostError, StorageError, StorageUnavailableError
from kinwire.storage.inputs import JsonText
from kinwire.storage.log import Log
from kinwire.support.background import start_detached
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import JsonObject

logger = logging.getLogger("kinwire.managers")

_TOGETHER = 1000  # entries in one append
_PATIENCE = 0.05  # seconds to wait for more entries while nobody waits for those that there are
_TRIES = 100  # each failed one means that another process has appended
_LOOKED_BACK = 100  # entries at the end of a log that are not of the chain


class _Waiter:
    """A task that waits until its entry is appended."""

    __slots__ = ("done", "error")

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.error: Exception | None = None

    def fail(self, error: Exception) -> None:
        self.error = error
        self.done.set()


class _Unwritten(NamedTuple):
    subject: str
    value: JsonObject | Callable[[], CanonicalJson]
    waiter: _Waiter | None
    """None: nobody waits, and the entry is kept until it is appended."""


class _Place(NamedTuple):
    """Where the next entry goes."""

    sequence: int
    """That of the newest entry in the log."""
    head: ChainHead
    damaged: bool = False
    """Whether the log ends with something else than an entry of the chain."""


class ChainedLog:
    """Appends entries, each linked to the one before it.

    They are read as `{"seq": ..., "prev": ..., "hash": ..., "event": value}` from the log itself.
    Values must not be changed after they are passed.
    """

    def __init__(self, log: Log, *, mark: tuple[str, JsonObject] | None = None) -> None:
        """Prepare to append to `log`.

        `mark`, a subject and a value, is appended first if the log ends with an entry that is not
        of the chain, as after damage.
        """
        self._log = log
        self._mark = None if mark is None else _Unwritten(*mark, None)
        self._unwritten = deque[_Unwritten]()
        self._taken: list[_Unwritten] = []
        self._is_writing = False
        self._hurry = anyio.Event()
        self._idle = anyio.Event()
        self._place: _Place | None = None  # None: not known

    @property
    def waiting(self) -> int:
        """The number of entries that are not appended yet."""
        return len(self._unwritten) + len(self._taken)

    async def append(self, subject: str, value: JsonObject) -> None:
        """Append an entry; return when it is as durable as the log.

        Raises:
            StorageError: it was not appended; or it may have been, if `outcome_unknown` says so.
        """
        waiter = _Waiter()
        self._unwritten.append(_Unwritten(subject, value, waiter))
        self._write_soon(hurry=True)
        await waiter.done.wait()
        if waiter.error is not None:
            raise waiter.error

    def add(self, subject: str, value: JsonObject | Callable[[], CanonicalJson]) -> None:
        """Append an entry soon, with others that come until then.

        `value` may be a function that makes it, which must return the same each time: making the
        values of many entries together costs less. If appending fails, it is tried again with the
        next entry.
        """
        self._unwritten.append(_Unwritten(subject, value, None))
        self._write_soon(hurry=len(self._unwritten) >= _TOGETHER)

    async def drain(self) -> None:
        """Try to append all that waits, and return when that is over."""
        if self._unwritten:
            self._write_soon(hurry=True)
        if self._is_writing:
            await self._idle.wait()

    def _write_soon(self, *, hurry: bool) -> None:
        if not self._is_writing:
            self._is_writing, self._idle, self._hurry = True, anyio.Event(), anyio.Event()
            start_detached(self._write_all)
        if hurry:
            self._hurry.set()

    async def _write_all(self) -> None:
        reason: Exception = RuntimeError("the event loop ended before the log answered")
        try:
            with anyio.move_on_after(_PATIENCE):
                await self._hurry.wait()
            while self._unwritten:
                count = min(_TOGETHER, len(self._unwritten))
                self._taken = [self._unwritten.popleft() for _ in range(count)]
                await self._append_taken()
        except Exception as error:
            reason, self._place = error, None
            problem = sanitize_for_log(error)
            logger.error("a chain of entries cannot be continued: %s", problem)
        finally:
            self._put_back(reason)
            self._is_writing = False
            self._idle.set()

    def _put_back(self, reason: Exception) -> None:
        """Keep the entries for which nobody waits, and end the wait for the others."""
        left = [*self._taken, *self._unwritten]
        self._taken = []
        self._unwritten = deque(one for one in left if one.waiter is None)
        for one in left:
            if one.waiter is not None:
                one.waiter.fail(reason)

    async def _append_taken(self) -> None:
        for _ in range(_TRIES):
            count = await self._append_first(self._taken)
            for one in self._taken[:count]:
                if one.waiter is not None:
                    one.waiter.done.set()
            del self._taken[:count]
            if not self._taken:
                return
        raise StorageUnavailableError(
            "chain of a log",
            expected="to be the next to append",
            got=f"another writer was first {_TRIES} times",
            hint="Try again later.",
        )

    async def _append_first(self, entries: list[_Unwritten]) -> int:
        """Append entries, and return how many: fewer if another writer came first."""
        try:
            place = self._place or await self._find_place()
        except CursorLostError:  # retention was faster
            return 0
        marks = [self._mark] if place.damaged and self._mark is not None else []
        head, heads, linked = place.head, list[ChainHead](), list[tuple[str, JsonText]]()
        for one in (*marks, *entries):
            value = one.value() if callable(one.value) else one.value
            head, entry = chained(head, one.subject, value)
            heads.append(head)
            linked.append((one.subject, entry))
        self._place = None  # until it is known what was appended
        count = await self._appended(place.sequence, linked, heads)
        if count == len(linked):
            self._place = _Place(place.sequence + count, head)
        return max(0, count - len(marks))

    async def _appended(
        self, sequence: int, linked: list[tuple[str, JsonText]], heads: list[ChainHead]
    ) -> int:
        try:
            return await self._log.append_after(sequence, linked)
        except StorageError as error:
            if not error.outcome_unknown:
                raise
            found = await self._log.read(after=sequence, limit=len(linked))
            pairs = zip(found, heads, strict=False)
            count = sum(head_of(entry.value) == head for entry, head in pairs)
            if not count:
                raise
            return count

    async def _find_place(self) -> _Place:
        """Return where the chain ends, before what others may have left at the end of the log."""
        first, last = await self._log.bounds()
        if first > last:
            return _Place(last, START)
        after = max(first - 1, last - _LOOKED_BACK)
        entries = await self._log.read(after=after, limit=_LOOKED_BACK)
        for entry in reversed(entries):
            head = head_of(entry.value)
            if head is not None:
                return _Place(entries[-1].sequence, head, entry is not entries[-1])
        return _Place(last, START, damaged=True)
