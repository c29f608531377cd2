"""One live connection, the same class on both sides (JSON-RPC 2.0).

A session calls and notifies the peer, and serves the peer from a table of routes. It does not know
what a method means or how the handshake works: `Server`, `Host` and extensions do. They give it
what was negotiated, and interceptors to run around calls.
"""

from __future__ import annotations

__all__ = ("DEFAULT", "Session", "Timeout")

from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import cached_property, partial
from inspect import iscoroutinefunction
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import ValidationError

from kinwire.rpc.calls import DEFAULT, OnId, PeerWithOptions, ProgressCallback, Timeout
from kinwire.rpc.codec import EncodedObject, Id, as_read, joined_notification
from kinwire.rpc.drivers import driver_class
from kinwire.rpc.drivers.base import Driver
from kinwire.rpc.engine.inbound import AlsoProgress
from kinwire.rpc.engine.streamed import StreamedCalls
from kinwire.rpc.error_table import ErrorTable
from kinwire.rpc.errors import (
    CapabilityNotNegotiatedError,
    ConnectionClosedError,
    RpcError,
    SessionStateError,
    ShapeError,
)
from kinwire.rpc.identity import PeerIdentity
from kinwire.rpc.interceptors import (
    ErrorFilter,
    Filter,
    Guard,
    InboundInterceptor,
    Interceptors,
    OutboundInterceptor,
    Send,
    WireInterceptor,
    both_hear,
    heard,
    send_through,
)
from kinwire.rpc.limits import Counts, Limits
from kinwire.rpc.negotiated import Negotiated
from kinwire.rpc.profile import RpcProfile
from kinwire.rpc.request import Request
from kinwire.rpc.routes import LayeredRoutes, Route
from kinwire.rpc.transport import TRANSPORT_KIND, ListeningTransport, Transport
from kinwire.support.arguments import ArgumentCheck, instance_of, list_of
from kinwire_protocols.base import JsonObject, Message, to_wire
from kinwire_protocols.peer import Method, Peer, ProtocolTable
from kinwire_protocols.problems import problems

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

P = TypeVar("P", bound=Message)
R = TypeVar("R")

