"""Records in a key-value bucket.

NATS expires messages in whole seconds and by its own clock. So each message also has its exact
expiry, which readers check; the expiry of the server only cleans up.
"""

from __future__ import annotations

__all__ = ("NatsRecords",)

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from math import ceil
from typing import Any

from nats.aio.msg import Msg
from nats.js.errors import NotFoundError

from kinwire.storage.clock import Clock
from kinwire.storage.errors import (
    ConflictError,
    CursorLostError,
    StorageError,
    StorageUnavailableError,
)
from kinwire.storage.inputs import decoded, encoded, unreadable
from kinwire.storage.nats.connection import NatsConnection, StoredMessage, WrongRevisionError
from kinwire.storage.nats.failures import unavailable
from kinwire.storage.nats.keys import filter_of, key_of, records_stream, subject_of
from kinwire.storage.nats.stream_reader import StreamReader
from kinwire.storage.records import (
    REMOVALS_KEPT,
    Change,
    Record,
    checked_expiry,
    checked_key,
    checked_prefix,
    checked_revision,
)
from kinwire.storage.subscription import StoreSubscription
from kinwire.support.bounded import LruDict

ID, EXPECTED, TTL = "Nats-Msg-Id", "Nats-Expected-Last-Subject-Sequence", "Nats-TTL"
_EXPIRES = "Kinwire-Expires"
_REMOVED = ("KV-Operation", "Nats-Marker-Reason")  # by a client, by the server
_REMOVAL = {"KV-Operation": "DEL", TTL: str(int(REMOVALS_KEPT))}
_PAGE = 200
_WAIT = 5.0  # seconds that one wait for changes lasts
_KNOWN = 10_000  # revisions whose expiry is remembered


@dataclass(frozen=True, slots=True)
class _Found:
    """The last message under a key: a record, or a removal."""

    revision: int
    """Of the record, or of the message that says so."""
    text: bytes | None
    expires_at: float | None


