"""One connection to the servers, and attempts that go on until one is answered or time is over."""

from __future__ import annotations

__all__ = ("NatsConnection", "StoredMessage", "Streams", "WrongRevisionError", "connected")

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from itertools import count
from secrets import token_urlsafe
from time import monotonic
from typing import Any, Protocol, TypeVar

import anyio
from nats.aio.client import Client
from nats.aio.subscription import Subscription
from nats.errors import Error
from nats.js.api import ConsumerConfig, ConsumerInfo, PubAck, StreamConfig, StreamInfo

from kinwire.storage.errors import StorageError, StorageVersionError
from kinwire.storage.nats.failures import AttemptOutcome, outcome_of, unavailable
from kinwire.storage.store import OpenGuard
from kinwire.storage.store_url import StoreUrl

T = TypeVar("T")
Headers = dict[str, str]

_OLDEST = (2, 11)  # the first server with an expiry for each message
_ATTEMPT = 2.0  # seconds that one attempt waits for its answer
_LAST_WRITES = 2.0  # seconds for what waits when the connection is closed
_PAUSE = 0.05  # seconds between attempts, and between looks whether the connection is back

_log = logging.getLogger("kinwire.storage.nats")


class WrongRevisionError(Exception):
    """The server refused a compare-and-set. `uncertain`: an earlier attempt may have succeeded."""

    def __init__(self, uncertain: bool) -> None:
        super().__init__(uncertain)
        self.uncertain = uncertain


@asynccontextmanager
async def connected(address: StoreUrl, timeout: float) -> AsyncGenerator[NatsConnection]:
    """Yield a connection, which comes back by itself when it is lost.

    Raises:
        StorageUnavailableError: no server answers.
        StorageVersionError: the server is too old.
    """
    place = f"store {', '.join(server.rpartition('@')[2] for server in address.servers)}"
    client, trouble = Client(), Trouble()
    try:
        with anyio.fail_after(timeout):
            await client.connect(
                list(address.servers),
                name="kinwire",
                error_cb=trouble.note,
                connect_timeout=_ATTEMPT,  # type: ignore[arg-type]  # it takes parts of seconds
                reconnect_time_wait=_PAUSE,  # type: ignore[arg-type]
                max_reconnect_attempts=-1,
            )
    except (TimeoutError, Error, OSError) as error:
        await _close(client)
        outcome = outcome_of(error, place) if isinstance(error, Error) else None
        if isinstance(outcome, StorageError):
            raise outcome from None
        raise unavailable(place, trouble.named(str(error) or "nothing"), False) from None
    guard = OpenGuard(place)
    try:
        _refuse_old(client, place)
        yield NatsConnection(client, guard, timeout, trouble)
    finally:
        guard.close()
        await _close(client)


async def _close(client: Client) -> None:
    """Close a connection, which may be broken, in a bounded time."""
    with anyio.move_on_after(_LAST_WRITES, shield=True):
        try:
            await client.close()
        except (Error, OSError) as error:  # what went wrong is an error where it was noticed
            _log.debug("the connection failed while it was closed: %s", error)


def _refuse_old(client: Client, place: str) -> None:
    try:
        version = client.connected_server_version
        found, got = (version.major, version.minor), f"{version.major}.{version.minor}"
    except ValueError as error:
        found, got = (0, 0), str(error)
    if found < _OLDEST:
        raise StorageVersionError(
            place,
            expected=f"nats-server {_OLDEST[0]}.{_OLDEST[1]} or newer",
            got=got,
            hint="Upgrade the server.",
        )


class Trouble:
    """The last problem of the connection: a lost connection is not an error, but may be a cause.

    The server's own message takes precedence over the system's, which follows it.
    """

    def __init__(self) -> None:
        self._said: tuple[float, str] = (0.0, "")
        self._lost: tuple[float, str] = (0.0, "")

    async def note(self, error: Exception) -> None:
        """Keep `error`."""
        _log.debug("connection: %s", error)
        now = monotonic(), str(error) or type(error).__name__
        if isinstance(error, OSError):
            self._lost = now
        else:
            self._said = now

    def named(self, got: str, since: float = 0.0) -> str:
        """Return `got` with the last complaint, if there was one since then."""
        for at, text in (self._said, self._lost):
            if text and at >= since:
                return f"{got} ({text})" if text != got else got
        return got


