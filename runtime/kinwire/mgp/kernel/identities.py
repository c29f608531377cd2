"""Servers have the names that the host gives: none can take that of another (MGP 0.2.0, 2.3)."""

from __future__ import annotations

__all__ = ("IdentityRefusedError", "must_be_itself")

from collections.abc import Container, Iterable

from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.rpc.errors import KinwireError
from kinwire.support.sanitize import sanitize_for_log


class IdentityRefusedError(KinwireError):
    """A server declares a `server_id` that is not its own, so it is not connected."""


def must_be_itself(
    server: GuardedServer, others: Iterable[GuardedServer], configured: Container[str]
) -> None:
    """Raise if the `server_id` that a server declares is not its own.

    A server that the host has named may declare that name only. Another one may declare a name that
    no connected server has, and none that is configured.

    Raises:
        IdentityRefusedError: it is not its own.
    """
    declared = None if server.offer is None else server.offer.server_id
    if declared is None or declared == server.id:
        return
    shown = repr(sanitize_for_log(declared)[:60])
    if server.session.identity.server_id is not None:
        raise IdentityRefusedError(f"{server.id}: it declares another server_id, {shown}.")
    if declared in configured or any(declared in _names(other) for other in others):
        raise IdentityRefusedError(
            f"{server.id}: it declares the server_id {shown}, which is that of another server. "
            'If it is that server, connect with server_id="...".'
        )


def _names(server: GuardedServer) -> tuple[str, ...]:
    declared = None if server.offer is None else server.offer.server_id
    return (server.id,) if declared is None else (server.id, declared)
