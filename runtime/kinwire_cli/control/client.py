"""The command's side of the socket: which kernel is meant, and requests to it."""

from __future__ import annotations

__all__ = ("KERNEL_CODES", "RunningKernel", "add_kernel", "add_server", "running_kernel")

from argparse import ArgumentParser, Namespace
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kinwire_cli.completion import completed_by
from kinwire_cli.failure import UNREACHABLE, UnreachableError, UsageError, did_you_mean
from kinwire_cli.kernel_config import config_file
from kinwire_cli.layout import one_line

if TYPE_CHECKING:
    import socket

    from kinwire.rpc.session import Session
    from kinwire_cli.control.messages import ServerRow, ServersAnswer, StderrLine

_TIMEOUT = 10.0  # seconds for an answer that has to wait for nothing

KERNEL_CODES = {UNREACHABLE: "no kernel runs there"}
"""The exit codes of a subcommand that talks to a kernel that runs."""


def add_kernel(parser: ArgumentParser) -> None:
    """Add `-c FILE` and `--socket PATH`."""
    text = "the configuration that the kernel runs (default: the one that kinwire up finds)"
    parser.add_argument("-c", "--config", metavar="FILE", help=text)
    text = "the socket of the kernel, where it was chosen by kinwire up --socket"
    parser.add_argument("--socket", metavar="PATH", help=text)


def add_server(parser: ArgumentParser) -> None:
    """Add `SERVER`."""
    text = "its id in the configuration"
    completed_by(parser.add_argument("server", metavar="SERVER", help=text), _servers)


@asynccontextmanager
async def running_kernel(arguments: Namespace) -> AsyncGenerator[RunningKernel]:
    """Yield the kernel that the arguments of `add_kernel` name.

    Raises:
        UnreachableError: it does not run, or ends before it has answered.
        UsageError: no configuration is there to find it by, or it belongs to another user.
    """
    from kinwire.rpc.errors import ConnectionClosedError
    from kinwire.rpc.limits import Limits
    from kinwire.rpc.session import Session
    from kinwire_cli.control.messages import PROFILE
    from kinwire_cli.control.transport import SocketTransport

    transport = SocketTransport(_connected(arguments.config, arguments.socket))
    try:
        async with Session(
            transport, routes={}, profile=PROFILE, limits=Limits(request_timeout=_TIMEOUT)
        ) as session:
            yield RunningKernel(session)
    except ConnectionClosedError as error:
        raise UnreachableError(error.reason, "kinwire up runs it again.") from None


def _connected(config: str | None, path: str | None) -> socket.socket:
    from kinwire_cli.control.place import connected_socket, places_of

    if path is not None:
        return connected_socket(Path(path))
    file = config_file(config)
    for place in places_of(file):
        try:
            return connected_socket(place)
        except UnreachableError:
            continue
    shown = one_line(str(file))
    raise UnreachableError(f"No kernel runs {shown}.", f"kinwire up -c {shown} runs it.")


class RunningKernel:
    """Requests to a kernel."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def servers(self) -> ServersAnswer:
        """Return the kernel and its servers as they are now."""
        from kinwire_cli.control.messages import SERVERS, NoQuestion

        return await self._session.call(SERVERS, NoQuestion())

    async def checked(self, server: str) -> ServerRow:
        """Return the server of that id.

        Raises:
            UsageError: the kernel has no such server.
        """
        rows = (await self.servers()).servers
        for row in rows:
            if row.id == server:
                return row
        names = [row.id for row in rows]
        known = f"There are: {', '.join(names)}." if names else "It has no servers."
        text = f"The kernel has no server {one_line(server)!r}."
        raise UsageError(text, did_you_mean(server, names, known))

    async def act(self, action: Literal["start", "stop", "restart"], server: str) -> ServerRow:
        """Start, stop or restart a server; return how it is when that is done."""
        from kinwire_cli.control import messages

        row = {"start": messages.START, "stop": messages.STOP, "restart": messages.RESTART}[action]
        question = messages.ServerQuestion(server=server)
        return await self._session.call(row, question, timeout=None)

    async def logs(self, server: str, after: int, most: int, wait: float) -> list[StderrLine]:
        """Return lines of the server's stderr behind `after`; wait if there is nothing yet."""
        from kinwire_cli.control.messages import LOGS, LogsQuestion

        question = LogsQuestion(server=server, after=after, most=most, wait=wait)
        answer = await self._session.call(LOGS, question, timeout=wait + _TIMEOUT)
        return answer.lines


def _servers(parsed_args: Namespace, **_: Any) -> Iterable[str]:
    """Return the servers of the kernel for the shell, or nothing if none can be had."""
    from kinwire_cli.running import run

    async def ids() -> list[str]:
        async with running_kernel(parsed_args) as kernel:
            return [row.id for row in (await kernel.servers()).servers]

    try:
        return run(ids)
    except Exception:  # the shell offers nothing then
        return ()
