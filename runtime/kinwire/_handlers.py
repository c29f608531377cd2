"""The handlers of one side: what `on` accepts, and the capabilities that follow from it."""

from __future__ import annotations

__all__ = ("HandlerTable",)

import inspect
from collections.abc import Callable, Collection
from typing import Any

from kinwire.calls import Handler, Route
from kinwire.context import Context
from kinwire.errors import HandlerDefinitionError
from kinwire_protocols.base import JsonObject, Message
from kinwire_protocols.mcp.methods import (
    INITIALIZE,
    NOTIFICATIONS_CANCELLED,
    NOTIFICATIONS_PROGRESS,
    PING,
)
from kinwire_protocols.peer import Method

# A session lives by these; a handler would never see them.
_OWN = {row.name for row in (INITIALIZE, NOTIFICATIONS_CANCELLED, NOTIFICATIONS_PROGRESS)}


class HandlerTable:
    """What one side serves, by wire name. `routes` may change while sessions are open."""

    def __init__(self) -> None:
        self.routes: dict[str, Route] = {PING.name: Route(PING, _pong)}
        self._added: set[str] = set()

    def add(self, row: Method[Any, Any], handler: Callable[..., Any]) -> Route:
        """Register `handler`, an `async` function of (params) or of (params, context).

        Raises:
            HandlerDefinitionError: it cannot serve the method; the message says why and the mend.
        """
        self.must_be_free([row])
        route = Route(row, _adapted(row, handler))
        self.routes[row.name] = route
        self._added.add(row.name)
        return route

    def must_be_free(self, rows: Collection[Method[Any, Any]]) -> None:
        """Check that handlers may be registered for `rows`.

        Raises:
            HandlerDefinitionError: one has a handler, or the session serves it itself.
        """
        for row in rows:
            if row.name in _OWN:
                raise HandlerDefinitionError(
                    f"{row.name}: the session serves this method itself. Remove the handler."
                )
            if row.name in self._added:
                raise HandlerDefinitionError(
                    f"{row.name}: there is a handler already. Remove that one first."
                )

    def remove(self, row: Method[Any, Any]) -> None:
        """Take a handler out; requests under way finish.

        Raises:
            KeyError: there is none.
        """
        self._added.remove(row.name)
        del self.routes[row.name]
        if row.name == PING.name:
            self.routes[PING.name] = Route(PING, _pong)

    def capabilities(self, side: str) -> JsonObject:
        """Return the capabilities of `side` that the handlers amount to."""
        found: JsonObject = {}
        for name in sorted(self._added):
            of, _, path = (self.routes[name].method.gate or "").partition(":")
            if of == side:
                capability, _, ability = path.partition(".")
                members: JsonObject = found.setdefault(capability, {})
                if ability:
                    members[ability] = True
        return found


async def _pong(params: Message, request: object) -> JsonObject:
    return {}


def _adapted(row: Method[Any, Any], handler: Callable[..., Any]) -> Handler:
    where = f"{row.name}: {getattr(handler, '__qualname__', repr(handler))}"
    if not (_is_async(handler) or _is_async(getattr(handler, "__call__", None))):  # noqa: B004
        raise HandlerDefinitionError(
            f"{where}: expected an async function. Write it as `async def`."
        )
    taken = inspect.signature(handler)
    if _binds(taken, 1):
        return lambda params, request: handler(params)
    if _binds(taken, 2):
        return lambda params, request: handler(params, Context(request))
    raise HandlerDefinitionError(
        f"{where}: expected parameters (params) or (params, context), got {taken}. "
        f"Write `async def ...(params: {row.params.__name__})`."
    )


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(inspect.unwrap(function) if callable(function) else None)


def _binds(signature: inspect.Signature, count: int) -> bool:
    try:
        signature.bind(*range(count))
    except TypeError:
        return False
    return True
