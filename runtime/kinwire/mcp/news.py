"""What a server says without being asked: who on the client's side gets it (MCP)."""

from __future__ import annotations

__all__ = ("ListName", "LogCallback", "ServerNews")

import logging
from collections import ChainMap, deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from inspect import iscoroutinefunction
from math import inf
from typing import Any, Final, Literal

import anyio

from kinwire.mcp.feed import Feed
from kinwire.mcp.server_logs import log_message
from kinwire.mcp.watching import Subscriptions
from kinwire.rpc.calls import AtOnce, Handler, Route
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.support.callbacks import call_back
from kinwire_protocols import mcp
from kinwire_protocols.base import Message
from kinwire_protocols.mcp import methods

logger = logging.getLogger("kinwire.host")

ListName = Literal["tools", "resources", "prompts"]

LogCallback = Callable[[mcp.LoggingMessageNotificationParams], object]
"""Takes a log message. It is called at once, so it is a plain function."""

_MOST_LOGS = 1000  # log messages that wait for the host's handler

_CHANGED: Final[dict[str, ListName]] = {
    methods.NOTIFICATIONS_TOOLS_LIST_CHANGED.name: "tools",
    methods.NOTIFICATIONS_RESOURCES_LIST_CHANGED.name: "resources",
    methods.NOTIFICATIONS_PROMPTS_LIST_CHANGED.name: "prompts",
}


class ServerNews:
    """The news of one connection. What it serves itself, it hands on to the host's handlers."""

    def __init__(self, handlers: dict[str, Route], on_log: LogCallback | None) -> None:
        """Listen before `handlers`, which may change; `on_log` gets log messages in their stead.

        Raises:
            TypeError: `on_log` is a coroutine function.
        """
        if on_log is not None and iscoroutinefunction(on_log):
            raise TypeError("on_log: expected a plain function, got a coroutine function")
        self._handlers = handlers
        self._on_log = on_log
        self._feeds: set[Feed[ListName]] = set()
        self._logs: deque[tuple[mcp.LoggingMessageNotificationParams, Any]] = deque()
        self._more_logs = anyio.Event()
        self._why: ConnectionClosedError | None = None
        self.server = ""
        """What the server calls itself, empty before the handshake."""
        self.subscriptions = Subscriptions()
        self.routes: ChainMap[str, Route] = ChainMap(self._own(), handlers)
        """The routes of the connection."""

    @contextmanager
    def changes(self) -> Generator[Feed[ListName]]:
        """Yield the names of lists as they change, while the block lasts."""
        feed = Feed[ListName](_add)
        self._feeds.add(feed)
        if self._why is not None:
            feed.end(self._why)
        try:
            yield feed
        finally:
            self._feeds.remove(feed)
            feed.end()

    def end(self, why: ConnectionClosedError) -> None:
        """Tell all readers that nothing comes any more."""
        self._why = why
        self._more_logs.set()
        self.subscriptions.end(why)
        for feed in self._feeds:
            feed.end(why)

    async def hand_out_logs(self) -> None:
        """Have the host's handler act on one log message after another, until the end.

        A session holds other messages back while one whose order counts is handled. That handler
        may well ask the server, who may ask back: so it is not the session that it runs in.
        """
        while True:
            while self._logs:
                async with anyio.create_task_group() as alone:  # however it ends
                    alone.start_soon(self._hand_out, *self._logs.popleft())
            if self._why is not None:
                return
            self._more_logs = anyio.Event()
            await self._more_logs.wait()

    def _own(self) -> dict[str, Route]:
        listed = (
            (methods.NOTIFICATIONS_TOOLS_LIST_CHANGED, self._list_changed),
            (methods.NOTIFICATIONS_RESOURCES_LIST_CHANGED, self._list_changed),
            (methods.NOTIFICATIONS_PROMPTS_LIST_CHANGED, self._list_changed),
            (methods.NOTIFICATIONS_RESOURCES_UPDATED, self._updated),
            (methods.NOTIFICATIONS_MESSAGE, self._logged),
        )
        return {row.name: Route(row, _in_turn(act), act) for row, act in listed}

    def _list_changed(self, params: mcp.NotificationParams, request: Any) -> Handler | None:
        for feed in self._feeds:
            feed.put(_CHANGED[request.method.name])
        return self._handler(request)

    def _updated(
        self, params: mcp.ResourceUpdatedNotificationParams, request: Any
    ) -> Handler | None:
        self.subscriptions.updated(params.uri)
        return self._handler(request)

    def _logged(self, params: mcp.LoggingMessageNotificationParams, request: Any) -> None:
        if self._on_log is not None:
            call_back(self._on_log, params, logger, f"on_log function for {self.server}")
        elif request.method.name not in self._handlers:
            call_back(self._log, params, logger, "logging of a message")
        elif len(self._logs) < _MOST_LOGS:
            self._logs.append((params, request))
            self._more_logs.set()
        else:
            logger.debug("dropped a log message: %d wait already", _MOST_LOGS)

    def _log(self, message: mcp.LoggingMessageNotificationParams) -> None:
        log_message(self.server, message)

    async def _hand_out(self, params: mcp.LoggingMessageNotificationParams, request: Any) -> None:
        handler = self._handler(request)
        try:
            if handler is not None:
                await handler(params, request)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) or anyio.current_effective_deadline() == -inf:
                raise  # not the handler's: this task is cancelled
            if not request.session.closed:
                logger.exception("the handler of %s failed", request.method.name)

    def _handler(self, request: Any) -> Handler | None:
        """Return the host's own handler, which acts as well."""
        route = self._handlers.get(request.method.name)
        return None if route is None else route.handler


def _in_turn(act: AtOnce) -> Handler:
    async def handle(params: Message, request: Any) -> None:
        handler = act(params, request)
        if handler is not None:
            await handler(params, request)

    return handle


def _add(waiting: dict[ListName, None], name: ListName) -> None:
    waiting[name] = None
