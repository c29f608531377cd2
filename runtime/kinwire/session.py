"""One live connection, the same class on both sides (JSON-RPC 2.0).

It calls and notifies the peer, and serves the peer from a table of routes. What a method means,
the handshake and what was negotiated are for `Server` and `Host` to know.
"""

from __future__ import annotations

__all__ = ("DEFAULT", "Default", "Session")

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import partial
from inspect import iscoroutinefunction
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeVar

from pydantic import ValidationError

from kinwire.calls import ProgressCallback, Route
from kinwire.drivers import driver_class
from kinwire.drivers.base import Driver
from kinwire.errors import ConnectionClosedError, SessionStateError, ShapeError
from kinwire.limits import Counts, Limits
from kinwire.request import Request
from kinwire.rpc_errors import error_table
from kinwire.transports import Transport
from kinwire_protocols.base import JsonObject, Message, to_wire
from kinwire_protocols.peer import Method, Peer, ProtocolTable
from kinwire_protocols.problems import problems

P = TypeVar("P", bound=Message)
R = TypeVar("R")


class Default(Enum):
    """Stands for what the session's limits say."""

    TIMEOUT = "Limits.request_timeout"


DEFAULT: Final = Default.TIMEOUT

Timeout = float | Literal[Default.TIMEOUT] | None
"""Seconds; None for no limit."""


class Session:
    """A connection that is open inside `async with`; no task of it outlives that block.

    `routes` is looked up for each message, so a route may be added or removed at any time.
    `protocols` are the tables whose errors are recognised beside those of a method's own row.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        routes: Mapping[str, Route],
        limits: Limits = Limits(),  # noqa: B008 - frozen
        protocols: Iterable[ProtocolTable] = (),
    ) -> None:
        self._transport = transport
        self._routes = routes
        self._limits = limits
        self._known = error_table(protocols)
        self._driver: Driver | None = None

    async def __aenter__(self) -> Self:
        if self._driver is not None:
            raise SessionStateError("A session is opened once. Make another one.")
        self._driver = driver_class()(
            self._transport,
            routes=self._routes,
            limits=self._limits,
            known=self._known,
            new=partial(Request, self),
        )
        await self._driver.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._opened().shut()

    async def call(
        self,
        method: Method[P, R],
        params: P,
        /,
        *,
        timeout: Timeout = DEFAULT,
        on_progress: ProgressCallback | None = None,
        meta: JsonObject | None = None,
    ) -> R:
        """Send a request and return its result.

        `timeout` is in seconds and begins anew with each progress report; `on_progress` is a
        plain function and called with each. `meta` goes into the params' `_meta`. If the calling
        task is cancelled, the peer is told to stop.

        Raises:
            RpcError: the peer answered with an error.
            ConnectionClosedError: the connection has ended, or ended before the answer.
            RequestTimeoutError: no answer came in time.
            InvalidResponseError: the answer is no response, or (`ShapeError`) not of the
                method's type.
            UnsendableError: JSON cannot hold the params.
        """
        result = await self._call(method.name, method, to_wire(params), timeout, on_progress, meta)
        try:
            return method.decode_result(result)
        except ValidationError as error:
            first = problems(error, result)[0]
        raise ShapeError(method.name, first.pointer, first.expected, first.got)

    async def notify(self, method: Method[P, Any], params: P, /) -> None:
        """Send a notification.

        Raises:
            ConnectionClosedError: the connection has ended.
            UnsendableError: JSON cannot hold the params.
        """
        await self.raw_notify(method.name, to_wire(params))

    async def raw(
        self, name: str, params: JsonObject | None = None, /, *, timeout: Timeout = DEFAULT
    ) -> Any:
        """Send a request of any name and return its result as it came, unchecked.

        Raises:
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError,
            UnsendableError: as for `call`.
        """
        return await self._call(name, None, dict(params or {}), timeout, None, None)

    async def raw_notify(self, name: str, params: JsonObject | None = None, /) -> None:
        """Send a notification of any name.

        Raises:
            ConnectionClosedError, UnsendableError: as for `notify`.
        """
        driver = self._opened()
        await driver.wait_for_room()
        driver.engine.notify(name, params or {})

    def with_options(
        self,
        *,
        timeout: Timeout = DEFAULT,
        on_progress: ProgressCallback | None = None,
        meta: JsonObject | None = None,
    ) -> Peer:
        """Return this peer for calls with those options, to build generated stubs on."""
        return _WithOptions(self, timeout, on_progress, meta)

    async def wait_closed(self) -> None:
        """Return when the connection has ended, whoever ended it."""
        await self._opened().wait_ended()

    async def aclose(self) -> None:
        """End the connection: cancel handlers, write what waits, release the transport.

        It takes a bounded time, works in a cancelled scope, and may be called by a handler,
        which then goes on without an answer. Doing it again does nothing.
        """
        await self._opened().close()

    @property
    def closed(self) -> bool:
        """Whether nothing can be called any more."""
        return self.closed_why is not None

    @property
    def closed_why(self) -> ConnectionClosedError | None:
        """Why nothing can be called any more."""
        return None if self._driver is None else self._driver.engine.closed

    @property
    def counts(self) -> Counts:
        """What was neither answered nor passed on."""
        return self._opened().engine.counts

    async def report_progress(
        self, request: Request, progress: float, total: float | None, message: str | None
    ) -> None:
        """Send a progress report; `Request.progress` is the way to call this."""
        driver = self._opened()
        await driver.wait_for_room()
        driver.engine.inbound.progress(request, progress, total, message)

    async def _call(
        self,
        name: str,
        method: Method[Any, Any] | None,
        params: JsonObject,
        timeout: Timeout,
        on_progress: ProgressCallback | None,
        meta: JsonObject | None,
    ) -> Any:
        if on_progress is not None and iscoroutinefunction(on_progress):
            raise TypeError("on_progress: expected a plain function, got a coroutine function")
        if meta:
            params["_meta"] = {**(params.get("_meta") or {}), **meta}
        seconds = self._limits.request_timeout if timeout is DEFAULT else timeout
        return await self._opened().call(name, method, params, seconds, on_progress)

    def _opened(self) -> Driver:
        if self._driver is None:
            raise SessionStateError("The session is not open. Use it inside `async with`.")
        return self._driver


class _WithOptions:
    """A peer whose calls carry options."""

    def __init__(
        self,
        session: Session,
        timeout: Timeout,
        on_progress: ProgressCallback | None,
        meta: JsonObject | None,
    ) -> None:
        self._session = session
        self._timeout: Timeout = timeout
        self._on_progress = on_progress
        self._meta = meta

    async def call(self, method: Method[P, R], params: P, /) -> R:
        return await self._session.call(
            method, params, timeout=self._timeout, on_progress=self._on_progress, meta=self._meta
        )

    async def notify(self, method: Method[P, Any], params: P, /) -> None:
        await self._session.notify(method, params)
