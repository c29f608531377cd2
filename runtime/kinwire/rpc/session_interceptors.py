"""What runs around the calls and the handlers of a session."""

from __future__ import annotations

__all__ = ("SessionInterceptors",)

from typing import Any, TypeVar

from kinwire.rpc.calls import OnId
from kinwire.rpc.interceptors import (
    ErrorFilter,
    Filter,
    Guard,
    InboundInterceptor,
    Interceptors,
    OutboundInterceptor,
    Send,
    WireInterceptor,
    heard,
)
from kinwire_protocols.base import JsonObject
from kinwire_protocols.peer import Method

P = TypeVar("P")
R = TypeVar("R")


class SessionInterceptors:
    """The part of a session that adds interceptors, guards and filters."""

    inbound: Interceptors
    """The interceptors, guards and filters around this side's handlers."""
    _outbound: Interceptors
    _wire: dict[str, WireInterceptor]

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
        self._rules_changed()

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
        self._rules_changed()

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
        self._rules_changed()

    def filter_error(self, method: Method[Any, Any], filter: ErrorFilter) -> None:
        """Replace each error with which this side answers `method` by `filter(error, request)`.

        A filter is a plain function, which returns an `RpcError` or a result. It takes its place
        among the interceptors: it sees the errors of those that were added before it.

        Raises:
            HandlerDefinitionError: it is not a plain function of two parameters.
        """
        self.inbound.add_error_filter(method, filter)

    def _rules_changed(self) -> None:
        """Note that what may be sent, or what it passes before, may not be as it was."""