class NatsRecords:
    """Named records of a cluster."""

    def __init__(self, store: str, name: str, connection: NatsConnection, now: Clock) -> None:
        self._name, self._connection, self._now = name, connection, now
        self._stream, self._prefix = records_stream(store, name)
        # A revision's expiry never changes, so what is known of it stays true.
        self._known = LruDict[str, tuple[int, float | None]](_KNOWN)

    async def get(self, key: str) -> Record | None:
        checked_key(key)
        return self._record(key, await self._look(key))

    async def put(
        self,
        key: str,
        value: Any,
        *,
        revision: int | None = None,
        expires_in: float | None = None,
    ) -> int:
        checked_key(key)
        checked_revision(revision)
        checked_expiry(expires_in)
        payload, headers = encoded(value, key).encode(), dict[str, str]()
        expires_at = None if expires_in is None else self._now() + expires_in
        if expires_in is not None:
            headers = {_EXPIRES: repr(expires_at), TTL: str(ceil(expires_in))}
        if revision:
            await self._refuse_expired(key, revision)
        written = await self._exchange(key, payload, headers, revision)
        self._known.put(key, (written, expires_at))
        return written

    async def delete(self, key: str, *, revision: int | None = None) -> bool:
        checked_key(key)
        checked_revision(revision)
        while True:
            found = await self._look(key)
            there = 0 if found.text is None else found.revision
            if revision is not None and revision != there:
                raise ConflictError(key, revision, there)
            if not there:
                return False
            try:
                await self._remove(key, there)
            except WrongRevisionError as error:
                if error.uncertain:
                    raise _unknown(key) from None
            else:
                return True

    async def scan(self, prefix: str = "") -> AsyncIterator[Record]:
        reader = self.reader(checked_prefix(prefix))
        try:
            while messages := await reader.available(_PAGE):
                for change in map(self.change, messages):
                    if change.record is not None and change.key.startswith(prefix):
                        yield change.record
        finally:
            await reader.aclose()

    def watch(self, prefix: str = "") -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        checked_prefix(prefix)

        async def opened() -> _Changes:
            info = await self._connection.ask(
                self._stream, lambda: self._connection.streams.stream_info(self._stream)
            )
            return _Changes(self, prefix, info.state.last_seq, self._now)

        return StoreSubscription(opened)

    def reader(self, prefix: str) -> StreamReader:
        """Return what reads the messages of the keys with that prefix, and maybe others."""
        return StreamReader(self._connection, self._stream, self._prefix + filter_of(prefix), 0)

    def change(self, message: Msg) -> Change:
        """Return the change in a message; an expired record counts as removed."""
        subject = message.subject.removeprefix(self._prefix)
        try:
            key = key_of(subject)
        except ValueError as error:
            raise unreadable(self._place(subject), error) from None
        revision = message.metadata.sequence.stream
        found = self._found(key, revision, message.data, message.headers)
        if _expired(found, self._now()):
            return Change(key, revision, None)
        if found.text is not None:
            self._known.put(key, (revision, found.expires_at))
        return Change(key, revision, self._record(key, found))

    async def _look(self, key: str) -> _Found:
        """Return what the bucket has; what has expired is removed, so that it stays so."""
        message = await self._last(key)
        if message is None:
            return _Found(0, None, None)
        found = self._found(key, message.seq, message.data or b"", message.headers)
        if not _expired(found, self._now()):
            self._known.put(key, (found.revision, found.expires_at))
            return found
        with suppress(StorageError, WrongRevisionError):
            return _Found(await self._remove(key, found.revision), None, None)
        return _Found(found.revision, None, None)

    async def _refuse_expired(self, key: str, revision: int) -> None:
        """Refuse a compare-and-set with the revision of a record that has expired."""
        known, expires_at = self._known.peek(key) or (0, None)
        if known != revision or (expires_at is not None and expires_at <= self._now()):
            found = await self._look(key)
            there = 0 if found.text is None else found.revision
            if there != revision:
                raise ConflictError(key, revision, there)

    async def _exchange(
        self, key: str, payload: bytes, headers: dict[str, str], revision: int | None
    ) -> int:
        expected = revision
        while True:
            try:
                return await self._send(key, payload, headers, expected)
            except WrongRevisionError as error:
                if error.uncertain:
                    raise _unknown(key) from None
            found = await self._look(key)
            if revision or found.text is not None:
                there = 0 if found.text is None else found.revision
                raise ConflictError(key, revision or 0, there)
            expected = found.revision  # of the message that says that the record is gone

    async def _remove(self, key: str, revision: int) -> int:
        return await self._send(key, b"", _REMOVAL, revision)

    async def _send(
        self, key: str, payload: bytes, headers: Mapping[str, str], expected: int | None
    ) -> int:
        sent = {**headers, ID: self._connection.new_id()}
        if expected is not None:
            sent[EXPECTED] = str(expected)
        subject = self._prefix + subject_of(key)
        try:
            done, _ = await self._connection.write(subject, payload, sent, repr(key))
        except WrongRevisionError as error:
            # After a crash the server compares revisions before it knows the ids again.
            last = await self._last(key) if error.uncertain else None
            if last is not None and (last.headers or {}).get(ID) == sent[ID]:
                return last.seq
            raise
        return done.seq

    async def _last(self, key: str) -> StoredMessage | None:
        """Return the last message under a key, None if there never was one."""
        streams, subject = self._connection.streams, self._prefix + subject_of(key)
        try:
            return await self._connection.ask(
                repr(key), lambda: streams.get_msg(self._stream, subject=subject)
            )
        except NotFoundError:
            return None

    def _found(
        self, key: str, revision: int, data: bytes, headers: Mapping[str, str] | None
    ) -> _Found:
        headers = headers or {}
        if any(name in headers for name in _REMOVED):
            return _Found(revision, None, None)
        try:
            expires_at = float(headers[_EXPIRES]) if _EXPIRES in headers else None
        except ValueError as error:
            raise unreadable(self._place(key), error) from None
        return _Found(revision, data, expires_at)

    def _record(self, key: str, found: _Found) -> Record | None:
        if found.text is None:
            return None
        value = decoded(found.text, self._place(key))
        return Record(key, value, found.revision, found.expires_at)

    def _place(self, key: str) -> str:
        return f"records {self._name!r}, key {key!r}"


class _Changes:
    """The source of a watch."""

    def __init__(self, records: NatsRecords, prefix: str, begun: int, now: Clock) -> None:
        self._records, self._prefix, self._begun, self._now = records, prefix, begun, now
        self._reader = records.reader(prefix)
        self._looked = now()

    async def more(self) -> list[Change]:
        before, self._looked = self._looked, self._now()
        if self._looked - before > REMOVALS_KEPT:
            position = self._reader.position
            raise CursorLostError("watch", after=position, first=position + 1)
        messages: list[Msg] = []
        with suppress(StorageUnavailableError):  # the reader waits anyway: it is asked again
            messages = await self._reader.more(_PAGE, _WAIT)
        return [
            change
            for change in map(self._records.change, messages)
            if change.key.startswith(self._prefix)
            and (change.record is not None or change.revision > self._begun)
        ]

    async def aclose(self) -> None:
        await self._reader.aclose()


def _expired(found: _Found, now: float) -> bool:
    return found.expires_at is not None and found.expires_at <= now


def _unknown(key: str) -> StorageError:
    return unavailable(repr(key), "a refusal after an attempt without an answer", True)
