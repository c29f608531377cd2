"""Messages of a stream in order, from a position on. Gaps and restarts are detected and repaired.

A consumer of its own on the server hands them out. It may be gone after a restart, or have sent
messages that were lost on the way; then another one begins behind the last message that came.
"""

from __future__ import annotations

__all__ = ("StreamReader", "unreadable")

import json
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

import anyio
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from kinwire.storage.errors import StorageDamagedError, StorageUnavailableError
from kinwire.storage.nats.connection import NatsConnection
from kinwire.storage.nats.failures import unavailable

_FORGOTTEN_AFTER = 30.0  # seconds after which the server drops a consumer that asks for nothing
_AT_ONCE = 200  # messages that are on their way without being asked for again
_AT_ONCE_BYTES = 64 * 1024 * 1024
_HEARTBEAT = 2.0  # seconds after which the server says that there is nothing
_REQUEST = 10.0  # seconds that one request for messages stands
_BEAT, _ENDED = "100", ("404", "408", "409")


async def unreadable(reader: StreamReader, read: Callable[[Msg], object]) -> list[str]:
    """Return what is wrong with the messages that `read` refuses as damaged."""
    found: list[str] = []
    try:
        while messages := await reader.available(_AT_ONCE):
            for message in messages:
                try:
                    read(message)
                except StorageDamagedError as error:
                    found.append(str(error))
    finally:
        await reader.aclose()
    return found


class StreamReader:
    """Reads what lies above `position` and passes a filter; `position` moves on with it."""

    def __init__(
        self, connection: NatsConnection, stream: str, subjects: str, position: int
    ) -> None:
        self.position = position
        self._connection, self._stream, self._subjects = connection, stream, subjects
        self._consumer = ""
        self._inbox: Subscription | None = None
        self._pending = 0  # messages that lie there, as far as is known
        self._came = 0  # from this consumer
        self._credit = 0  # messages that were asked for and have not come
        self._heard = 0.0
        self._reconnects = 0

    async def available(self, limit: int) -> list[Msg]:
        """Return what lies there already, at most `limit`; nothing once all has come.

        Raises:
            StorageUnavailableError: there is more, but it did not come within the timeout.
        """
        found, complete = await self._collected(limit)
        if not complete:
            raise unavailable(self._stream, "only some of the messages", False)
        return found

    async def more(self, limit: int, wait: float) -> list[Msg]:
        """Return what lies there, or what comes first within `wait` seconds."""
        await self._ensure()
        if self._pending:
            return (await self._collected(limit))[0]
        return await self._next(wait)

    async def aclose(self) -> None:
        """Give the consumer back."""
        inbox, self._inbox = self._inbox, None
        with anyio.move_on_after(1.0, shield=True), suppress(Error, OSError):
            if inbox is not None:
                await inbox.unsubscribe()
                await self._connection.streams.delete_consumer(self._stream, self._consumer)

    async def _collected(self, limit: int) -> tuple[list[Msg], bool]:
        """Return messages, and whether these are all that were asked for."""
        found: list[Msg] = []
        deadline = monotonic() + self._connection.timeout
        while len(found) < limit and (left := deadline - monotonic()) > 0:
            try:
                await self._ensure()
            except StorageUnavailableError:
                return found, False
            if self._pending == 0:
                return found, True
            came = await self._next(min(left, _HEARTBEAT))
            found += came
            if not came:
                await self._drop()  # what was there may have been removed: ask how much there is
        return found, len(found) == limit

    async def _ensure(self) -> None:
        """Have a consumer that goes on behind `position`."""
        silent = monotonic() - self._heard > 2 * _HEARTBEAT + 1
        if self._inbox is not None and (silent or self._reconnects != self._connection.reconnects):
            await self._drop()
        if self._inbox is None:
            self._reconnects = self._connection.reconnects
            info = await self._connection.ask(self._stream, self._begin)
            self._inbox = await self._connection.inbox()
            self._consumer, self._pending = info
            self._came = self._credit = 0
            self._heard = monotonic()

    async def _begin(self) -> tuple[str, int]:
        config = ConsumerConfig(
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=self.position + 1,
            ack_policy=AckPolicy.NONE,
            filter_subject=self._subjects,
            inactive_threshold=_FORGOTTEN_AFTER,
            mem_storage=True,
            num_replicas=1,
        )
        info = await self._connection.streams.add_consumer(self._stream, config)
        return info.name, info.num_pending or 0

    async def _drop(self) -> None:
        """Forget the consumer: the server does so too after a while."""
        inbox, self._inbox = self._inbox, None
        if inbox is not None:
            with suppress(Error, OSError):
                await inbox.unsubscribe()

    async def _next(self, wait: float) -> list[Msg]:
        """Return the next message, or [] after `wait` seconds or when a new request is due."""
        inbox = self._inbox
        if inbox is None:
            return []
        try:
            if self._credit == 0:
                await self._request(inbox)
            message = await inbox.next_msg(timeout=wait)
        except (Error, OSError):
            return []
        self._heard = monotonic()
        status = (message.headers or {}).get("Status")
        if status is None:
            return await self._taken(message)
        if status != _BEAT:
            self._credit = 0
            if status not in _ENDED:
                await self._drop()
        return []

    async def _request(self, inbox: Subscription) -> None:
        request = {
            "batch": _AT_ONCE,
            "max_bytes": _AT_ONCE_BYTES,
            "expires": int(_REQUEST * 1e9),
            "idle_heartbeat": int(_HEARTBEAT * 1e9),
        }
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._consumer}"
        self._credit = _AT_ONCE
        await self._connection.publish(subject, json.dumps(request).encode(), inbox.subject)

    async def _taken(self, message: Msg) -> list[Msg]:
        about = message.metadata
        if about.sequence.consumer != self._came + 1:  # one was lost between
            await self._drop()
            return []
        self._came += 1
        self._credit -= 1
        self._pending = about.num_pending
        self.position = about.sequence.stream
        return [message]
