"""What stands around the calls of one session: an onion, with this side's program at its core.

An outbound call passes the interceptors in the order in which they were added and an inbound one
in the reverse order, so that the first is always next to the program and the last next to the
wire. What they pass on is typed: a copy of the params or the result, never the message of another.
"""

from __future__ import annotations

__all__ = (
    "InboundInterceptor",
    "Interceptors",
    "Next",
    "OutboundInterceptor",
    "handled",
    "through",
)

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from kinwire.rpc.calls import Route
from kinwire.rpc.codec import EncodedObject, is_object
from kinwire.rpc.errors import HandlerDefinitionError
from kinwire.support.signatures import accepts, is_async, name_of
from kinwire_protocols.base import Message
from kinwire_protocols.peer import Method

if TYPE_CHECKING:
    from kinwire.rpc.request import Request

P = TypeVar("P", bound=Message)
R = TypeVar("R")

Next = Callable[[P], Awaitable[R]]
"""Goes on towards the handler or the peer, with these params, and returns the result."""

InboundInterceptor = Callable[[P, "Request", Next[P, R]], Awaitable[R]]
"""Takes the params, the request, and what goes on to the handler."""

OutboundInterceptor = Callable[[P, Method[P, R], Next[P, R]], Awaitable[R]]
"""Takes the params, the method, and what goes on to the peer."""

Interceptor = Callable[[Any, Any, Next[Any, Any]], Awaitable[Any]]


class Interceptors:
    """The interceptors of one direction, in listed order."""

    def __init__(self) -> None:
        self._listed: list[tuple[str | None, Interceptor]] = []  # None: every method
        self._found: dict[str, tuple[Interceptor, ...]] = {}

    def add(self, method: Method[Any, Any] | None, interceptor: Interceptor) -> None:
        """Put `interceptor` behind those that are listed, for one method or for all.

        Raises:
            HandlerDefinitionError: it is no `async` function of three parameters.
        """
        _check(interceptor)
        self._listed.append((None if method is None else method.name, interceptor))
        self._found.clear()

    def of(self, method: Method[Any, Any]) -> tuple[Interceptor, ...]:
        """Return those that `method` passes, in listed order."""
        found = self._found.get(method.name)
        if found is None:
            found = tuple(one for name, one in self._listed if name in (None, method.name))
            self._found[method.name] = found
        return found


def through(layers: tuple[Interceptor, ...], about: object, core: Next[P, R]) -> Next[P, R]:
    """Return `core` with `layers` around it, the first one innermost."""
    for interceptor in layers:
        core = _layer(interceptor, about, core)
    return core


async def handled(route: Route, params: Message, request: Request) -> Any:
    """Run the handler of `route` inside the inbound interceptors of its session."""
    interceptors = request.session.inbound
    layers = () if interceptors is None else interceptors.of(route.method)
    if not layers:
        return await route.handler(params, request)

    async def core(params: Message) -> Any:
        request.params = params  # what `Context` shows is what the handler gets
        result = await route.handler(params, request)
        if request.id is None:
            return None
        is_json = is_object(result) or isinstance(result, EncodedObject)
        return route.method.decode_result(result) if is_json else result

    return await through(layers, request, core)(params)


def _layer(interceptor: Interceptor, about: object, inner: Next[Any, Any]) -> Next[Any, Any]:
    return lambda params: interceptor(params, about, inner)


def _check(interceptor: Interceptor) -> None:
    taken = inspect.signature(interceptor)
    if not is_async(interceptor) or not accepts(taken, 3):
        raise HandlerDefinitionError(
            f"{name_of(interceptor)}: expected an async function of (params, request or method, "
            f"next), got {taken}. Write `async def ...(params, request, next)`."
        )
