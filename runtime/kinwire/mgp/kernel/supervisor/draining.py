"""How a connected server is shut down: it finishes what is under way (MGP 0.2.0 section 11.4)."""

from __future__ import annotations

__all__ = ("drain",)

import logging
from contextlib import suppress

import anyio

from kinwire.managers.while_open import while_open
from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.supervisor.call_gate import CallGate
from kinwire.rpc.errors import KinwireError
from kinwire.rpc.session import Session
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import RpcError
from kinwire_protocols.mcp.methods import PING
from kinwire_protocols.mcp.models import RequestParams
from kinwire_protocols.mgp.methods import MGP_LIFECYCLE_SHUTDOWN
from kinwire_protocols.mgp.models import LifecycleShutdownParams

_FIRST_LOOK, _LOOKS = 0.05, 1.0  # seconds

logger = logging.getLogger("kinwire.mgp.supervisor")


async def drain(server: GuardedServer, gate: CallGate, reason: str, timeout: float) -> None:
    """Wait until a server has finished its calls, at most `timeout` seconds.

    A server with the extension `lifecycle` is asked to shut down, and ends its transport itself. Of
    any other server the calls that this kernel made are waited for. New calls have to be refused
    already, and the connection is closed afterwards.
    """
    with anyio.move_on_after(timeout) as scope:
        if "lifecycle" in server.extensions and await _asked(server, reason, timeout):
            await _wait_closed(server.session)
        else:
            await while_open(server.session, gate.wait_quiet)
    if scope.cancelled_caught and gate.under_way:
        text = "%s: %d calls were still under way after %g s of draining"
        logger.warning(text, server.id, gate.under_way, timeout)


async def _wait_closed(session: Session) -> None:
    """Return when a connection has ended. Over HTTP only a request finds that out: send some."""
    pause = _FIRST_LOOK
    while not session.closed:
        with anyio.move_on_after(pause):
            await session.wait_closed()
        with anyio.move_on_after(pause), suppress(RpcError, KinwireError):
            await session.call(PING, RequestParams(), timeout=None)
        pause = min(2 * pause, _LOOKS)


async def _asked(server: GuardedServer, reason: str, timeout: float) -> bool:
    """Ask a server to shut down; return whether it does."""
    params = LifecycleShutdownParams(reason=reason, timeout_ms=round(timeout * 1000))
    try:
        result = await server.session.call(MGP_LIFECYCLE_SHUTDOWN, params, timeout=None)
    except (RpcError, KinwireError) as error:
        logger.warning("%s: it did not take its shutdown: %s", server.id, sanitize_for_log(error))
        return False
    return result.accepted