class Streams(Protocol):
    """What is asked of nats-py's JetStream, whose own types leave something open."""

    async def publish(self, subject: str, payload: bytes, /, *, headers: Headers) -> PubAck: ...
    async def get_msg(
        self, stream: str, /, *, seq: int | None = None, subject: str | None = None
    ) -> StoredMessage: ...
    async def stream_info(self, stream: str, /) -> StreamInfo: ...
    async def streams_info(self, offset: int, /) -> list[StreamInfo]: ...
    async def add_stream(self, config: StreamConfig, /) -> StreamInfo: ...
    async def update_stream(self, config: StreamConfig, /) -> StreamInfo: ...
    async def add_consumer(self, stream: str, config: ConsumerConfig, /) -> ConsumerInfo: ...
    async def delete_consumer(self, stream: str, consumer: str, /) -> bool: ...


class StoredMessage(Protocol):
    """A message that was asked for by itself."""

    seq: int
    data: bytes | None
    headers: Headers | None


class NatsConnection:
    """What records and logs of a store ask the servers through."""

    def __init__(self, client: Any, guard: OpenGuard, timeout: float, trouble: Trouble) -> None:
        self._trouble = trouble
        self.guard = guard
        self.timeout = timeout
        self._client = client
        self.streams: Streams = self._client.jetstream(timeout=min(timeout, _ATTEMPT))
        self._own = token_urlsafe(12)
        self._numbers = count()

    @property
    def reconnects(self) -> int:
        """Return how often the connection was lost and came back."""
        return int(self._client.stats["reconnects"])

    def new_id(self) -> str:
        """Return an id that no other write has."""
        return f"w{self._own}.{next(self._numbers)}"

    async def inbox(self) -> Subscription:
        """Return a subscription to a subject of its own."""
        inbox: Subscription = await self._client.subscribe(self._client.new_inbox())
        return inbox

    async def publish(self, subject: str, payload: bytes, reply: str) -> None:
        """Send a message that nobody acknowledges."""
        await self._client.publish(subject, payload, reply=reply)

    async def ask(self, place: str, attempt: Callable[[], Awaitable[T]]) -> T:
        """Return what `attempt` returns; it is made again while the server does not answer it.

        It has to be one that may be done twice.

        Raises:
            NotFoundError: the server says that it is not there.
            StorageError: it cannot be done, or not within the timeout.
        """
        return (await self._persist(place, attempt, writes=False))[0]

    async def write(
        self, subject: str, payload: bytes, headers: Mapping[str, str], place: str
    ) -> tuple[PubAck, bool]:
        """Store a message; return its acknowledgement, and whether an attempt went without one.

        Raises:
            WrongRevisionError: the headers name a revision that is not the last one.
            StorageError: it cannot be done, or not within the timeout.
        """

        async def attempt() -> PubAck:
            return await self.streams.publish(subject, payload, headers=dict(headers))

        return await self._persist(place, attempt)

    async def _persist(
        self, place: str, attempt: Callable[[], Awaitable[T]], *, writes: bool = True
    ) -> tuple[T, bool]:
        begun = monotonic()
        deadline = begun + self.timeout
        uncertain, got = False, "no connection"
        while (left := deadline - monotonic()) > 0:
            self.guard.ensure_open()
            if self._client.is_connected:
                try:
                    if left >= _ATTEMPT:  # an attempt ends by itself: one timer is enough
                        return await attempt(), uncertain
                    async with asyncio.timeout(left):
                        return await attempt(), uncertain
                except (Error, OSError) as error:
                    outcome = outcome_of(error, place)
                    if outcome is AttemptOutcome.WRONG_REVISION:
                        raise WrongRevisionError(uncertain) from None
                    if isinstance(outcome, Exception):
                        raise outcome from None
                    uncertain = uncertain or (writes and outcome is AttemptOutcome.UNCERTAIN)
                    got = str(error) or type(error).__name__
            await asyncio.sleep(_PAUSE)
        raise unavailable(place, self._trouble.named(got, begun), uncertain)
