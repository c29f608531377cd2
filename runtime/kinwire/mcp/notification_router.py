"""Notifications of a server: who on the client's side gets them (MCP)."""

from __future__ import annotations

__all__ = ("LogCallback", "NotificationRouter")

import logging
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from inspect import iscoroutinefunction
from math import inf
from typing import Any, Final

import anyio

from kinwire.mcp.conflating_queue import ConflatingQueue
from kinwire.mcp.log_messages import log_message
from kinwire.mcp.rules.pagination import ListName
from kinwire.mcp.subscriptions import Subscriptions
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.routes import AtOnce, Handler, LayeredRoutes, Route
from kinwire.support.functions import call_back
from kinwire_protocols import mcp
from kinwire_protocols.base import Message
from kinwire_protocols.mcp import methods

logger = logging.getLogger("kinwire.host")

LogCallback = Callable[[mcp.LoggingMessageNotificationParams], object]
"""A plain function that gets each log message as soon as it arrives."""

_MAX_PENDING_LOGS = 1000  # log messages that wait for the host's handler

_CHANGED_LISTS: Final[dict[str, ListName]] = {
    methods.NOTIFICATIONS_TOOLS_LIST_CHANGED.name: "tools",
    methods.NOTIFICATIONS_RESOURCES_LIST_CHANGED.name: "resources",
    methods.NOTIFICATIONS_PROMPTS_LIST_CHANGED.name: "prompts",
}


class NotificationRouter:
    """Route the notifications of one connection.

    The notifications that it handles itself go to the host's handlers, too.
    """

    def __init__(self, handlers: dict[str, Route], on_log: LogCallback | None) -> None:
        """Make routes in front of `handlers`, the routes of the host, which may change.

        `on_log` gets the log messages instead of the host's handler.

        Raises:
            TypeError: `on_log` is a coroutine function.
        """
        if on_log is not None and iscoroutinefunction(on_log):
            raise TypeError("on_log: expected a plain function, got a coroutine function")
        self._handlers = handlers
        self._on_log = on_log
        self._readers: set[ConflatingQueue[ListName]] = set()
        self._pending_logs: deque[tuple[mcp.LoggingMessageNotificationParams, Any]] = deque()
        self._logs_changed = anyio.Event()
        self._closed_why: ConnectionClosedError | None = None
        self.server_name = ""
        """The name that the server gives itself, empty before the handshake."""
        self.subscriptions = Subscriptions()
        self.routes = LayeredRoutes(self._own_routes())
        self.routes.add(handlers)
        """The routes of the connection."""

    @contextmanager
    def list_changes(self) -> Generator[ConflatingQueue[ListName]]:
        """Yield a queue of the lists that have changed, while the block lasts."""
        queue = ConflatingQueue[ListName](_add)
        self._readers.add(queue)
        if self._closed_why is not None:
            queue.close(self._closed_why)
        try:
            yield queue
        finally:
            self._readers.remove(queue)
            queue.close()

    def close(self, why: ConnectionClosedError) -> None:
        """End the iteration of all readers with `why`, after their pending items."""
        self._closed_why = why
        self._logs_changed.set()
        self.subscriptions.close(why)
        for queue in self._readers:
            queue.close(why)

    async def run_log_handler(self) -> None:
        """Call the host's handler for one log message after another, until the connection ends.

        The handler may send a request to the server, which may send a request in turn. So it does
        not run inside the session, which handles no other message until a serial one is done.
        """
        while True:
            while self._pending_logs:
                async with anyio.create_task_group() as tasks:  # a failure ends only this task
                    tasks.start_soon(self._handle_log, *self._pending_logs.popleft())
            if self._closed_why is not None:
                return
            self._logs_changed = anyio.Event()
            await self._logs_changed.wait()

    def _own_routes(self) -> dict[str, Route]:
        own = (
            (methods.NOTIFICATIONS_TOOLS_LIST_CHANGED, self._list_changed),
            (methods.NOTIFICATIONS_RESOURCES_LIST_CHANGED, self._list_changed),
            (methods.NOTIFICATIONS_PROMPTS_LIST_CHANGED, self._list_changed),
            (methods.NOTIFICATIONS_RESOURCES_UPDATED, self._updated),
            (methods.NOTIFICATIONS_MESSAGE, self._logged),
        )
        return {row.name: Route(row, _awaited(act), act) for row, act in own}

    def _list_changed(self, params: mcp.NotificationParams, request: Any) -> Handler | None:
        for queue in self._readers:
            queue.put(_CHANGED_LISTS[request.method.name])
        return self._handler(request)

    def _updated(
        self, params: mcp.ResourceUpdatedNotificationParams, request: Any
    ) -> Handler | None:
        self.subscriptions.dispatch(params.uri)
        return self._handler(request)

    def _logged(self, params: mcp.LoggingMessageNotificationParams, request: Any) -> None:
        if self._on_log is not None:
            call_back(self._on_log, params, logger, f"on_log function for {self.server_name}")
        elif request.method.name not in self._handlers:
            call_back(self._log_message, params, logger, "logging of a message")
        elif len(self._pending_logs) < _MAX_PENDING_LOGS:
            self._pending_logs.append((params, request))
            self._logs_changed.set()
        else:
            logger.debug("dropped a log message: %d wait already", _MAX_PENDING_LOGS)

    def _log_message(self, message: mcp.LoggingMessageNotificationParams) -> None:
        log_message(self.server_name, message)

    async def _handle_log(self, params: mcp.LoggingMessageNotificationParams, request: Any) -> None:
        handler = self._handler(request)
        try:
            if handler is not None:
                await handler(params, request)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) or anyio.current_effective_deadline() == -inf:
                raise  # this task is cancelled: not an error of the handler
            if not request.session.closed:
                logger.exception("the handler of %s failed", request.method.name)

    def _handler(self, request: Any) -> Handler | None:
        """Return the host's own handler of the request's method, if there is one."""
        route = self._handlers.get(request.method.name)
        return None if route is None else route.handler


def _awaited(act: AtOnce) -> Handler:
    async def handle(params: Message, request: Any) -> None:
        handler = act(params, request)
        if handler is not None:
            await handler(params, request)

    return handle


def _add(pending: dict[ListName, None], name: ListName) -> None:
    pending[name] = None
