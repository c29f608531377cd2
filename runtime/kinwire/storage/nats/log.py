"""A log in a stream."""

from __future__ import annotations

__all__ = ("NatsLog",)

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

from nats.aio.msg import Msg
from nats.js.api import PubAck
from nats.js.errors import NotFoundError

from kinwire.storage.errors import CursorLostError, StorageUnavailableError
from kinwire.storage.inputs import decoded, encoded, unreadable
from kinwire.storage.log import Appended, Entry, checked_id, checked_page, encoded_entries
from kinwire.storage.nats.connection import NatsConnection, WrongRevisionError
from kinwire.storage.nats.failures import unavailable
from kinwire.storage.nats.keys import log_stream, quoted, unquoted
from kinwire.storage.nats.stream_reader import StreamReader
from kinwire.storage.subjects import checked_pattern, checked_subject
from kinwire.storage.subscription import StoreSubscription

_ID, _ATTEMPT = "Nats-Msg-Id", "Kinwire-Attempt"
_EXPECTED = "Nats-Expected-Last-Sequence"
_GIVEN = "i."  # what the id of an entry begins with if the caller gave it
_PAGE = 200
_WAIT = 5.0  # seconds that one wait for entries lasts


class NatsLog:
    """A named log of a cluster."""

    def __init__(self, store: str, name: str, connection: NatsConnection) -> None:
        self.name, self._connection = name, connection
        self._stream, self._prefix = log_stream(store, name)

    async def append(self, subject: str, value: Any, *, id: str | None = None) -> Appended:
        checked_subject(subject)
        checked_id(id)
        payload = encoded(value, subject).encode()
        own = self._connection.new_id()
        headers = {_ID: own}
        if id is not None:
            headers = {_ID: _GIVEN + quoted(id), _ATTEMPT: own}
        done, uncertain = await self._connection.write(
            self._prefix + subject, payload, headers, subject
        )
        duplicate = bool(done.duplicate) and id is not None
        if duplicate and uncertain:
            duplicate = not await self._is_own(done, own)
        return Appended(done.seq, duplicate)

    async def append_after(self, sequence: int, entries: Sequence[tuple[str, Any]]) -> int:
        checked_page(sequence)
        rows = encoded_entries(entries)
        for number, (subject, text) in enumerate(rows):
            headers = {_ID: self._connection.new_id(), _EXPECTED: str(sequence + number)}
            try:
                await self._connection.write(
                    self._prefix + subject, text.encode(), headers, subject
                )
            except WrongRevisionError as error:
                if error.uncertain:  # an attempt that got no answer may have been the one
                    raise unavailable(subject, "no answer to an attempt", True) from None
                return number
        return len(rows)

    async def read(self, subjects: str = ">", *, after: int = 0, limit: int = 1000) -> list[Entry]:
        checked_page(after, limit)
        reader = self.reader(checked_pattern(subjects), after)
        try:
            messages = await reader.available(limit)
        finally:
            await reader.aclose()
        await self.refuse_gap(after, messages)
        return [self.entry(message) for message in messages]

    def follow(
        self, subjects: str = ">", *, after: int = 0
    ) -> AbstractAsyncContextManager[AsyncIterator[Entry]]:
        checked_pattern(subjects)
        checked_page(after)

        async def opened() -> _Entries:
            return _Entries(self, subjects, after)

        return StoreSubscription(opened)

    async def bounds(self) -> tuple[int, int]:
        streams = self._connection.streams
        info = await self._connection.ask(self._stream, lambda: streams.stream_info(self._stream))
        state = info.state
        return (state.first_seq if state.messages else state.last_seq + 1), state.last_seq

    def reader(self, subjects: str, after: int) -> StreamReader:
        """Return what reads the messages of these subjects."""
        return StreamReader(self._connection, self._stream, self._prefix + subjects, after)

    def entry(self, message: Msg) -> Entry:
        """Return the entry that a message holds."""
        about = message.metadata
        given = (message.headers or {}).get(_ID, "")
        sequence = about.sequence.stream
        place = f"log {self.name!r}, entry {sequence}"
        try:
            id = unquoted(given.removeprefix(_GIVEN)) if given.startswith(_GIVEN) else None
        except ValueError as error:
            raise unreadable(place, error) from None
        subject, value = message.subject.removeprefix(self._prefix), decoded(message.data, place)
        return Entry(sequence, subject, value, about.timestamp.timestamp(), id)

    async def refuse_gap(self, after: int, messages: list[Msg]) -> None:
        """Refuse to go on where retention was faster than the reader."""
        if after == 0 or (messages and messages[0].metadata.sequence.stream == after + 1):
            return
        first, _ = await self.bounds()
        if first > after + 1:
            raise CursorLostError(f"log {self.name!r}", after=after, first=first)

    async def _is_own(self, done: PubAck, own: str) -> bool:
        """Return whether an entry with this id was written by an attempt of this call."""
        streams = self._connection.streams
        with suppress(NotFoundError):
            message = await self._connection.ask(
                self._stream, lambda: streams.get_msg(self._stream, seq=done.seq)
            )
            return (message.headers or {}).get(_ATTEMPT) == own
        return False


class _Entries:
    """The source of a follower."""

    def __init__(self, log: NatsLog, subjects: str, after: int) -> None:
        self._log, self._after = log, after
        self._reader = log.reader(subjects, after)

    async def more(self) -> list[Entry]:
        messages: list[Msg] = []
        with suppress(StorageUnavailableError):  # the reader waits anyway: it is asked again
            messages = await self._reader.more(_PAGE, _WAIT)
            if messages:
                await self._log.refuse_gap(self._after, messages)
                self._after = self._reader.position
        return [self._log.entry(message) for message in messages]

    async def aclose(self) -> None:
        await self._reader.aclose()
