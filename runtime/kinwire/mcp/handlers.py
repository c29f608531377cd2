"""The handlers of one side or extension, and the capabilities that follow from them."""

from __future__ import annotations

__all__ = ("ExtensionHandlers", "HandlerTable", "takes_context")

import inspect
from collections.abc import Callable, Collection
from typing import Any

from kinwire.mcp.context import Context
from kinwire.rpc.errors import HandlerDefinitionError
from kinwire.rpc.request import Request
from kinwire.rpc.routes import AtOnce, Handler, Route
from kinwire.support.functions import accepts, is_async, name_of
from kinwire_protocols.base import JsonObject, Message
from kinwire_protocols.mcp.methods import (
    INITIALIZE,
    NOTIFICATIONS_CANCELLED,
    NOTIFICATIONS_INITIALIZED,
    NOTIFICATIONS_PROGRESS,
    PING,
)
from kinwire_protocols.peer import Method

# The session handles these itself; a handler would never be called.
_OWN = {row.name for row in (INITIALIZE, NOTIFICATIONS_CANCELLED, NOTIFICATIONS_PROGRESS)}


async def _nothing(params: Message) -> JsonObject:
    return {}


def _nothing_at_once(params: Message, request: Request) -> JsonObject | None:
    """See `AtOnce`."""
    return None if request.id is None else {}


class ExtensionHandlers:
    """The handlers of an extension. `routes`, by wire name, may change while sessions are open."""

    def __init__(self) -> None:
        self.routes: dict[str, Route] = {}
        self._added: set[str] = set()
        self._defaults: dict[str, Route] = {}

    def add(self, row: Method[Any, Any], handler: Callable[..., Any]) -> None:
        """Register `handler`, an `async` function of (params) or of (params, context).

        Raises:
            HandlerDefinitionError: it cannot serve the method; the message says how to fix it.
        """
        self.must_be_free([row])
        self.routes |= dict.fromkeys(row.names, Route(row, _adapted(row, handler)))
        self._added.add(row.name)

    def add_default(self, row: Method[Any, Any], handler: Callable[..., Any] = _nothing) -> None:
        """Register a handler that `add` may replace.

        Without `handler` the method is answered by an empty result, for methods that interceptors
        handle.
        """
        waits = handler is not _nothing or row.kind == "request"  # pings are answered in turn
        at_once = None if waits else _nothing_at_once
        routes = dict.fromkeys(row.names, Route(row, _adapted(row, handler), at_once))
        self._defaults |= routes
        self.routes |= routes

    def add_intake(self, row: Method[Any, Any], act: AtOnce) -> None:
        """Register a plain function that acts on each notification of `row` when it arrives.

        It gets (params, request) before interceptors and earlier messages, and no limit of the
        session drops one. So it only hands over. It takes the place of a handler.

        Raises:
            HandlerDefinitionError: there is a handler already.
        """
        self.must_be_free([row])

        async def handler(params: Message, request: Request) -> None:
            act(params, request)

        self.routes |= dict.fromkeys(row.names, Route(row, handler, act, ahead=True))
        self._added.add(row.name)

    def add_ahead(self, row: Method[Any, Any], act: AtOnce) -> None:
        """Register a plain function that answers each request of `row` when it arrives.

        It gets (params, request), and returns the result. Nothing holds it back: no interceptor, no
        earlier message and no limit of the session. `add` may replace it.
        """

        async def handler(params: Message, request: Request) -> Any:
            return act(params, request)

        routes = dict.fromkeys(row.names, Route(row, handler, act, ahead=True))
        self._defaults |= routes
        self.routes |= routes

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
        """Remove a handler, and restore the default; requests under way finish.

        Raises:
            KeyError: the method has no handler.
        """
        self._added.remove(row.name)
        for name in row.names:
            del self.routes[name]
            if name in self._defaults:
                self.routes[name] = self._defaults[name]


class HandlerTable(ExtensionHandlers):
    """The handlers of a server or a host: methods of MCP, and rows of the user."""

    def __init__(self) -> None:
        super().__init__()
        self._sent: list[Method[Any, Any]] = []
        self.add_default(PING)
        self.add_default(NOTIFICATIONS_INITIALIZED)

    def add_sent(self, row: Method[Any, Any]) -> None:
        """Declare in the capabilities that this side sends a notification."""
        self._sent.append(row)

    def capabilities(self, side: str) -> JsonObject:
        """Return the capabilities of `side` that follow from the handlers."""
        found: JsonObject = {}
        gates = {route.method.gate for route in self.routes.values()}
        gates.update(row.gate for row in self._sent)
        for gate in sorted(gate for gate in gates if gate is not None):
            of, _, path = gate.partition(":")
            if of == side:
                capability, _, ability = path.partition(".")
                members: JsonObject = found.setdefault(capability, {})
                if ability:
                    members[ability] = True
        return found


def _adapted(row: Method[Any, Any], handler: Callable[..., Any]) -> Handler:
    if takes_context(row, handler):
        return lambda params, request: handler(params, Context(request))
    return lambda params, request: handler(params)


def takes_context(row: Method[Any, Any], handler: Callable[..., Any]) -> bool:
    """Return whether `handler` is a function of (params, context), not of (params) alone.

    Raises:
        HandlerDefinitionError: it has other parameters, or is not asynchronous.
    """
    where = f"{row.name}: {name_of(handler)}"
    if not is_async(handler):
        raise HandlerDefinitionError(
            f"{where}: expected an async function. Write it as `async def`."
        )
    if accepts(handler, 1):
        return False
    if accepts(handler, 2):
        return True
    raise HandlerDefinitionError(
        f"{where}: expected parameters (params) or (params, context), got "
        f"{inspect.signature(handler)}. Write `async def ...(params: {row.params.__name__})`."
    )
