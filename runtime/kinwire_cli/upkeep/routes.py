"""Answers to other commands over the socket, as an operator's."""

from __future__ import annotations

__all__ = ("ControlHandlers", "control_routes")

import getpass
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from kinwire.mgp import MgpKernel
from kinwire.mgp.kernel.supervisor.supervisor import Supervisor
from kinwire.rpc.routes import Route
from kinwire_cli.control.messages import (
    LOGS,
    RESTART,
    SERVERS,
    START,
    STOP,
    KernelFacts,
    LogsAnswer,
    LogsQuestion,
    NoQuestion,
    ServerQuestion,
    ServerRow,
    ServersAnswer,
    StderrLine,
)
from kinwire_protocols.jsonrpc.errors import InvalidParamsError

_MOST = 1024 * 1024  # characters of log lines in an answer; the oldest are left out
_LONGEST_WAIT = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class ControlHandlers:
    """What the socket of a kernel answers."""

    kernel: MgpKernel
    supervisor: Supervisor
    facts: KernelFacts
    rows: Callable[[], Sequence[ServerRow]]

    async def servers(self, params: NoQuestion, _: Any) -> ServersAnswer:
        """Return how all servers are."""
        return ServersAnswer(kernel=self.facts, servers=list(self.rows()))

    async def start(self, params: ServerQuestion, _: Any) -> ServerRow:
        """Start a server."""
        return await self._act(self.supervisor.start, params.server)

    async def stop(self, params: ServerQuestion, _: Any) -> ServerRow:
        """Stop a server until it is started."""
        return await self._act(self.supervisor.stop, params.server)

    async def restart(self, params: ServerQuestion, _: Any) -> ServerRow:
        """Restart a server."""
        return await self._act(self.supervisor.restart, params.server)

    async def logs(self, params: LogsQuestion, _: Any) -> LogsAnswer:
        """Return the last lines of a server's stderr; wait if there is nothing yet."""
        if not self._is_supervised(params.server):
            self._row(params.server)
            return LogsAnswer(lines=[])
        log = self.supervisor[params.server].log
        found = log.after(params.after)
        if not found and params.wait > 0:
            with anyio.move_on_after(min(params.wait, _LONGEST_WAIT)):
                found = await log.wait_after(params.after)
        lines = [StderrLine(number=one.number, text=one.text) for one in found[-params.most :]]
        return LogsAnswer(lines=list(_newest(lines))[::-1])

    async def _act(self, act: Callable[[str], Awaitable[None]], server: str) -> ServerRow:
        if self._is_supervised(server):
            with self.kernel.acting_as_operator(_user()):
                await act(server)
        return self._row(server)  # with the reason, if it is one that cannot be started

    def _is_supervised(self, server: str) -> bool:
        return server in (one.id for one in self.supervisor.servers)

    def _row(self, server: str) -> ServerRow:
        for row in self.rows():
            if row.id == server:
                return row
        raise InvalidParamsError(f"There is no server {server!r:.60}.")


def control_routes(handlers: ControlHandlers) -> Mapping[str, Route]:
    """Return what a kernel serves on its socket."""
    rows = (
        (SERVERS, handlers.servers),
        (START, handlers.start),
        (STOP, handlers.stop),
        (RESTART, handlers.restart),
        (LOGS, handlers.logs),
    )
    return {row.name: Route(row, handler) for row, handler in rows}


def _newest(lines: Sequence[StderrLine]) -> Iterator[StderrLine]:
    """Yield the lines from the last one back, as many as an answer holds."""
    room = _MOST
    for line in reversed(lines):
        room -= len(line.text)
        if room < 0:
            return
        yield line


def _user() -> str:
    """Return the name of this user, for the audit."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container may have no name for it
        return "operator"
