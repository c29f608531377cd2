"""A connection that is opened again when it ends: for servers that die or restart."""

from __future__ import annotations

__all__ = ("KeptConnection", "OnConnect", "keep_connected")

import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

from kinwire.mcp.connection import Connection
from kinwire.rpc.calls import TIMEOUT_KIND
from kinwire.rpc.errors import ConnectionClosedError, SessionStateError
from kinwire.rpc.transport import Transport
from kinwire.support.arguments import (
    FUNCTION,
    PLAIN_FUNCTION,
    SECONDS,
    TEXT,
    ArgumentCheck,
    ValueKind,
)
from kinwire.support.background import movable_background
from kinwire.support.backoff import Backoff
from kinwire.support.sanitize import sanitize_for_log
from kinwire.transports.url_options import OPTION_KINDS

if TYPE_CHECKING:
    from kinwire.mcp.server import Server

logger = logging.getLogger("kinwire.host")

_ENDED = "The block of keep_connected, or the host, has ended."

OnConnect = Callable[[Connection], Awaitable[object]]
"""Prepares a connection that was opened, before the program gets it."""


class KeptConnection:
    """The connections to one server, one after the other. `Host.keep_connected` makes it."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        on_connect: OnConnect | None,
        backoff: Backoff,
        sleep: Callable[[float], Awaitable[object]] = anyio.sleep,
    ) -> None:
        self._sleep = sleep
        self._connect = connect
        self._on_connect = on_connect
        self._backoff = backoff
        self._connection: Connection | None = None
        self._over = anyio.Event()  # of the connection, with its process
        self._ended = False
        self._news = anyio.Event()

    @property
    def connection(self) -> Connection:
        """The open connection.

        Raises:
            ConnectionClosedError: the server is not connected at the moment.
        """
        found = self._connection
        if found is None or found.session.closed:
            raise ConnectionClosedError(
                "The server is not connected at the moment. `await kept.wait_connected()` waits."
            )
        return found

    async def wait_connected(self) -> Connection:
        """Return the open connection, or the next one as soon as it is open.

        Raises:
            ConnectionClosedError: the block of `keep_connected`, or the host, has ended.
        """
        while True:
            if self._ended:
                raise ConnectionClosedError(_ENDED)
            if self._connection is not None and not self._connection.session.closed:
                return self._connection
            await self._news.wait()

    async def open(self) -> None:
        """Connect, and prepare the connection."""
        connection = await self._connect()
        self._over = over = anyio.Event()
        connection.session.on_close(over.set)
        try:
            if self._on_connect is not None:
                await self._on_connect(connection)
        except BaseException:
            await connection.aclose()
            raise
        self._connection = connection
        self._announce()

    async def run(self) -> None:
        """Connect again each time the connection has ended, until cancelled or the host ends."""
        failures = 0
        while self._connection is not None:
            opened, connection = anyio.current_time(), self._connection
            await self._over.wait()  # two processes of one server could be in each other's way
            if anyio.current_time() - opened >= self._backoff.longest:
                failures = 0
            failures = await self._reopened(connection.session.closed_why, failures)

    async def close(self) -> None:
        """Close the connection for good."""
        connection, self._connection = self._connection, None
        self._ended = True
        self._announce()
        if connection is not None:
            await connection.aclose()

    async def _reopened(self, why: Exception | None, failures: int) -> int:
        """Connect until that succeeds; return how many failures there have been in a row."""
        while True:
            failures += 1
            delay = self._backoff.delay(failures, jitter=random.random())
            text = "%s: the connection has ended, and is opened again in %.1f seconds: %s"
            logger.warning(text, self._name, delay, sanitize_for_log(why or "closed"))
            await self._sleep(delay)
            try:
                await self.open()
            except SessionStateError:  # the host has ended
                await self.close()
                return failures
            except Exception as error:
                why = error
            else:
                return failures

    @property
    def _name(self) -> str:
        return "" if self._connection is None else self._connection.session.peer_id

    def _announce(self) -> None:
        self._news.set()
        self._news = anyio.Event()


def keep_connected(
    connect: Callable[..., Awaitable[Connection]],
    target: Callable[[], Transport | Server | str] | str,
    on_connect: OnConnect | None,
    first_delay: float,
    longest_delay: float,
    options: Mapping[str, Any],
) -> AbstractAsyncContextManager[KeptConnection]:
    """Return the context manager of `Host.keep_connected`, which documents the parameters."""
    _KEEP_CONNECTED.check(
        target=target,
        on_connect=on_connect,
        first_delay=first_delay,
        longest_delay=longest_delay,
        **options,
    )
    backoff = Backoff(first=first_delay, longest=longest_delay)

    def open_one() -> Awaitable[Connection]:
        return connect(target if isinstance(target, str) else target(), **options)

    return _kept(KeptConnection(open_one, on_connect, backoff))


@asynccontextmanager
async def _kept(kept: KeptConnection) -> AsyncGenerator[KeptConnection]:
    """Yield `kept` with its first connection open; keep it connected until the end of the block."""
    await kept.open()
    try:
        async with movable_background() as tasks:
            tasks.start_soon(kept.run)
            yield kept
            tasks.cancel_scope.cancel()
    finally:
        await kept.close()


def _is_target(value: object) -> bool:
    return isinstance(value, str) or PLAIN_FUNCTION.fits(value)


_KEEP_CONNECTED = ArgumentCheck(
    "Host.keep_connected",
    'host.keep_connected(lambda: stdio("python", "server.py"))',
    {
        "target": ValueKind(
            "a URL or a plain function that returns a transport",
            'lambda: stdio("python", "server.py")',
            _is_target,
        )
    },
    on_connect=FUNCTION.or_none,
    first_delay=SECONDS,
    longest_delay=SECONDS,
    server_id=TEXT.or_none,
    on_log=PLAIN_FUNCTION.or_none,
    handshake_timeout=TIMEOUT_KIND,
    **OPTION_KINDS,
)
