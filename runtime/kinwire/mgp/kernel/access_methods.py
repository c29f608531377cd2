"""`mgp/access/*` as methods of connected servers and as tools of agents (MGP 5.4).

Who asks is what the kernel knows, and never a name in the message. Only an operator may change
entries, and everybody else sees only what is about themselves; a refusal is audited.
"""

from __future__ import annotations

__all__ = ("AccessMethods", "AccessTools")

from collections.abc import Callable

from pydantic import MISSING

from kinwire.mcp.context import Context
from kinwire.mcp.handlers import ExtensionHandlers
from kinwire.mcp.server import Server
from kinwire.mgp.errors import refusal
from kinwire.mgp.kernel.access import AccessManager
from kinwire.mgp.kernel.access_options import (
    NAME,
    REASON,
    Access,
    AccessPrincipal,
    acts_as_operator,
)
from kinwire.mgp.kernel.limited_events import LimitedEvents, RecordEvent
from kinwire.mgp.kernel.tracing import new_trace_id
from kinwire.mgp.rules.access import AccessGrant, AccessSubject
from kinwire.mgp.rules.audit_events import SecurityEvent
from kinwire.storage.clock import Clock
from kinwire.support.timestamps import seconds_of
from kinwire_protocols import mcp, mgp
from kinwire_protocols.base import from_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mgp.errors import PermissionDeniedError
from kinwire_protocols.mgp.methods import MGP_ACCESS_GRANT, MGP_ACCESS_QUERY, MGP_ACCESS_REVOKE
from kinwire_protocols.mgp.models import (
    AccessEntry,
    AccessGrantParams,
    AccessQueryParams,
    AccessQueryResult,
    AccessRevokeParams,
    AccessRevokeResult,
)

_Params = AccessQueryParams | AccessGrantParams | AccessRevokeParams


class AccessMethods:
    """The three methods, for callers that the kernel names."""

    def __init__(
        self, manager: AccessManager, options: Access, clock: Clock, record: RecordEvent
    ) -> None:
        self._manager = manager
        self._options = options
        self._clock = clock
        self._refused = LimitedEvents(record, clock)

    def serve(
        self, handlers: ExtensionHandlers, caller_of: Callable[[Context], AccessPrincipal]
    ) -> None:
        """Register the methods. `caller_of` returns which server has sent a message."""

        async def query(params: AccessQueryParams, context: Context) -> AccessQueryResult:
            return await self.query(params, caller_of(context))

        async def grant(params: AccessGrantParams, context: Context) -> AccessEntry:
            return await self.grant(params, caller_of(context))

        async def revoke(params: AccessRevokeParams, context: Context) -> AccessRevokeResult:
            return await self.revoke(params, caller_of(context))

        handlers.add_default(MGP_ACCESS_QUERY, query)
        handlers.add_default(MGP_ACCESS_GRANT, grant)
        handlers.add_default(MGP_ACCESS_REVOKE, revoke)

    def add_tools(self, server: Server, agent_of: Callable[[Context], str]) -> None:
        """Add the tools to a server. `agent_of` returns which agent is its client."""

        async def call(params: mcp.CallToolRequestParams, context: Context) -> mcp.CallToolResult:
            tools = AccessTools(self, AccessPrincipal("agent", agent_of(context)))
            return from_wire(mcp.CallToolResult, await tools.call(params.name, params.arguments))

        for row in AccessTools(self, AccessPrincipal("agent", "")).served():
            server.add_tool(from_wire(mcp.Tool, row.definition), call, aliases=row.aliases)

    async def query(self, params: AccessQueryParams, caller: AccessPrincipal) -> AccessQueryResult:
        """Return whether an agent may use a tool.

        An agent may ask about itself and a server about its own tools; an operator about all.

        Raises:
            PermissionDeniedError: the caller asks about others.
            InvalidParamsError: a name is empty, too long or not printable.
            StorageError: the entries cannot be read.
        """
        own = {"agent": params.agent_id, "server": params.server_id}.get(caller.kind)
        if own != caller.id and not self._is_operator(caller):
            await self._refuse("mgp/access/query", params, caller, "entries of others")
        _must_be_names(params)
        return await self._manager.query(params.agent_id, params.server_id, params.tool_name)

    async def grant(self, params: AccessGrantParams, caller: AccessPrincipal) -> AccessEntry:
        """Make an entry for an operator; `granted_by` in the message is not used.

        Raises:
            PermissionDeniedError: the caller is not an operator.
            InvalidParamsError: the entry cannot be made.
            StorageError: the entry cannot be written.
        """
        if not self._is_operator(caller):
            await self._refuse("mgp/access/grant", params, caller, "a change of access")
        return await self._manager.put(self._grant_in(params, caller), caller)

    async def revoke(
        self, params: AccessRevokeParams, caller: AccessPrincipal
    ) -> AccessRevokeResult:
        """Remove an entry for an operator.

        Raises:
            PermissionDeniedError: the caller is not an operator.
            InvalidParamsError: there cannot be such an entry.
            StorageError: the entry cannot be removed.
        """
        if not self._is_operator(caller):
            await self._refuse("mgp/access/revoke", params, caller, "a change of access")
        return await self._manager.remove(_subject_in(params), caller)

    def _grant_in(self, params: AccessGrantParams, caller: AccessPrincipal) -> AccessGrant:
        now, ends = self._clock(), _expiry_in(params)
        if ends is not None and ends <= now:
            raise InvalidParamsError("/expires_at: expected a time to come, got one that is over")
        by = caller.id if caller.kind == "operator" else f"{caller.kind}:{caller.id}"
        why = params.justification
        return AccessGrant(_subject_in(params), params.permission, by, now, ends, why)

    def _is_operator(self, caller: AccessPrincipal) -> bool:
        return acts_as_operator(caller, self._options.is_operator)

    async def _refuse(
        self, method: str, params: _Params, caller: AccessPrincipal, what: str
    ) -> None:
        """Write an audit event and raise.

        Raises:
            PermissionDeniedError: always.
        """
        tool = None if params.tool_name is MISSING else params.tool_name
        details = {"reason": "operator", "method": method, "agent_id": params.agent_id}
        actor = caller.kind, caller.id
        event = SecurityEvent(
            *("PERMISSION_DENIED", *actor, params.server_id, tool, "BLOCKED"),
            details=details,
            trace_id=new_trace_id(),
        )
        await self._refused.write(event, caller)
        raise refusal(
            PermissionDeniedError,
            f"{method}: {what} needs an operator, and the {caller.kind} {caller.id!r} is not one. "
            "An operator can use `kinwire access`.",
            details={"reason": "operator"},
        )


