"""One live connection, the same class on both sides (JSON-RPC 2.0).

A session calls and notifies the peer, and serves the peer from a table of routes. It does not know
what a method means or how the handshake works: `Server`, `Host` and extensions do. They give it
what was negotiated, and interceptors to run around calls.
"""

from __future__ import annotations

__all__ = ("Session",)

from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from inspect import iscoroutinefunction
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from kinwire.rpc.calls import DEFAULT, OnId, PeerWithOptions, ProgressCallback, Timeout
from kinwire.rpc.codec import (
    EncodedObject,
    Id,
    as_read,
    encoded_notification,
    joined_notification,
)
from kinwire.rpc.drivers import driver_class
from kinwire.rpc.drivers.base import Driver
from kinwire.rpc.engine.inbound import AlsoProgress
from kinwire.rpc.engine.outbox import FrameOutbox
from kinwire.rpc.engine.streamed import StreamedCalls
from kinwire.rpc.error_table import ErrorTable
from kinwire.rpc.errors import SessionStateError, ShapeError
from kinwire.rpc.identity import PeerIdentity
from kinwire.rpc.interceptors import Interceptors, both_hear, send_through
from kinwire.rpc.limits import Counts, Limits
from kinwire.rpc.profile import RpcProfile
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Route
from kinwire.rpc.session_routes import SessionRoutes
from kinwire.rpc.transport import TRANSPORT_KIND, Transport
from kinwire.support.arguments import ArgumentCheck, instance_of, list_of
from kinwire_protocols.base import JsonObject, to_wire
from kinwire_protocols.peer import Method, Peer, ProtocolTable
from kinwire_protocols.problems import problems

P = TypeVar("P")
R = TypeVar("R")

_SESSION = ArgumentCheck(
    "Session",
    "Session(transport, routes={})",
    {
        "transport": TRANSPORT_KIND,
        "routes": instance_of(Mapping, "a dictionary of routes", "{}"),
        "profile": instance_of(RpcProfile, "an RpcProfile", "RpcProfile()"),
    },
    limits=instance_of(Limits, "Limits", "Limits(request_timeout=5)"),
    protocols=list_of(
        instance_of(ProtocolTable, "a protocol table", "PROTOCOL"), "protocol tables"
    ),
)


