"""A client's connection to a server, after the handshake (MCP)."""

from __future__ import annotations

__all__ = ("Connection",)

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from copy import copy
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import ValidationError

from kinwire.mcp import lists
from kinwire.mcp.notification_router import NotificationRouter
from kinwire.mcp.profile import ProgressCallback
from kinwire.mcp.rules.pagination import ListName
from kinwire.rpc.calls import DEFAULT, TIMEOUT_KIND, Timeout
from kinwire.rpc.errors import ShapeError
from kinwire.rpc.session import Session
from kinwire.support.arguments import (
    OBJECT,
    PLAIN_FUNCTION,
    TEXT,
    ArgumentCheck,
    instance_of,
)
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message
from kinwire_protocols.peer import Method, Peer

P = TypeVar("P")
R = TypeVar("R")

_WITH_OPTIONS = ArgumentCheck(
    "Connection.with_options",
    "connection.with_options()",
    {},
    timeout=TIMEOUT_KIND,
    on_progress=PLAIN_FUNCTION.or_none,
    meta=OBJECT.or_none,
)
_SUBSCRIPTION = ArgumentCheck(
    "Connection.subscription", 'connection.subscription("notes://all")', {"uri": TEXT}
)
_METHOD_AND_PARAMS = {
    "method": instance_of(Method, "a method of kinwire_protocols", "PING"),
    "params": instance_of(Message, "a message", "mcp.RequestParams()"),
}
_CALL = ArgumentCheck(
    "Connection.call", "await connection.call(PING, mcp.RequestParams())", _METHOD_AND_PARAMS
)
_NOTIFY = ArgumentCheck(
    "Connection.notify",
    "await connection.notify(ROW, mcp.NotificationParams())",
    _METHOD_AND_PARAMS,
)


class Connection:
    """A connection to a server. It is a `Peer`: the stubs of every protocol accept it."""

    def __init__(
        self, session: Session, greeting: mcp.InitializeResult, router: NotificationRouter
    ) -> None:
        self.session = session
        self.greeting = greeting
        """The complete result of `initialize`."""
        self._router = router
        self._peer: Peer = session
        self.mcp = mcp.ServerStub(session)
        """A typed call for every method of MCP that a client sends."""

    @property
    def server_info(self) -> mcp.Implementation:
        """The name and version of the server."""
        return self.greeting.server_info

    @property
    def capabilities(self) -> mcp.ServerCapabilities:
        """The capabilities of the server."""
        return self.greeting.capabilities

    @property
    def instructions(self) -> str | None:
        """The server's own instructions for its use."""
        return self.greeting.instructions

    @property
    def protocol_version(self) -> str:
        """The version of MCP that both sides speak."""
        return self.greeting.protocol_version

    def with_options(
        self,
        *,
        timeout: Timeout = DEFAULT,
        on_progress: ProgressCallback | None = None,
        meta: JsonObject | None = None,
    ) -> Self:
        """Return a view of this connection whose calls have these options.

        `timeout` is in seconds, None for no limit; `on_progress` is a plain function that gets each
        progress report; `meta` is added to the `_meta` of the params.
        """
        _WITH_OPTIONS.check(timeout=timeout, on_progress=on_progress, meta=meta)
        other = copy(self)
        other._peer = self.session.with_options(timeout=timeout, on_progress=on_progress, meta=meta)
        other.mcp = mcp.ServerStub(other._peer)
        return other

    def tools(self) -> AsyncIterator[mcp.Tool]:
        """Yield the server's tools, page after page: `async for tool in connection.tools()`.

        Each tool is yielded once. Pages are fetched when the loop needs them; it may be left at any
        point.

        Raises:
            CapabilityNotNegotiatedError: the server does not offer tools.
            PaginationError: the server repeats a cursor, or sends too many pages.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
        """
        return lists.tools(self.mcp)

    def prompts(self) -> AsyncIterator[mcp.Prompt]:
        """Yield the server's prompts, as `tools` does."""
        return lists.prompts(self.mcp)

    def resources(self) -> AsyncIterator[mcp.Resource]:
        """Yield the server's resources, as `tools` does."""
        return lists.resources(self.mcp)

    def resource_templates(self) -> AsyncIterator[mcp.ResourceTemplate]:
        """Yield the server's resource templates, as `tools` does."""
        return lists.resource_templates(self.mcp)

    def changes(self) -> AbstractContextManager[AsyncIterator[ListName]]:
        """Watch the server's lists: `with connection.changes() as changes: async for name in ...`.

        Yields "tools", "resources" or "prompts" when that list has changed; fetch it again then.
        Several changes before the next iteration yield one name. Only a server that offers
        `listChanged` reports changes.

        Raises:
            ConnectionClosedError: the connection has ended.
        """
        return self._router.list_changes()

    def subscription(self, uri: str) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Watch a resource: `async with connection.subscription(uri) as updates: async for ...`.

        Yields the addresses of changed resources: `uri`, or addresses below it. Several changes of
        one address before the next iteration yield it once. All blocks of one address share one
        subscription of the server, which ends with the last block.

        Raises:
            CapabilityNotNegotiatedError: the server does not offer subscriptions.
            ConnectionClosedError: the connection has ended.
            RpcError, RequestTimeoutError, InvalidResponseError: as for `Session.call`.
        """
        _SUBSCRIPTION.check(uri=uri)
        return self._router.subscriptions.subscribed(self.mcp, uri)

    async def call(self, method: Method[P, R], params: P, /) -> R:
        """Send a request and return its result; the errors are those of `Session.call`."""
        _CALL.check(method=method, params=params)
        return await self._peer.call(method, params)

    async def notify(self, method: Method[P, Any], params: P, /) -> None:
        """Send a notification; the errors are those of `Session.notify`."""
        _NOTIFY.check(method=method, params=params)
        await self._peer.notify(method, params)

    def shape_error(self, where: str, error: ValidationError, value: object, /) -> ShapeError:
        """Return the error for a result that breaks its schema; see `Session.shape_error`."""
        return self.session.shape_error(where, error, value)

    async def aclose(self) -> None:
        """Close the connection; calls in progress fail. Any task may call this, also repeatedly."""
        await self.session.finish()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            from kinwire.mcp.habits import CLIENT_NAMES, no_attribute  # only after a mistake

            raise no_attribute(self, name, CLIENT_NAMES)