class AccessTools(mgp.ServerTools):
    """The same as tools, for one caller."""

    def __init__(self, methods: AccessMethods, caller: AccessPrincipal) -> None:
        self._methods = methods
        self._caller = caller

    async def mgp_access_query_tool(self, params: AccessQueryParams) -> AccessQueryResult:
        """See `AccessMethods.query`."""
        return await self._methods.query(params, self._caller)

    async def mgp_access_grant_tool(self, params: AccessGrantParams) -> AccessEntry:
        """See `AccessMethods.grant`."""
        return await self._methods.grant(params, self._caller)

    async def mgp_access_revoke_tool(self, params: AccessRevokeParams) -> AccessRevokeResult:
        """See `AccessMethods.revoke`."""
        return await self._methods.revoke(params, self._caller)


def _subject_in(params: AccessGrantParams | AccessRevokeParams) -> AccessSubject:
    """Return what an entry is about.

    Raises:
        InvalidParamsError: the tool does not fit the type of the entry, or a name cannot be one.
    """
    tool = None if params.tool_name is MISSING else params.tool_name
    if (params.entry_type == "tool_grant") is (tool is None):
        expected = "the name of a tool" if tool is None else "null for an entry about a server"
        raise InvalidParamsError(f"/tool_name: expected {expected}")
    _must_be_names(params)
    why = params.justification if isinstance(params, AccessGrantParams) else None
    if not (why is None or REASON.fits(why)):
        raise InvalidParamsError(f"/justification: expected {REASON.words}")
    return AccessSubject(params.agent_id, params.server_id, tool)


def _expiry_in(params: AccessGrantParams) -> float | None:
    ends = None if params.expires_at is MISSING else params.expires_at
    try:
        return None if ends is None else seconds_of(ends)
    except ValueError as error:
        raise InvalidParamsError(f"/expires_at: {error}") from None


def _must_be_names(params: _Params) -> None:
    """Raise if a name is not one of an agent, a server or a tool.

    Raises:
        InvalidParamsError: it is empty, too long or not printable.
    """
    for field in ("agent_id", "server_id", "tool_name"):
        value = getattr(params, field)
        if value not in (None, MISSING) and not NAME.fits(value):
            raise InvalidParamsError(f"/{field}: expected {NAME.words}")
