"""How the server of a spec is reached: a child process, or a URL."""

from __future__ import annotations

__all__ = ("Launch", "launch")

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from kinwire.mcp.connection import Connection
from kinwire.mcp.host import Host
from kinwire.mgp.kernel.supervisor.log_lines import LogLines
from kinwire.mgp.rules.server_spec import ServerSpec
from kinwire.transports.child import ChildProcess, stdio

if TYPE_CHECKING:
    from kinwire.mcp.http_client.transport import HttpTransport


@dataclass(frozen=True, slots=True)
class Launch:
    """One start of a server."""

    connect: Callable[[], Awaitable[Connection]]
    """Starts the server, if it is a child, and shakes hands with it."""
    child: ChildProcess | None = None
    """None for a server that this program does not start."""


def launch(host: Host, spec: ServerSpec, log: LogLines) -> Launch:
    """Return the next start of a server."""
    common = partial(host.connect, server_id=spec.id, handshake_timeout=spec.start_timeout)
    if spec.url is not None:
        if spec.public_only:
            return Launch(partial(_connect_guarded, common, spec.url, spec))
        options = {"headers": spec.headers} if spec.headers else {}
        return Launch(partial(common, spec.url, insecure=spec.insecure, **options))
    assert spec.command is not None  # a spec has one of them
    child = stdio(spec.command, *spec.args, env=spec.env, cwd=spec.cwd, stderr=log.add)
    return Launch(partial(common, child), child)


async def _connect_guarded(
    connect: Callable[[HttpTransport], Awaitable[Connection]], url: str, spec: ServerSpec
) -> Connection:
    from kinwire.mcp.http_client.guarded import guarded_transport

    return await connect(guarded_transport(url, headers=spec.headers, insecure=spec.insecure))
