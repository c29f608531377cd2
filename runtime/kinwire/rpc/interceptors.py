"""What runs around the calls of one session: an onion, with this side's program at its core.

An outbound call passes the layers in the order in which they were added and an inbound one in the
reverse order, so that the first is always next to the program and the last next to the wire. A
layer is an interceptor, which goes on itself; a guard, which runs before; a filter of the result,
which runs after; or a filter of errors, which runs instead. What interceptors and filters pass on
is typed: a copy of the params or the result.
"""

from __future__ import annotations

__all__ = (
    "ErrorFilter",
    "Filter",
    "Guard",
    "InboundInterceptor",
    "Interceptors",
    "Next",
    "OutboundInterceptor",
    "Plan",
    "Send",
    "WireInterceptor",
    "both_hear",
    "handle_through",
    "heard",
    "send_through",
)

import inspect
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from kinwire.rpc.calls import OnId
from kinwire.rpc.codec import EncodedObject
from kinwire.rpc.errors import HandlerDefinitionError
from kinwire.rpc.routes import Route
from kinwire.support.functions import accepts, is_async, name_of
from kinwire_protocols.base import JsonObject, Message, RpcError
from kinwire_protocols.peer import Method

if TYPE_CHECKING:
    from kinwire.rpc.request import Request

P = TypeVar("P")
R = TypeVar("R")

Next = Callable[[P], Awaitable[R]]
"""Goes on towards the handler or the peer, with these params, and returns the result."""

InboundInterceptor = Callable[[P, "Request", Next[P, R]], Awaitable[R]]
"""Takes the params, the request, and what goes on to the handler."""

OutboundInterceptor = Callable[[P, Method[P, R], Next[P, R]], Awaitable[R]]
"""Takes the params, the method, and what goes on to the peer."""

Guard = Callable[[P, Any], Awaitable[None] | None]
"""Takes the params, and the request (inbound) or the method (outbound). It raises to refuse.

It is a plain function, which may return something to wait for, or an `async` one.
"""

Filter = Callable[[R, Any], R]
"""Takes the result, and the request (inbound) or the method (outbound); returns the result."""

ErrorFilter = Callable[[RpcError, "Request"], Any]
"""Takes the error of a handler, and the request; returns the error to raise, or a result."""


class Send(Protocol):
    """Sends a request with these params, and returns its result; both are JSON.

    `on_id` is a plain function that gets the id of the request before the request leaves.
    """

    def __call__(self, params: JsonObject, /, *, on_id: OnId | None = None) -> Awaitable[Any]: ...


WireInterceptor = Callable[[JsonObject, Send], Awaitable[Any]]
"""Takes the params as they would be sent, and what sends them; returns the result as JSON."""

Interceptor = Callable[[Any, Any, Next[Any, Any]], Awaitable[Any]]


_JSON = (dict, EncodedObject)  # results that are not decoded yet
_UNCHECKED = (dict,)  # those of them that may not fit the type of results


class Plan(NamedTuple):
    """What the calls of one method pass: interceptors, and what runs right around the core."""

    outermost: Interceptor | None
    inner: tuple[Interceptor, ...]
    """The other interceptors, the innermost first."""
    guards: tuple[Guard[Any], ...]
    """In the order in which they run."""
    filters: tuple[Filter[Any], ...]
    """In the order in which they run."""
    error_filters: tuple[ErrorFilter, ...] = ()
    """In the order in which they run, inside of the guards; only around handlers."""

    is_typed: bool = True
    """Whether some layer looks at results."""


class _Entry(NamedTuple):
    method: str | None  # None: every method
    interceptor: Interceptor | None = None
    guard: Guard[Any] | None = None
    filter: Filter[Any] | None = None
    error_filter: ErrorFilter | None = None
    passes_result: bool = False

    @property
    def looks_at_results(self) -> bool:
        return self.filter is not None or (self.interceptor is not None and not self.passes_result)

    @property
    def is_layer(self) -> bool:
        return self.interceptor is not None or self.error_filter is not None

    def as_interceptor(self) -> Interceptor:
        if self.interceptor is not None:
            return self.interceptor
        if self.error_filter is not None:
            return _filtering_errors(self.error_filter)
        inner = _plan([self])
        return lambda params, about, go_on: _core(inner, about, go_on, params)


class Interceptors(dict[str, "Plan | None"]):
    """The layers of one direction: `interceptors[name]` is the plan for a method of that name."""

    def __init__(self, *, outbound: bool = False) -> None:
        super().__init__()
        self._listed: list[_Entry] = []
        self._outbound = outbound

    def __missing__(self, name: str) -> Plan | None:
        if not self._listed:  # as in most sessions
            self[name] = None
            return None
        entries = [one for one in self._listed if one.method in (None, name)]
        if self._outbound:
            entries.reverse()  # a call comes from the program, which the first one is next to
        plan = self[name] = _plan(entries) if entries else None
        return plan

    def add(
        self,
        method: Method[Any, Any] | None,
        interceptor: Interceptor,
        *,
        passes_result: bool = False,
    ) -> None:
        """Put `interceptor` behind those that are listed, for one method or for all.

        With `passes_result` it returns what `next` returns and does not look at it.

        Raises:
            HandlerDefinitionError: it is not an `async` function of three parameters.
        """
        _check(interceptor)
        name = None if method is None else method.name
        self._add(_Entry(name, interceptor=interceptor, passes_result=passes_result))

    def add_guard(self, method: Method[Any, Any], guard: Guard[Any]) -> None:
        """Put `guard` behind those that are listed.

        Raises:
            HandlerDefinitionError: it is not a function of two parameters.
        """
        if not accepts(guard, 2):
            raise HandlerDefinitionError(
                f"{name_of(guard)}: expected a function of (params, request or method), got "
                f"{inspect.signature(guard)}. Write `def ...(params, request)`."
            )
        self._add(_Entry(method.name, guard=guard))

    def add_filter(self, method: Method[Any, Any], filter: Filter[Any]) -> None:
        """Put `filter` behind those that are listed.

        Raises:
            HandlerDefinitionError: it is not a plain function of two parameters.
        """
        if is_async(filter) or not accepts(filter, 2):
            raise HandlerDefinitionError(
                f"{name_of(filter)}: expected a plain function of (result, request or method), got "
                f"{inspect.signature(filter)}. Write `def ...(result, request)`."
            )
        self._add(_Entry(method.name, filter=filter))

    def add_error_filter(self, method: Method[Any, Any], filter: ErrorFilter) -> None:
        """Put `filter` behind those that are listed.

        Raises:
            HandlerDefinitionError: it is not a plain function of two parameters.
        """
        if is_async(filter) or not accepts(filter, 2):
            raise HandlerDefinitionError(
                f"{name_of(filter)}: expected a plain function of (error, request), got "
                f"{inspect.signature(filter)}. Write `def ...(error, request)`."
            )
        self._add(_Entry(method.name, error_filter=filter))

    def _add(self, entry: _Entry) -> None:
        self._listed.append(entry)
        self.clear()


