"""A kernel, as a server sees it: what it has granted, and its audit trail (MGP 3.6, 6)."""

from __future__ import annotations

__all__ = ("KernelPeer",)

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from kinwire.mcp.context import Context
from kinwire.mgp.rules.trace import trace_id_in
from kinwire.mgp.server.granted_permissions import GrantedPermissions, OnDenied
from kinwire.rpc.session import Session
from kinwire.support.arguments import (
    OBJECT,
    TEXT,
    TIME,
    ArgumentCheck,
    ValueKind,
    instance_of,
    one_of,
)
from kinwire.support.timestamps import timestamp_of
from kinwire.support.validation import is_number
from kinwire_protocols.base import JsonObject, from_wire
from kinwire_protocols.mgp.methods import NOTIFICATIONS_MGP_AUDIT
from kinwire_protocols.mgp.models import (
    AuditActor,
    AuditDetails,
    AuditNotificationParams,
    AuditOutcome,
    AuditTarget,
    GrantValue,
    ServerOffer,
)

_REPORT = ArgumentCheck(
    "KernelPeer.report",
    'await peer.report("com.example.indexed")',
    {"event_type": TEXT},
    context=instance_of(Context, "the Context of a request", "context").or_none,
    tool=TEXT.or_none,
    result=one_of("SUCCESS", "FAILURE", "BLOCKED"),
    details=OBJECT.or_none,
)
_SHARE = ValueKind(
    "a number from 0 to 1",
    "0.5",
    lambda value: is_number(value) and 0 <= value <= 1,
    error=ValueError,
)
_PROGRESS = ArgumentCheck(
    "KernelPeer.progress",
    "await peer.progress(context, 0.5)",
    {"context": instance_of(Context, "the Context of a request", "context"), "progress": _SHARE},
    message=TEXT.or_none,
    remaining_ms=TIME.or_none,
)
_MUST_HAVE = ArgumentCheck(
    "KernelPeer.must_have", 'peer.must_have("shell.execute")', {"permission": TEXT}
)


class KernelPeer:
    """One connection of a server to a kernel. Get it from `MgpServer.of(context)`."""

    def __init__(
        self,
        session: Session,
        offer: ServerOffer,
        extensions: frozenset[str],
        server_id: str | None,
        *,
        required: Sequence[str] = (),
        on_denied: OnDenied | None = None,
    ) -> None:
        self.session = session
        self.version: Final = offer.version
        """The version of MGP that the kernel speaks."""
        self.extensions: Final = extensions
        """The extensions that both sides have."""
        self._server_id = server_id
        self._granted = GrantedPermissions(session, required, partial(_degrade, on_denied, self))

    @property
    def grants(self) -> Mapping[str, GrantValue]:
        """What the kernel has decided, by permission; what has expired is `deferred`."""
        return self._granted.grants

    async def permissions(self) -> Mapping[str, GrantValue]:
        """Wait until the kernel has decided about all that the server requires; return `grants`.

        Do not await it in a function that the kernel waits for before it decides. Without the
        extension `security` it returns immediately: nothing will be decided.

        Source: MGP 0.2.0 section 3.6.
        """
        return await self._granted.decided() if "security" in self.extensions else self.grants

    def refused(self, permission: str) -> bool:
        """Return whether the kernel has not approved a permission, or a part of its family.

        One that the kernel has not spoken of is not refused: the kernel checks calls itself.
        """
        return self._granted.refused(permission)

    def must_have(self, permission: str) -> None:
        """Refuse the request that is served, unless the kernel has approved a permission.

        Raises:
            PermissionDeniedError: it is denied, deferred or expired, or was never asked for.

        Source: MGP 0.2.0 sections 3.6 and 14.3.
        """
        _MUST_HAVE.check(permission=permission)
        self._granted.must_have(permission)

    async def report(
        self,
        event_type: str,
        *,
        context: Context | None = None,
        tool: str | None = None,
        result: AuditOutcome = "SUCCESS",
        details: JsonObject | None = None,
    ) -> bool:
        """Send an audit event of the server; return False if `audit` was not negotiated.

        `event_type` is a standard type, or one like `com.example.indexed`. With the `context` of
        the request that is being served, the event has the trace id of that request. The kernel
        marks the event as the server's; it never counts as an event of the kernel.

        Raises:
            ConnectionClosedError: the connection has ended.

        Source: MGP 0.2.0 sections 6.3 to 6.5.
        """
        _REPORT.check(
            event_type=event_type, context=context, tool=tool, result=result, details=details
        )
        name = self._server_id or "server"
        trace = None if context is None else trace_id_in(context.message)
        event = AuditNotificationParams(
            timestamp=timestamp_of(time.time()),
            trace_id=trace,
            event_type=event_type,
            actor=AuditActor(type="server", id=name),
            target=AuditTarget(server_id=name, tool_name=tool),
            result=result,
            details=None if details is None else from_wire(AuditDetails, details),
        )
        return await self.session.notify_if_negotiated(NOTIFICATIONS_MGP_AUDIT, event)

    async def progress(
        self,
        context: Context,
        progress: float,
        *,
        message: str | None = None,
        remaining_ms: float | None = None,
    ) -> None:
        """Report how far the request is that is being served: a share, from 0 to 1.

        `remaining_ms` is how many milliseconds it will probably take yet. The report goes by the id
        of the request, and by its progress token if the kernel gave one. Values must rise: one that
        does not is not sent. `Context.progress` does the same with a total.

        Source: MGP 0.2.0 section 12.6.
        """
        _PROGRESS.check(
            context=context, progress=progress, message=message, remaining_ms=remaining_ms
        )
        identifier = context.request_id
        request = None if identifier is None else self.session.under_way(identifier)
        if request is not None:
            await self.session.report_progress(
                request, progress, 1.0, message, remaining_ms=remaining_ms
            )


def _degrade(on_denied: OnDenied | None, peer: KernelPeer, permission: str) -> object:
    return None if on_denied is None else on_denied(permission, peer)