_SESSION = ArgumentCheck(
    "Session",
    "Session(transport, routes={}, profile=PROFILE)",
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


class Session:
    """A connection that is open inside `async with`; no task of it outlives that block.

    `routes` is looked up for each message, so a route may be added or removed at any time.
    `profile` is what the protocol adds to JSON-RPC, such as cancellation (`kinwire.mcp.profile`).
    `protocols` are the tables whose errors are recognised in addition to those of a method's row.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        routes: Mapping[str, Route],
        profile: RpcProfile,
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
        self._layers: LayeredRoutes | None = None
        self._limits = limits
        self._known = ErrorTable(protocols)
        self._driver: Driver | None = None
        self._negotiated: Negotiated | None = None
        self._allowed: set[str] = set()  # methods that have passed the gates
        self._tasks: TaskGroup | None = None
        self.peer_id = ""
        """The name of the peer in logs; empty until it is known. The peer may have chosen it."""
        self.inbound = Interceptors()
        """The interceptors, guards and filters around this side's handlers."""
        self._is_over = False
        self._at_end: list[Callable[[], object]] = []
        self._outbound = Interceptors(outbound=True)
        self._wire: dict[str, WireInterceptor] = {}

    @cached_property
    def identity(self) -> PeerIdentity:
        """Who the peer is in what this side stores."""
        return PeerIdentity.of(self._transport.address)

    async def __aenter__(self) -> Self:
        await self._new_driver().open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        driver = self._opened()
        try:
            await driver.shut()
        finally:
            self._end()
        driver.release()

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
        await self.raw_notify(method.name, to_wire(params))

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
        engine = self._opened().engine
        if engine.closed is not None or engine.outbox.blocked:
            return False
        if self._outbound[method.name] is not None or not self._may_send(method):
            return False
        frame = joined_notification(method.name, own, shared)
        engine.outbox.add_apart(frame)
        return True

    async def wait_for_taker(self) -> bool:
        """Wait while nobody takes what the handler sends that calls this; False if nobody will.

        Over HTTP a response may break off, and the client come back to it.
        """
        return await self._opened().wait_for_taker()

    async def wait_for_room(self) -> None:
        """Return when what belongs to no request need not wait to be queued, or at the end."""
        await self._opened().wait_unblocked()

    async def raw(
        self, name: str, params: JsonObject | None = None, /, *, timeout: Timeout = DEFAULT
    ) -> Any:
        """Send a request of any name and return its result unchanged.

        Gates, interceptors and types are skipped; what `intercept_wire` has added is not.

        Raises:
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError,
            UnsendableError: as for `call`.
        """
        seconds = self._limits.request_timeout if timeout is DEFAULT else timeout
        driver, guarded = self._opened(), self._wire.get(name)

        async def send(body: JsonObject, /, *, on_id: OnId | None = None) -> Any:
            return await driver.call(name, None, body, seconds, None, on_id)

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

    def set_negotiated(self, negotiated: Negotiated) -> None:
        """Set the outcome of the handshake: from now on gates apply. Before, none do."""
        self._negotiated = negotiated
        self._allowed = set(negotiated.sent)

    def denial_reason(self, method: Method[Any, Any]) -> str | None:
        """Return why `method` was not negotiated, as a clause; None if it was."""
        return None if self._negotiated is None else self._negotiated.denial_reason(method)

    def replace_routes(self, routes: Mapping[str, Route]) -> None:
        """Serve `routes` and nothing else from now on; messages under way keep theirs."""
        self._routes, self._layers = routes, None
        if self._driver is not None:
            self._driver.engine.inbound.routes = routes

    def serve(self, routes: Mapping[str, Route]) -> None:
        """Serve these methods as well, as far as they were negotiated; `routes` may change."""
        if self._layers is None:
            received = () if self._negotiated is None else self._negotiated.received
            layers = LayeredRoutes(
                self._routes, received, lambda row: self.denial_reason(row) is None
            )
            self.replace_routes(layers)
            self._layers = layers
        self._layers.add(routes)

    def wrap_routes(self, wrap: Callable[[Mapping[str, Route]], Mapping[str, Route]]) -> None:
        """Serve from now on what `wrap` makes of the routes that are served."""
        self.replace_routes(wrap(self._routes))

    def route(self, name: str) -> Route | None:
        """Return the route for the method of this wire name, None if it has none."""
        return self._routes.get(name)

    def intercept_inbound(
        self,
        interceptor: InboundInterceptor[P, R],
        method: Method[P, R] | None = None,
        *,
        passes_result: bool = False,
    ) -> None:
        """Run `interceptor` around the handlers of this side: of one method, or of all.

        An interceptor that is added later runs nearer to the wire. The handshake passes none.
        With `passes_result` it returns what `next` returns and does not look at it; then results
        need not be decoded for it, so that calls take less time.

        Raises:
            HandlerDefinitionError: it is not an `async` function of three parameters.
        """
        self.inbound.add(method, interceptor, passes_result=passes_result)

    def intercept_outbound(
        self, interceptor: OutboundInterceptor[P, R], method: Method[P, R] | None = None
    ) -> None:
        """Run `interceptor` around `call` and `notify` of one method, or of all.

        An interceptor that is added later runs nearer to the wire.

        Raises:
            HandlerDefinitionError: it is not an `async` function of three parameters.
        """
        self._outbound.add(method, interceptor)

    def intercept_wire(self, name: str, interceptor: WireInterceptor) -> None:
        """Run `interceptor(params, send)` around each request of this wire name that is sent.

        It is nearer to the wire than every interceptor, and around `raw` as well: nothing of that
        name leaves without it. It gets the params as the peer would read them, returns the result
        as JSON, and may await `send(params)` any number of times. Notifications of that name are
        refused. One that is added later runs nearer to the wire.
        """
        outer = self._wire.get(name)
        if outer is None:
            self._wire[name] = interceptor
            return

        async def both(params: JsonObject, send: Send) -> Any:
            async def inner(passed: JsonObject, /, *, on_id: OnId | None = None) -> Any:
                return await interceptor(passed, send if on_id is None else heard(send, on_id))

            return await outer(params, inner)

        self._wire[name] = both

    def guard(self, method: Method[P, Any], guard: Guard[P], *, outbound: bool = False) -> None:
        """Run `guard(params, request)` before this side handles `method`; to refuse, it raises.

        With `outbound` it is `guard(params, method)`, before this side sends `method`. A guard is
        a plain function, which may return something to wait for, or an `async` one. It takes its
        place among the interceptors: one that is added later runs nearer to the wire.

        Raises:
            HandlerDefinitionError: it is not a function of two parameters.
        """
        (self._outbound if outbound else self.inbound).add_guard(method, guard)

    def filter_result(
        self, method: Method[Any, R], filter: Filter[R], *, outbound: bool = False
    ) -> None:
        """Replace the result of each request of `method` by `filter(result, request)`.

        With `outbound` it is `filter(result, method)`, of what the peer answered. A filter is a
        plain function. It takes its place among the interceptors, as a guard does.

        Raises:
            HandlerDefinitionError: it is not a plain function of two parameters.
        """
        (self._outbound if outbound else self.inbound).add_filter(method, filter)

    def filter_error(self, method: Method[Any, Any], filter: ErrorFilter) -> None:
        """Replace each error with which this side answers `method` by `filter(error, request)`.

        A filter is a plain function, which returns an `RpcError` or a result. It takes its place
        among the interceptors: it sees the errors of those that were added before it.

        Raises:
            HandlerDefinitionError: it is not a plain function of two parameters.
        """
        self.inbound.add_error_filter(method, filter)

    def add_errors(self, method: Method[Any, Any], errors: Iterable[type[RpcError]]) -> None:
        """Recognise `errors` of an extension by their code in answers to `method`."""
        self._known.add(method.name, errors)

    def add_errors_of(self, protocol: ProtocolTable) -> None:
        """Recognise the errors that `protocol` adds to methods of other protocols."""
        for method, errors in protocol.added_errors.items():
            self._known.add(method, errors)

    def adopt(self, tasks: TaskGroup) -> None:
        """Use `tasks` for `start_soon`: a group that is cancelled when the session has ended."""
        self._tasks = tasks

    def start_soon(self, function: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `function` in a task that is cancelled when the session ends.

        Extensions call it in `negotiated` or later. An exception of the function ends the session.
        """
        assert self._tasks is not None
        self._tasks.start_soon(function)

    def must_not_repeat_handshake(self) -> None:
        """End the connection if the server forgets the session.

        Without this a transport may begin another session with the server, as HTTP does after a
        restart of the server. That repeats the handshake, but not what was sent after it.
        """
        self._opened().must_not_repeat()

    def on_close(self, function: Callable[[], object]) -> None:
        """Call the plain `function` when the session is over and none of its handlers runs.

        If it is over already, the function is called now.
        """
        if self._is_over:
            function()
        else:
            self._at_end.append(function)

    async def wait_listening(self) -> None:
        """Return when messages that the peer sends by itself arrive: over HTTP not immediately."""
        if isinstance(self._transport, ListeningTransport):
            await self._transport.wait_listening()

    async def wait_quiet(self) -> None:
        """Return when no message of the peer is being handled and no call waits for its answer.

        A handler must not await it: it would wait for itself.
        """
        await self._opened().wait_quiet()

    def when_asked_to_end(self, function: Callable[[ConnectionClosedError], object]) -> None:
        """Call the plain `function` when this side's program is asked to end the connection.

        A signal asks so, as does a listener that stops. The connection is not ended then: what
        `function` starts does that, by `aclose`.
        """
        self._opened().when_asked_to_end = function

    async def wait_closed(self) -> None:
        """Return when the connection has ended, from either side."""
        await self._opened().wait_ended()

    async def aclose(self) -> None:
        """End the connection: cancel handlers, write what waits, release the transport.

        It takes a bounded time, works in a cancelled scope, and may be called by a handler,
        which then goes on without an answer. Doing it again does nothing.
        """
        await self._opened().close()

    @property
    def limits(self) -> Limits:
        """How much of everything the connection may use."""
        return self._limits

    @property
    def closed(self) -> bool:
        """Return whether the connection has ended for calls."""
        return self.closed_why is not None

    @property
    def closed_why(self) -> ConnectionClosedError | None:
        """Why the connection has ended for calls; None while it is open."""
        return None if self._driver is None else self._driver.engine.closed

    @property
    def requests(self) -> list[Request]:
        """Return the requests of the peer that are being handled."""
        works = self._opened().engine.inbound.under_way.values()
        return [work for work in works if work.id is not None]

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

    def _must_be_negotiated(self, method: Method[Any, Any]) -> None:
        reason = self.denial_reason(method)
        if reason is not None:
            raise CapabilityNotNegotiatedError(method.name, method.gate, reason)
        self._allowed.add(method.name)

    def _may_send(self, method: Method[Any, Any]) -> bool:
        """Return whether the handshake allowed `method`, and remember it if it did."""
        if method.name not in self._allowed:
            if self.denial_reason(method) is not None:
                return False
            self._allowed.add(method.name)
        return True

    def _check_progress_callback(self, on_progress: ProgressCallback) -> None:
        if self.profile.progress is None:
            raise TypeError("on_progress: the protocol of this session reports no progress")
        if iscoroutinefunction(on_progress):
            raise TypeError("on_progress: expected a plain function, got a coroutine function")

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

    def _end(self) -> None:
        self._is_over = True
        functions, self._at_end = self._at_end, []
        for function in functions:
            function()

    def _opened(self) -> Driver:
        if self._driver is None:
            raise SessionStateError("The session is not open. Use it inside `async with`.")
        return self._driver
