"""A server and a host in one process, over the bytes that a pipe would carry: how users test."""

from __future__ import annotations

__all__ = ("Frame", "PairedConnection", "pair")

from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Literal, NamedTuple

from kinwire.mcp.connection import Connection
from kinwire.mcp.host import Host
from kinwire.mcp.notification_router import LogCallback
from kinwire.mcp.server import Server
from kinwire.support.arguments import (
    PLAIN_FUNCTION,
    ArgumentCheck,
    ValueKind,
    WrongValue,
    instance_of,
)
from kinwire.support.background import movable_background
from kinwire.support.sanitize import sanitize_for_log
from kinwire.transports.memory import memory_pair

_KEPT = 10_000  # frames; a test that sends more wants the last ones


class _ServerKind(ValueKind):
    """The server of `pair`; a host in its place is answered with the order of the two."""

    def __init__(self) -> None:
        super().__init__("a Server", "server", lambda value: isinstance(value, Server))

    def refusal(self, place: str, value: object) -> WrongValue:
        wrong = super().refusal(place, value)
        return wrong._replace(call="pair(server, host)") if isinstance(value, Host) else wrong


_PAIR = ArgumentCheck(
    "pair",
    "pair(server)",
    {"server": _ServerKind()},
    host=instance_of(Host, "a Host", 'Host("test", "1.0")').or_none,
    on_log=PLAIN_FUNCTION.or_none,
)


class Frame(NamedTuple):
    """One JSON-RPC message as it was sent."""

    sender: Literal["client", "server"]
    data: bytes


class PairedConnection(Connection):
    """The host's connection, and what went over it in both directions since it began."""

    def __init__(self, connection: Connection, frames: Sequence[Frame]) -> None:
        vars(self).update(vars(connection))
        self.frames = frames
        """The last 10,000 frames, oldest first."""


@asynccontextmanager
async def pair(
    server: Server, host: Host | None = None, *, on_log: LogCallback | None = None
) -> AsyncGenerator[PairedConnection]:
    """Yield a connection of `host` (one that is not open yet; a plain one if None) to `server`.

    `on_log` is that of `Host.connect`. The `server_id` is the name of the server.
    """
    _PAIR.check(server=server, host=host, on_log=on_log)
    frames: deque[Frame] = deque(maxlen=_KEPT)

    def record(sender: int, data: bytes) -> None:
        frames.append(Frame("server" if sender else "client", data))

    client_end, server_end = memory_pair(record)
    name = sanitize_for_log(server.info.name)
    async with movable_background() as tasks, host or Host("pair", "0") as opened:
        tasks.start_soon(server.serve, server_end)
        yield PairedConnection(
            await opened.connect(client_end, server_id=name, on_log=on_log), frames
        )
