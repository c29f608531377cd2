"""Subscriptions of clients to resources of the servers behind a gateway."""

from __future__ import annotations

__all__ = ("GatewaySubscriptions",)

import logging
from functools import partial

from kinwire.mcp.context import Context
from kinwire.mcp.registry import Rows
from kinwire.mcp.rules.subscriptions import concerns
from kinwire.mcp.server_session import ServerSession
from kinwire.mgp.gateway.resources import GatewayResources
from kinwire.mgp.gateway.upstream import Upstream, Upstreams
from kinwire.mgp.rules.gateway_uris import inner_uri, outer_uri
from kinwire.rpc.errors import KinwireError
from kinwire.rpc.session import Session
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp import methods

logger = logging.getLogger("kinwire.mgp.gateway")


class GatewaySubscriptions:
    """Which client has subscribed to what; a server is asked as long as one client has."""

    def __init__(self, resources: GatewayResources, upstreams: Upstreams) -> None:
        self._resources = resources
        self._upstreams = upstreams
        self._by_uri: dict[str, dict[ServerSession, None]] = {}  # addresses at the gateway
        self._followed = set[ServerSession]()
        self.rows: Rows = {
            methods.RESOURCES_SUBSCRIBE: self._subscribe,
            methods.RESOURCES_UNSUBSCRIBE: self._unsubscribe,
        }
        """The handlers."""

    def updated(self, upstream: Upstream, uri: str) -> None:
        """Notify the clients that have subscribed to a resource, or to one above it."""
        outer = outer_uri(upstream.id, uri)
        for subscribed, sessions in self._by_uri.items():
            if concerns(subscribed, outer):
                for session in sessions:
                    session.announce(methods.NOTIFICATIONS_RESOURCES_UPDATED, {"uri": outer})

    async def resume(self, upstream: Upstream) -> None:
        """Subscribe again at a server that is connected again: all may have changed."""
        for outer, sessions in list(self._by_uri.items()):
            found = inner_uri(outer)
            if found is not None and found[0] == upstream.id:
                await _send(upstream, methods.RESOURCES_SUBSCRIBE.name, found[1])
                for session in sessions:
                    session.announce(methods.NOTIFICATIONS_RESOURCES_UPDATED, {"uri": outer})

    async def _subscribe(self, params: mcp.SubscribeRequestParams, context: Context) -> JsonObject:
        session = context.session
        assert isinstance(session, ServerSession)  # a server serves this
        is_new = params.uri not in session.subscribed_uris
        try:
            session.subscribed_uris.add(params.uri)
        except ValueError as error:
            raise InvalidParamsError(f"resources/subscribe: {error}") from None
        if session not in self._followed:
            self._followed.add(session)
            session.on_close(partial(self._left, session))
        self._by_uri.setdefault(params.uri, {})[session] = None
        try:
            return await self._resources.forward(context, methods.RESOURCES_SUBSCRIBE, params.uri)
        except BaseException as error:
            if is_new and isinstance(error, RpcError):
                self._remove(session, params.uri)
            else:  # the server may have it: from before, or the client went away while it worked
                self._leave(session, params.uri)
            raise

    async def _unsubscribe(
        self, params: mcp.UnsubscribeRequestParams, context: Context
    ) -> JsonObject:
        session = context.session
        assert isinstance(session, ServerSession)  # a server serves this
        if self._remove(session, params.uri):
            return await self._resources.forward(context, methods.RESOURCES_UNSUBSCRIBE, params.uri)
        return {}

    def _remove(self, session: ServerSession, uri: str) -> bool:
        """Forget a subscription; return whether it was the last one to its address."""
        session.subscribed_uris.discard(uri)
        sessions = self._by_uri.get(uri, {})
        was_there = sessions.pop(session, session) is None
        if was_there and not sessions:
            del self._by_uri[uri]
            return True
        return False

    def _left(self, session: ServerSession) -> None:
        self._followed.discard(session)
        for uri in list(session.subscribed_uris):
            self._leave(session, uri)

    def _leave(self, session: ServerSession, uri: str) -> None:
        """Forget a subscription, and end it at the server if it was the last one."""
        found = inner_uri(uri)
        upstream = None if found is None else self._upstreams.get(found[0])
        if self._remove(session, uri) and found is not None and upstream is not None:
            upstream.session.start_soon(
                partial(_send, upstream, methods.RESOURCES_UNSUBSCRIBE.name, found[1])
            )


async def _send(upstream: Upstream, method: str, uri: str) -> None:
    session: Session = upstream.session
    try:
        await session.raw(method, {"uri": uri})
    except (RpcError, KinwireError) as error:
        logger.info("%s: %s failed: %s", upstream.id, method, sanitize_for_log(error))
