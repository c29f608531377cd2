"""What servers say of their own states, for the supervisors of a kernel (MGP 0.2.0, 11.4)."""

from __future__ import annotations

__all__ = ("LifecycleManager", "LifecycleWatcher")

from typing import Protocol

from kinwire.mcp.context import Context
from kinwire.mcp.handlers import ExtensionHandlers
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.rpc.session import Session
from kinwire_protocols.mgp.methods import NOTIFICATIONS_MGP_LIFECYCLE
from kinwire_protocols.mgp.models import LifecycleNotificationParams


class LifecycleWatcher(Protocol):
    """The part of the program that starts and ends the server of one id."""

    def joined(self, server: GuardedServer) -> None:
        """Prepare for a connection, before its first message."""
        ...

    def heard(self, params: LifecycleNotificationParams) -> None:
        """Take what the server says of itself. Its word is not an operator's."""
        ...


class LifecycleManager:
    """Hands `notifications/mgp.lifecycle` to the watcher of the server that sent it.

    `server_id` in a notification is not looked at: a server speaks for itself alone.
    """

    def __init__(self, handlers: ExtensionHandlers) -> None:
        self._watchers: dict[str, LifecycleWatcher] = {}
        self._servers: dict[Session, GuardedServer] = {}
        handlers.add_default(NOTIFICATIONS_MGP_LIFECYCLE, self._heard)

    def watch(self, server: str, watcher: LifecycleWatcher) -> None:
        """Hand over what concerns a server, from its next connection on.

        Raises:
            ValueError: another supervisor of this kernel has it.
        """
        if server in self._watchers:
            raise ValueError(
                f"{server!r:.60}: it is supervised already. Remove it there first, or give this "
                "one another id."
            )
        self._watchers[server] = watcher

    def forget(self, server: str) -> None:
        """Hand nothing of a server over any more."""
        self._watchers.pop(server, None)

    def join(self, server: GuardedServer) -> None:
        """See `ServerManager.join`."""
        self._servers[server.session] = server
        watcher = self._watchers.get(server.id)
        if watcher is not None:
            watcher.joined(server)

    async def negotiate(self, server: GuardedServer) -> None:
        """See `ServerManager.negotiate`."""

    def left(self, server: GuardedServer) -> None:
        """See `ServerManager.left`."""
        self._servers.pop(server.session, None)

    async def _heard(self, params: LifecycleNotificationParams, context: Context) -> None:
        server = self._servers.get(context.session)
        watcher = None if server is None else self._watchers.get(server.id)
        if watcher is not None:
            watcher.heard(params)
