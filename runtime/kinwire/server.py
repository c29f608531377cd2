"""A server: its tools and handlers, and the sessions that reach them (MCP).

`tools.py` has the tools, `_handlers.py` what `on` accepts, `_handshake.py` how a session begins.
"""

from __future__ import annotations

__all__ = ("Server",)

import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, overload

import anyio

from kinwire._handlers import HandlerTable
from kinwire._handshake import ServerHandshake
from kinwire.limits import Limits
from kinwire.session import Session
from kinwire.tools import ToolTable, tool_from_function
from kinwire.transports import Transport
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, to_wire
from kinwire_protocols.mcp.methods import PROTOCOL, TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.peer import Method

F = TypeVar("F", bound=Callable[..., Any])

_LIMITS = Limits()
_LAST_WORK = 0.2  # seconds for threads that are about to end anyway


class Server:
    """What is served; any number of sessions at once.

    `instructions` tell clients, and their models, how the server is best used.
    """

    def __init__(
        self,
        name: str,
        version: str,
        *,
        instructions: str | None = None,
        limits: Limits = _LIMITS,
    ) -> None:
        self.info = mcp.Implementation(name=name, version=version)
        self.instructions = instructions
        self.limits = limits
        self.on = mcp.ServerOn(self._add_handler)
        """Where handlers are registered, one attribute a method: `@server.on.resources_list`.

        They are `async` functions of (params) or of (params, context).
        """
        self._handlers = HandlerTable()
        self._tools = ToolTable()
        self._serves_tools = False
        self._handshakes: set[ServerHandshake] = set()  # one a session

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(
        self, /, *, name: str | None = None, description: str | None = None
    ) -> Callable[[F], F]: ...
    def tool(
        self,
        function: F | None = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
    ) -> F | Callable[[F], F]:
        """Offer a function as a tool; the decorated function stays as it is.

        Its name, docstring and type hints are what clients see; `name` and `description` replace
        the first two. A plain function runs in a worker thread. A parameter annotated `Context`
        gets the request's. Raise `ToolError` to tell the caller's model what went wrong.

        Raises:
            ToolDefinitionError: the function cannot be a tool.
            HandlerDefinitionError: `tools/list` or `tools/call` has a handler of your own.
        """
        if function is None:
            return partial(self._add_tool, name=name, description=description)
        return self._add_tool(function, name=name, description=description)

    def remove_tool(self, name: str) -> None:
        """Withdraw a tool, also from open sessions.

        Raises:
            KeyError: there is no tool of this name.
        """
        self._tools.remove(name)

    def remove_handler(self, method: Method[Any, Any]) -> None:
        """Withdraw the handler of a method, also from open sessions.

        Raises:
            KeyError: it has none.
        """
        self._handlers.remove(method)
        for handshake in self._handshakes:
            handshake.forget(method.name)

    async def serve(self, transport: Transport) -> None:
        """Serve one session until either side ends it."""
        handshake = ServerHandshake(self._handlers, self._greeting)
        self._handshakes.add(handshake)
        try:
            async with Session(
                transport, routes=handshake.routes, limits=self.limits, protocols=[PROTOCOL]
            ) as session:
                await session.wait_closed()
        finally:
            self._handshakes.discard(handshake)

    def run(self) -> None:
        """Serve one session over stdin and stdout until the input ends: the last line of a program.

        The end of the input is how a client stops its server. So the process ends here, with 0, if
        a thread is left that would keep it alive; else this returns.

        Raises:
            SystemExit: the user pressed Ctrl-C.
        """
        try:
            anyio.run(self._serve_stdio)
        except KeyboardInterrupt:
            raise SystemExit(130) from None
        _leave_threads()

    async def _serve_stdio(self) -> None:
        from kinwire.transports.stdio import OwnStdio

        await self.serve(OwnStdio())

    def _add_tool(self, function: F, *, name: str | None, description: str | None) -> F:
        tool = tool_from_function(function, name=name, description=description)
        if not self._serves_tools:
            self._handlers.must_be_free([TOOLS_LIST, TOOLS_CALL])
            self._add_handler(TOOLS_LIST, self._tools.list)
            self._add_handler(TOOLS_CALL, self._tools.call)
            self._serves_tools = True
        self._tools.add(tool)
        return function

    def _add_handler(self, method: Method[Any, Any], handler: Callable[..., Any]) -> None:
        route = self._handlers.add(method, handler)
        for handshake in self._handshakes:
            handshake.learn(route)

    def _greeting(self) -> JsonObject:
        """Return the result of `initialize`: this version, whichever the client offered."""
        result: JsonObject = {
            "protocolVersion": PROTOCOL.version,
            "capabilities": self._handlers.capabilities("server"),
            "serverInfo": to_wire(self.info),
        }
        if self.instructions is not None:
            result["instructions"] = self.instructions
        return result


def _leave_threads() -> None:
    """End the process if a thread keeps it alive, such as a tool's that nobody can stop."""
    others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    lasting = [thread for thread in others if not thread.daemon]
    deadline = time.monotonic() + _LAST_WORK
    for thread in lasting:
        thread.join(max(0.0, deadline - time.monotonic()))
    if any(thread.is_alive() for thread in lasting):
        logging.shutdown()  # the one handler at exit that matters to everybody
        sys.stdout.flush()
        os._exit(0)
