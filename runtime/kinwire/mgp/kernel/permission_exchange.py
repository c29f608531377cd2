"""What a kernel and one server say to each other about permissions (MGP 3.4 to 3.6)."""

from __future__ import annotations

__all__ = ("ANSWER", "PermissionExchange")

import logging
import math
from collections.abc import Callable, Mapping
from secrets import token_hex

import anyio
from anyio.abc import TaskStatus

from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.rules.permissions import (
    PermissionState,
    expanded,
    grant_of,
    grants_on_wire,
    narrowed,
    read_grant,
)
from kinwire.rpc.errors import InvalidResponseError, RequestTimeoutError
from kinwire.storage.clock import Clock
from kinwire.support.errors import KinwireError
from kinwire.support.sanitize import sanitize_for_log
from kinwire.support.timestamps import end_of, timestamp_of
from kinwire_protocols.base import RpcError, to_wire
from kinwire_protocols.mgp.methods import MGP_PERMISSION_REQUEST, MGP_PERMISSION_RESPONSE
from kinwire_protocols.mgp.models import (
    PermissionGrant,
    PermissionPolicy,
    PermissionRequestParams,
    PermissionRequestResult,
    PermissionResponseParams,
)

logger = logging.getLogger("kinwire.mgp")

ANSWER = 3.0
"""Seconds for a server to answer a message, where nothing depends on the answer."""

_Delivered = tuple[dict[str, PermissionGrant], str | None]


class PermissionExchange:
    """The permissions that one server requires, and what both sides have said about them."""

    def __init__(self, server: GuardedServer, clock: Clock) -> None:
        self._server = server
        self._clock = clock
        offer = server.offer
        self.required = () if offer is None else tuple(offer.permissions_required or ())
        """The names as the server wrote them."""
        self.permissions = expanded(self.required)
        """The permissions that they stand for."""
        self.configured = frozenset(expanded(server.policy.permissions))
        """The permissions that the configuration approves."""
        self._request_id = f"perm-{token_hex(8)}"
        self._denied: set[str] = set()  # by the server itself
        self._until = math.inf
        self._delivered: _Delivered | None = None

    @property
    def is_negotiated(self) -> bool:
        """Whether the messages of permissions may be sent to the server."""
        return "security" in self._server.extensions

    def narrow(self, permission: str, state: PermissionState) -> PermissionState:
        """Return `state` with what the server itself has answered, which can only take away."""
        if state.value != "approved" or not (self._denied or self._until < math.inf):
            return state
        denied = permission in self._denied
        return narrowed(state, self._until, self._clock(), denied=denied)

    async def request(
        self,
        permissions: tuple[str, ...],
        policy: PermissionPolicy,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Ask the server to wait for the operator; read the decision if it answers with one.

        `started` is reported when the request is about to leave: what is sent then comes after it.
        """
        params = PermissionRequestParams(
            request_id=self._request_id,
            permissions=list(permissions),
            policy=policy,
            message="Waiting for operator approval",
        )
        sent = _Once(task_status.started)
        try:
            result = await self._server.session.call(
                MGP_PERMISSION_REQUEST, params, timeout=None, on_id=lambda _: sent()
            )
        except (RpcError, KinwireError) as error:
            self._report("did not answer the request for permissions", error)
        else:
            self._read(permissions, result)
        finally:
            sent()

    async def respond(self, states: Mapping[str, PermissionState], by: str | None) -> None:
        """Deliver what holds, unless the server has it already. An error of the server is logged.

        Raises:
            ConnectionClosedError: the connection has ended.
        """
        grants = grants_on_wire(self.required, states)
        ends = [one.expires_at for one in states.values() if one.expires_at is not None]
        expires_at = timestamp_of(min(ends)) if ends else None
        if not grants or self._delivered == (grants, expires_at):
            return
        self._delivered = grants, expires_at
        params = PermissionResponseParams(
            request_id=self._request_id, grants=grants, approved_by=by, expires_at=expires_at
        )
        try:
            await self._server.session.call(MGP_PERMISSION_RESPONSE, params, timeout=ANSWER)
        except (RpcError, InvalidResponseError, RequestTimeoutError) as error:
            self._report("did not take the decision about permissions", error)

    def _read(self, asked: tuple[str, ...], result: PermissionRequestResult) -> None:
        """Keep what the server itself has denied, and when it ends; it can grant nothing."""
        if result.grants is None or result.request_id not in (None, self._request_id):
            return
        grants = to_wire(result)["grants"]
        denied = [name for name in asked if read_grant(grant_of(grants, name)) == "denied"]
        self._denied.update(denied)
        self._until = end_of(result.expires_at)

    def _report(self, what: str, error: Exception) -> None:
        logger.warning("%s: it %s: %s", self._server.id, what, sanitize_for_log(error))


class _Once:
    """Calls a function the first time that it is called itself."""

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function
        self._called = False

    def __call__(self) -> None:
        if not self._called:
            self._called = True
            self._function()
