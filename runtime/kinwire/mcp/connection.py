"""A server as its client holds it, from the handshake on (MCP)."""

from __future__ import annotations

__all__ = ("Connection",)

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from copy import copy
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from kinwire.mcp import lists
from kinwire.mcp.notification_router import NotificationRouter
from kinwire.mcp.profile import ProgressCallback
from kinwire.mcp.rules.pagination import ListName
from kinwire.rpc.errors import ShapeError
from kinwire.rpc.session import DEFAULT, Session, Timeout
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message
from kinwire_protocols.peer import Method, Peer

P = TypeVar("P", bound=Message)
R = TypeVar("R")


class Connection:
    """A server, after the handshake. It is a `Peer`: stubs of any protocol take it."""

    def __init__(
        self, session: Session, greeting: mcp.InitializeResult, router: NotificationRouter
    ) -> None:
        self.session = session
        self.greeting = greeting
        """What the server answered to `initialize`, whole."""
        self._router = router
        self._peer: Peer = session
        self.mcp = mcp.ServerStub(session)
        """A typed call for every method that the server may be sent."""

    @property
    def server_info(self) -> mcp.Implementation:
        """Which program the server is."""
        return self.greeting.server_info

    @property
    def capabilities(self) -> mcp.ServerCapabilities:
        """What the server can do."""
        return self.greeting.capabilities

    @property
    def instructions(self) -> str | None:
        """How the server is best used, in its own words."""
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
        """Return this connection for calls with those options.

        `timeout` is in seconds, None for no limit; `on_progress` is a plain function that gets each
        progress report; `meta` goes into the `_meta` of the params.
        """
        other = copy(self)
        other._peer = self.session.with_options(timeout=timeout, on_progress=on_progress, meta=meta)
        other.mcp = mcp.ServerStub(other._peer)
        return other

    def tools(self) -> AsyncIterator[mcp.Tool]:
        """Yield the server's tools, page after page: `async for tool in connection.tools()`.

        No tool comes twice. A loop may be left at any point; what it did not need is not fetched.

        Raises:
            CapabilityNotNegotiatedError: the server has no tools.
            PaginationError: the pages would never end.
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

        Yields "tools", "resources" or "prompts" once that list has changed since it was yielded
        last; fetch it again then. Only a server that offers `listChanged` says so.

        Raises:
            ConnectionClosedError: the connection has ended.
        """
        return self._router.list_changes()

    def subscription(self, uri: str) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Watch a resource: `async with connection.subscription(uri) as updates: async for ...`.

        Yields addresses of what has changed: `uri`, or what lies below it. Each comes once,
        however often it changed since it was yielded last. All subscriptions to one address are
        one for the server, which ends with the last block.

        Raises:
            CapabilityNotNegotiatedError: the server has no subscriptions.
            ConnectionClosedError: the connection has ended.
            RpcError, RequestTimeoutError, InvalidResponseError: as for `Session.call`.
        """
        return self._router.subscriptions.subscribed(self.mcp, uri)

    async def call(self, method: Method[P, R], params: P, /) -> R:
        """Send a request and return its result; raises what `Session.call` does."""
        return await self._peer.call(method, params)

    async def notify(self, method: Method[P, Any], params: P, /) -> None:
        """Send a notification; raises what `Session.notify` does."""
        await self._peer.notify(method, params)

    def shape_error(self, where: str, error: ValidationError, value: object, /) -> ShapeError:
        """Return what is raised for a result that does not fit; see `Session.shape_error`."""
        return self.session.shape_error(where, error, value)

    async def aclose(self) -> None:
        """Close the connection; calls under way fail. Any task may do this, more than once too."""
        await self.session.aclose()
