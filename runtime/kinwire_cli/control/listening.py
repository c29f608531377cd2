"""The kernel's side of its socket: connections of its owner are served, others are closed."""

from __future__ import annotations

__all__ = ("serve_owner",)

import logging
import socket
from collections.abc import Mapping

import anyio

from kinwire.rpc.limits import Limits
from kinwire.rpc.routes import Route
from kinwire.rpc.session import Session
from kinwire_cli.control.messages import PROFILE
from kinwire_cli.control.place import is_mine
from kinwire_cli.control.transport import SocketTransport

logger = logging.getLogger("kinwire.control")

_CONNECTIONS = 32  # at the same time; others wait
_LIMITS = Limits(request_timeout=None, frame_size=64 * 1024, in_flight=32)


async def serve_owner(listener: socket.socket, routes: Mapping[str, Route]) -> None:
    """Serve `routes` to this user until this is cancelled; `listener` is a `bound_socket`."""
    room = anyio.CapacityLimiter(_CONNECTIONS)
    async with anyio.create_task_group() as tasks:
        while True:
            await anyio.wait_readable(listener)
            try:
                connection, _ = listener.accept()
            except OSError as error:  # it is gone already, or too many files are open
                logger.warning("a connection cannot be taken: %s", error)
                await anyio.sleep(0.1)
                continue
            if is_mine(connection):
                tasks.start_soon(_serve, connection, routes, room)
            else:
                connection.close()


async def _serve(
    connection: socket.socket, routes: Mapping[str, Route], room: anyio.CapacityLimiter
) -> None:
    with connection:
        connection.setblocking(False)
        async with room:
            transport = SocketTransport(connection)
            async with Session(
                transport, routes=routes, profile=PROFILE, limits=_LIMITS
            ) as session:
                await session.wait_closed()
