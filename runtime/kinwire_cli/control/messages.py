"""The requests that a running kernel takes from its owner, and their answers."""

from __future__ import annotations

__all__ = (
    "LOGS",
    "PROFILE",
    "RESTART",
    "SERVERS",
    "START",
    "STOP",
    "KernelFacts",
    "LogsAnswer",
    "LogsQuestion",
    "NoQuestion",
    "ServerQuestion",
    "ServerRow",
    "ServersAnswer",
    "StderrLine",
)

from typing import Any

from kinwire.rpc.profile import RpcProfile
from kinwire_protocols.base import Message
from kinwire_protocols.peer import Method

PROFILE = RpcProfile()


class ServerRow(Message):
    """One server as a table shows it. Times are in seconds since 1970."""

    id: str
    state: str
    """A state of MGP 0.2.0 section 11.2, such as `connected`."""
    health: str | None = None
    """What it said last of its health; None if nothing is known."""
    restarts: int = 0
    """How often the kernel has started it again."""
    pid: int | None = None
    """Its process on this machine; None if nothing runs now."""
    since: float
    """When it got into the state."""
    note: str | None = None
    """Why it is in the state, or what comes next."""


class KernelFacts(Message):
    """The kernel that answers."""

    pid: int
    config: str
    """The file that it runs, as an absolute path."""
    since: float
    version: str
    """That of kinwire."""


class NoQuestion(Message):
    """Nothing more is asked."""


class ServersAnswer(Message):
    """All servers, in the order of the file."""

    kernel: KernelFacts
    servers: list[ServerRow]


class ServerQuestion(Message):
    """Which server is meant."""

    server: str


class LogsQuestion(Message):
    """Which lines of a server's stderr are wanted."""

    server: str
    after: int = 0
    """Lines up to this number are known already."""
    most: int
    """The number of lines that are wanted, the newest ones."""
    wait: float = 0.0
    """Seconds to wait for a line if there is nothing yet."""


class StderrLine(Message):
    """A line that the server has written to stderr."""

    number: int
    """Counted from 1, also across restarts."""
    text: str


class LogsAnswer(Message):
    """The lines, oldest first."""

    lines: list[StderrLine]


def _row(name: str, params: type[Any], result: type[Any]) -> Method[Any, Any]:
    return Method(
        name=f"control/{name}",
        protocol="control",
        attribute=name,
        kind="request",
        sender="client",
        params=params,
        result=result,
        section="",
    )


SERVERS: Method[NoQuestion, ServersAnswer] = _row("servers", NoQuestion, ServersAnswer)
START: Method[ServerQuestion, ServerRow] = _row("start", ServerQuestion, ServerRow)
STOP: Method[ServerQuestion, ServerRow] = _row("stop", ServerQuestion, ServerRow)
RESTART: Method[ServerQuestion, ServerRow] = _row("restart", ServerQuestion, ServerRow)
LOGS: Method[LogsQuestion, LogsAnswer] = _row("logs", LogsQuestion, LogsAnswer)