def both_hear(one: OnId | None, other: OnId | None) -> OnId | None:
    """Return what passes the id of a request on to both."""
    if one is None or other is None:
        return one or other

    def hear(identifier: int) -> None:
        one(identifier)
        other(identifier)

    return hear


def heard(send: Send, by: OnId) -> Send:
    """Return `send` with a function that hears the ids of its requests, too."""

    def sending(params: JsonObject, /, *, on_id: OnId | None = None) -> Awaitable[Any]:
        return send(params, on_id=both_hear(by, on_id))

    return sending


def send_through(plan: Plan, method: Method[P, R], send: Next[P, R], params: P) -> Awaitable[R]:
    """Send `params` through the outbound layers."""
    if plan.guards or plan.filters:
        send = partial(_core, plan, method, send)
    for interceptor in plan.inner:
        send = _layer(interceptor, method, send)
    return send(params) if plan.outermost is None else plan.outermost(params, method, send)


def handle_through(plan: Plan, route: Route, params: Message, request: Request) -> Awaitable[Any]:
    """Run the handler of `route` inside the inbound layers."""
    core: Next[Any, Any] = partial(_handle, plan, route, request)
    for interceptor in plan.inner:
        core = _layer(interceptor, request, core)
    return core(params) if plan.outermost is None else plan.outermost(params, request, core)


def _layer(interceptor: Interceptor, about: object, inner: Next[Any, Any]) -> Next[Any, Any]:
    return lambda params: interceptor(params, about, inner)


async def _core(plan: Plan, about: object, go_on: Next[Any, Any], params: Any) -> Any:
    for guard in plan.guards:
        waiting = guard(params, about)
        if waiting is not None:
            await waiting
    result = await go_on(params)
    if result is not None:
        for one in plan.filters:
            result = one(result, about)
    return result


async def _handle(plan: Plan, route: Route, request: Request, params: Message) -> Any:
    # `_core` around a handler, in one function: every message of an extension comes through here.
    request.params = params  # what `Context` shows is what the handler gets
    for guard in plan.guards:
        waiting = guard(params, request)
        if waiting is not None:
            await waiting
    try:
        result = await route.handler(params, request)
    except RpcError as error:
        result = _instead(plan.error_filters, error, request)
    if request.id is None:
        return None
    if type(result) in (_JSON if plan.is_typed else _UNCHECKED):
        result = route.method.decode_result(result)
    if result is not None:
        for one in plan.filters:
            result = one(result, request)
    return result


def _instead(filters: Iterable[ErrorFilter], error: RpcError, request: Request) -> Any:
    """Return the result that takes the place of an error, or raise the error."""
    found: Any = error
    for one in filters:
        found = one(found, request)
        if not isinstance(found, RpcError):
            return found
    if found is error:
        raise error
    raise found from None


def _filtering_errors(filter: ErrorFilter) -> Interceptor:
    async def layer(params: Any, request: Any, go_on: Next[Any, Any]) -> Any:
        try:
            return await go_on(params)
        except RpcError as error:
            return _instead((filter,), error, request)

    return layer


def _plan(entries: list[_Entry]) -> Plan:
    """Return the plan for `entries`, the innermost first.

    Guards and filters inside of every interceptor need no layer of their own, and neither do
    filters of errors inside of every guard and filter.
    """
    count = 0
    while count < len(entries) and entries[count].error_filter is not None:
        count += 1
    error_filters, entries = entries[:count], entries[count:]
    first = next((at for at, one in enumerate(entries) if one.is_layer), len(entries))
    inside, layers = entries[:first], [one.as_interceptor() for one in entries[first:]]
    return Plan(
        layers.pop() if layers else None,
        tuple(layers),
        tuple(one.guard for one in reversed(inside) if one.guard is not None),
        tuple(one.filter for one in inside if one.filter is not None),
        tuple(one.error_filter for one in error_filters if one.error_filter is not None),
        any(one.looks_at_results for one in entries),
    )


def _check(interceptor: Interceptor) -> None:
    if not is_async(interceptor) or not accepts(interceptor, 3):
        raise HandlerDefinitionError(
            f"{name_of(interceptor)}: expected an async function of (params, request or method, "
            f"next), got {inspect.signature(interceptor)}. "
            "Write `async def ...(params, request, next)`."
        )
