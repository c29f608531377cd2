"""What a session serves and may send: its routes, and the outcome of the handshake."""

from __future__ import annotations

__all__ = ("SessionRoutes",)

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kinwire.rpc.codec import is_object
from kinwire.rpc.error_table import ErrorTable
from kinwire.rpc.errors import CapabilityNotNegotiatedError, RpcError
from kinwire.rpc.negotiated import Negotiated, at_path
from kinwire.rpc.routes import LayeredRoutes, Route
from kinwire.rpc.session_life import SessionLife
from kinwire_protocols.peer import Method, ProtocolTable


class SessionRoutes(SessionLife):
    """The part of a session that knows its routes, gates and errors."""

    _routes: Mapping[str, Route]
    _layers: LayeredRoutes | None = None
    _known: ErrorTable
    _negotiated: Negotiated | None = None
    _allowed: set[str]  # methods that have passed the gates

    def set_negotiated(self, negotiated: Negotiated) -> None:
        """Set the outcome of the handshake: from now on gates apply. Before, none do."""
        self._negotiated = negotiated
        self._allowed = set(negotiated.sent)
        if self._driver is not None:
            self._driver.engine.outbox.hindrances += 1

    def allow(self, methods: Iterable[Method[Any, Any]]) -> None:
        """Let this side send `methods` although they were not negotiated: the peer wants them."""
        self._allowed.update(method.name for method in methods)

    def server_offers(self, place: str) -> bool:
        """Return whether the server has an object at a dotted `place` of its capabilities."""
        negotiated = self._negotiated
        return negotiated is not None and is_object(at_path(negotiated.server, place))

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

    def add_errors(self, method: Method[Any, Any], errors: Iterable[type[RpcError]]) -> None:
        """Recognise `errors` of an extension by their code in answers to `method`."""
        self._known.add(method.name, errors)

    def add_errors_of(self, protocol: ProtocolTable) -> None:
        """Recognise the errors that `protocol` adds to methods of other protocols."""
        for method, errors in protocol.added_errors.items():
            self._known.add(method, errors)

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
