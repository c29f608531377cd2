"""How a run of a server ends: its connection is closed, and what happened is put into words."""

from __future__ import annotations

__all__ = ("close_connection", "end_of_start", "unasked_end")

import anyio

from kinwire.mcp.connection import Connection
from kinwire.mgp.rules.restarts import ServerEnd
from kinwire.rpc.errors import ConnectionClosedError, RequestTimeoutError
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.mcp.methods import INITIALIZE


async def close_connection(connection: Connection) -> None:
    """Close a connection, and return when its processes are gone; that takes a bounded time."""
    over = anyio.Event()
    connection.session.on_close(over.set)
    with anyio.CancelScope(shield=True):
        await connection.aclose()
        await over.wait()


def unasked_end(connection: Connection) -> ServerEnd:
    """Return the end of a server that nobody has shut down: by its exit code, if it has one."""
    why = connection.session.closed_why or ConnectionClosedError("The server did not end.")
    return ServerEnd(failed=why.exit_code != 0, cause="ended", detail=why.reason)


def end_of_start(error: Exception) -> ServerEnd:
    """Return the end of a start that failed; what a child wrote to its stderr stays in its log."""
    detail = sanitize_for_log(_said_of(error)) or type(error).__name__
    return ServerEnd(failed=True, cause="start_failed", detail=detail)


def _said_of(error: Exception) -> str:
    if isinstance(error, ConnectionClosedError):
        return error.reason
    if isinstance(error, RequestTimeoutError) and error.method == INITIALIZE.name:
        # Without the advice in it, which is for the caller of `connect`.
        return f"It did not answer {error.method} within {error.timeout:g} s, its start_timeout."
    return str(error)