class Session(SessionRoutes):
    """A connection that is open inside `async with`; no task of it outlives that block.

    `routes` is looked up for each message, so a route may be added or removed at any time.
    `routes_of` makes them from a generated class of handlers. `profile` is what the protocol adds
    to JSON-RPC, such as cancellation (`kinwire.mcp.profile`); by default it adds nothing.
    `protocols` are the tables whose errors are recognised in addition to those of a method's row.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        routes: Mapping[str, Route],
        profile: RpcProfile = RpcProfile(),
        limits: Limits = Limits(),
        protocols: Iterable[ProtocolTable] = (),
    ) -> None:
        if type(self) is Session:  # what a server passes was checked when the server was made
            _SESSION.check(
                transport=transport,
                routes=routes,
                profile=profile,
                limits=limits,
                protocols=protocols,
            )
        self.profile = profile
        self._transport = transport
        self._routes = routes
        self._limits = limits
        self._known = ErrorTable(protocols)
        self._allowed = set()
        self.inbound = Interceptors()
        self._outbound = Interceptors(outbound=True)
        self._wire = {}
        self._at_end = []
        self._last_words = []
        self.peer_id = ""
        """The name of the peer in logs; empty until it is known. The peer may have chosen it."""

    @cached_property
    def identity(self) -> PeerIdentity:
        """Who the peer is in what this side stores."""
        return PeerIdentity.of(self._transport.address)

    async def __aenter__(self) -> Self:
        await self._new_driver().open()
        return self

    def _new_driver(self) -> Driver:
        if self._driver is not None:
            raise SessionStateError("The session was opened before. Create another one.")
        driver = driver_class(self._transport)
        self._driver = driver(
            self._transport,
            routes=self._routes,
            profile=self.profile,
            limits=self._limits,
            known=self._known,
            new=partial(driver.request_class, self),
        )
        return self._driver

    async def call(
        self,
        method: Method[P, R],
        params: P,
        /,
        *,
        timeout: Timeout = DEFAULT,
        on_progress: ProgressCallback | None = None,
        meta: JsonObject | None = None,
        on_id: OnId | None = None,
    ) -> R:
        """Send a request and return its result.

        `timeout` is in seconds and starts again with each progress report; `on_progress` is a
        plain function that is called with each report. `meta` goes into the params' `_meta`.
        `on_id` is a plain function that is called with the id of the request before the request is
        sent. If the calling task is cancelled, the request is cancelled at the peer.

        Raises:
            RpcError: the peer answered with an error.
            CapabilityNotNegotiatedError: the handshake did not allow it; nothing was sent.
            ConnectionClosedError: the connection has ended, or ended before the answer.
            RequestTimeoutError: no answer came in time.
            InvalidResponseError: the answer is not a valid response, or (`ShapeError`) does not
                have the method's type.
            UnsendableError: JSON cannot hold the params.
        """
        if method.name not in self._allowed:
            await self._admit_call(method)
        plan = self._outbound[method.name]
        if plan is None:
            return await self._call(method, timeout, on_progress, meta, on_id, params)
        send = partial(self._call, method, timeout, on_progress, meta, on_id)
        return await send_through(plan, method, send, params)

    async def _call(
        self,
        method: Method[P, R],
        timeout: Timeout,
        on_progress: ProgressCallback | None,
        meta: JsonObject | None,
        on_id: OnId | None,
        params: P,
    ) -> R:
        """Send a request that has passed gates and interceptors, and return its result."""
        body = to_wire(params)
        if method.positions:
            body = _by_position(method, params, meta or on_progress)
        if meta:
            field = self.profile.meta_field
            body[field] = {**(body.get(field) or {}), **meta}
        if on_progress is not None:
            self._check_progress_callback(on_progress)
        seconds = self._limits.request_timeout if timeout is DEFAULT else timeout
        driver = self._driver or self._opened()
        if method.name not in self._wire:
            result = await driver.call(method.name, method, body, seconds, on_progress, on_id)
        else:
            heard_by_caller = on_id

            async def send(body: JsonObject, /, *, on_id: OnId | None = None) -> Any:
                if heard_by_caller is not None:
                    on_id = both_hear(heard_by_caller, on_id)
                return await driver.call(method.name, method, body, seconds, on_progress, on_id)

            result = await self._wire[method.name](as_read(body), send)
        try:
            return method.decode_result(result, driver.engine.counts.noticed)
        except ValidationError as error:
            failure = self.shape_error(method.name, error, result)
        raise failure

    def shape_error(self, where: str, error: ValidationError, value: object, /) -> ShapeError:
        """Return the error to raise for `error`, which refused `value` as a result of `where`."""
        first = problems(error, value)[0]
        return ShapeError(where, first.pointer, first.expected, first.got)

    async def notify(self, method: Method[P, Any], params: P, /) -> None:
        """Send a notification.

        Raises:
            CapabilityNotNegotiatedError: the handshake did not allow it; nothing was sent.
            ConnectionClosedError: the connection has ended.
            UnsendableError: JSON cannot hold the params.
        """
        if method.name not in self._allowed:
            self._must_be_negotiated(method)
        plan = self._outbound[method.name]
        if plan is None:
            await self._notify(method, params)
        else:
            await send_through(plan, method, partial(self._notify, method), params)

    async def _notify(self, method: Method[P, Any], params: P) -> None:
        """Send a notification that has passed gates and interceptors."""
        body = method.params_to_wire(params) if method.positions else to_wire(params)
        await self.raw_notify(method.name, body)

    async def notify_if_negotiated(self, method: Method[P, Any], params: P, /) -> bool:
        """Send a notification if the handshake allowed it; return whether it did.

        Raises:
            ConnectionClosedError, UnsendableError: as for `notify`.
        """
        if self.denial_reason(method) is not None:
            return False
        await self.notify(method, params)
        return True

    def notify_now(
        self, method: Method[Any, Any], own: EncodedObject, shared: EncodedObject, /
    ) -> bool:
        """Send a notification if it need not wait; return whether it was sent.

        Its params are those in `own` and those in `shared`, of which neither is empty. It belongs
        to no request, and what is sent in this way keeps its order. It is not sent if the handshake
        did not allow it, if too much waits to leave or nobody takes it, if something intercepts it,
        or after the end.
        """
        driver, name = self._driver or self._opened(), method.name
        engine = driver.engine
        if engine.outbound.closed is not None or self._outbound[name] is not None:
            return False
        if name not in self._allowed and not self._may_send(method):
            return False
        return engine.outbox.add_apart(joined_notification(name, own, shared))

    def notify_if_room(self, method: Method[Any, Any], params: JsonObject, /) -> bool:
        """Send a notification if it need not wait; return whether it was sent.

        It leaves on the stream that is current, as what a handler sends does. It is not sent if the
        handshake did not allow it, if too much waits to leave, or after the end.

        Raises:
            UnsendableError: JSON cannot hold the params.
        """
        engine = self._opened().engine
        if engine.closed is not None or engine.outbox.full or not self._may_send(method):
            return False
        frame = encoded_notification(method.name, params)
        engine.outbox.add(frame.data, frame)
        return True

    def progress_if_room(
        self, request: Request, progress: float, total: float | None, message: str | None
    ) -> None:
        """Send a progress report as `report_progress` does, unless too much waits to leave."""
        engine = self._opened().engine
        if not engine.outbox.full:
            engine.inbound.progress(request, progress, total, message)

    async def wait_for_taker(self) -> bool:
        """Wait while nobody takes what the handler sends that calls this; False if nobody will.

        Over HTTP a response may break off, and the client come back to it.
        """
        return await self._opened().wait_for_taker()

    async def wait_for_room(self) -> None:
        """Return when what belongs to no request need not wait to be queued, or at the end."""
        await self._opened().wait_unblocked()

    async def raw(
        self,
        name: str,
        params: JsonObject | None = None,
        /,
        *,
        timeout: Timeout = DEFAULT,
        on_progress: ProgressCallback | None = None,
        on_id: OnId | None = None,
    ) -> Any:
        """Send a request of any name and return its result unchanged.

        Gates, interceptors and types are skipped; what `intercept_wire` has added is not. The
        options are those of `call`.

        Raises:
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError,
            UnsendableError: as for `call`.
        """
        seconds = self._limits.request_timeout if timeout is DEFAULT else timeout
        driver, guarded = self._opened(), self._wire.get(name)

        heard_by_caller = on_id

        async def send(body: JsonObject, /, *, on_id: OnId | None = None) -> Any:
            heard = both_hear(heard_by_caller, on_id)
            return await driver.call(name, None, body, seconds, on_progress, heard)

        body = dict(params or {})
        return await (send(body) if guarded is None else guarded(as_read(body), send))

    async def raw_notify(self, name: str, params: JsonObject | None = None, /) -> None:
        """Send a notification of any name; gates and interceptors are skipped.

        Raises:
            ConnectionClosedError, UnsendableError: as for `notify`.
        """
        if name in self._wire:
            raise SessionStateError(f"{name}: this session sends it as a request only. Call it.")
        driver = self._opened()
        await driver.wait_for_room(last=True)
        driver.engine.notify(name, params or {})

    async def wait_written(self) -> None:
        """Return when what was sent so far was handed to the operating system, as far as is known.

        Streams of HTTP keep what nobody takes yet; that is not waited for.

        Raises:
            ConnectionClosedError: the connection has ended, so it may not have left.
        """
        await self._opened().wait_written()

    def with_options(
        self,
        *,
        timeout: Timeout = DEFAULT,
        on_progress: ProgressCallback | None = None,
        meta: JsonObject | None = None,
    ) -> Peer:
        """Return this peer for calls with those options, to build generated stubs on."""
        return PeerWithOptions(self, timeout, on_progress, meta)

    def prolong(self, identifier: Id, seconds: float) -> None:
        """Give a request of this side `seconds` and then its whole timeout again, from now.

        Nothing happens if the request is answered, or has no timeout.
        """
        self._opened().engine.outbound.prolong(identifier, seconds)

    @property
    def limits(self) -> Limits:
        """How much of everything the connection may use."""
        return self._limits

    @property
    def requests(self) -> list[Request]:
        """Return the requests of the peer that are being handled."""
        works = self._opened().engine.inbound.under_way.values()
        return [work for work in works if work.id is not None]

    @property
    def outbox(self) -> FrameOutbox:
        """What waits to leave."""
        return self._opened().engine.outbox

    @property
    def counts(self) -> Counts:
        """Return how many messages were neither answered nor passed on, and lenient readings."""
        return self._opened().engine.counts

    async def report_progress(
        self,
        request: Request,
        progress: float,
        total: float | None,
        message: str | None,
        *,
        remaining_ms: float | None = None,
    ) -> None:
        """Send a progress report. Call `Request.progress` instead of this.

        `remaining_ms` is for what `also_progress` has set.
        """
        driver = self._opened()
        await driver.wait_for_room(last=True)
        driver.engine.inbound.progress(request, progress, total, message, remaining_ms)

    def also_progress(self, function: AlsoProgress) -> None:
        """Send what the plain `function` makes of each report of progress of this side as well.

        It gets reports also if the peer did not ask for any.
        """
        self._opened().engine.inbound.also_progress = function

    def progressed(self, identifier: int, report: JsonObject) -> None:
        """Take a report on a call of this side as if it had come by the token of the call.

        It is for calls that have no report by their token.
        """
        rule = self.profile.progress
        if rule is not None:
            params = {rule.token_field: identifier, **report}
            self._opened().engine.outbound.progressed(params, by_token=False)

    @property
    def streamed(self) -> StreamedCalls:
        """The calls of this side that are answered in parts, and who is behind in reading them."""
        return self._opened().engine.outbound.in_parts()

    def under_way(self, identifier: Id) -> Request | None:
        """Return the request of the peer of this id; None if it is not being handled."""
        return self._opened().engine.inbound.under_way.get(identifier)

    def stop(self, request: Request) -> None:
        """Cancel the handler of a request. Call `Request.interrupt` instead of this."""
        if not request.ended and request.task is not None:
            self._opened().stop(request)

    async def _admit_call(self, method: Method[Any, Any]) -> None:
        """Raise if a request of `method` may not be sent; remember that it may."""
        self._must_be_negotiated(method)

    def _check_progress_callback(self, on_progress: ProgressCallback) -> None:
        if self.profile.progress is None:
            raise TypeError("on_progress: the protocol of this session reports no progress")
        if iscoroutinefunction(on_progress):
            raise TypeError("on_progress: expected a plain function, got a coroutine function")


def _by_position(method: Method[P, Any], params: P, more: object) -> Any:
    """Return params as an array, which has no place for metadata."""
    if more:
        raise ValueError(f"{method.name}: params by position take no meta and no progress")
    return method.params_to_wire(params)
