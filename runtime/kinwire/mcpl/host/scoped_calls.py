"""Tool calls that act in a scope: checked before they are sent (MCPL 7.7).

The scope comes from the host's own rule and the arguments, never from text of the server. Calls
that belong to a feature set are written to the audit log here, where their set is known.
"""

from __future__ import annotations

__all__ = ("ScopedCalls",)

from collections.abc import Awaitable, Callable
from typing import Any

from kinwire.mcp.extension import Next
from kinwire.mcpl.errors import ScopeDeniedError
from kinwire.mcpl.host.audit import Audit
from kinwire.mcpl.host.scopes import ScopeAnswer, ScopeOf, reason_of
from kinwire.mcpl.host.server_scopes import ServerScopes
from kinwire.mcpl.host.tool_sets import ToolSets
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.mcpl.rules.scopes import ScopeRequest
from kinwire.rpc.codec import is_object
from kinwire.rpc.session import Session
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import TOOLS_CALL
from kinwire_protocols.mcpl.augments import TOOLS_CALL_PARAMS_SCOPE
from kinwire_protocols.mcpl.models import Scope
from kinwire_protocols.peer import Method

Call = Method[mcp.CallToolRequestParams, mcp.CallToolResult]
NextCall = Next[mcp.CallToolRequestParams, mcp.CallToolResult]


class ScopedCalls:
    """Checks the tool calls to one server."""

    def __init__(
        self,
        session: Session,
        sets: FeatureSets,
        tools: ToolSets,
        scope_of: ScopeOf | None,
        scopes: ServerScopes,
        audit: Audit,
    ) -> None:
        self._server = session.peer_id
        self._sets = sets
        self._tools = tools
        self._scope_of = scope_of
        self._scopes = scopes
        self._audit = audit
        session.intercept_outbound(self._judge, TOOLS_CALL)

    async def _judge(
        self, params: mcp.CallToolRequestParams, method: Call, go_on: NextCall
    ) -> mcp.CallToolResult:
        try:
            found = self._found(params)
            marked = await self._tools.declared_of(params.name, self._sets)
        except Exception as error:
            return await self._audit.watch_call(self._server, None, params, _failing(error))
        if found is None and marked is None:  # a call of plain MCP
            return await go_on(params)

        async def judged(params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
            return await go_on(await self._permitted(params, marked, found))

        feature_set = marked if found is None else found[0]
        return await self._audit.watch_call(self._server, feature_set, params, judged)

    async def _permitted(
        self,
        params: mcp.CallToolRequestParams,
        marked: str | None,
        found: tuple[str, Scope] | None,
    ) -> mcp.CallToolRequestParams:
        """Return the params to send, with the scope that was found and approved."""
        if marked is not None:
            refusal = self._sets.refusal(marked)
            if refusal is not None:
                raise refusal
            if found is None and self._sets.declared[marked].scoped:
                await self._asked(params, marked)
        return params if found is None else await self._within(params, *found)

    def _found(self, params: mcp.CallToolRequestParams) -> tuple[str, Scope] | None:
        found = None
        if self._scope_of is not None:
            found = self._scope_of(params.name, params.arguments or {})
        if found is None:
            return None
        feature_set, label, payload = _checked(found)
        if feature_set not in self._sets.declared:
            return None  # the rule means a set of another server
        return feature_set, Scope(label=label, payload=payload)

    async def _within(
        self, params: mcp.CallToolRequestParams, feature_set: str, scope: Scope
    ) -> mcp.CallToolRequestParams:
        request = self._scopes.request(feature_set, scope.label, scope.payload, params.name)
        answer = _granted(await self._scopes.decide(request), request)
        approved = Scope(label=scope.label, payload=answer.payload)
        return TOOLS_CALL_PARAMS_SCOPE.write(params, approved)

    async def _asked(self, params: mcp.CallToolRequestParams, feature_set: str) -> None:
        """Ask about a call whose scope is unknown; its arguments are what is approved."""
        name, arguments = params.name, params.arguments or {}
        request = self._scopes.request(feature_set, name, arguments, name)
        _granted(await self._scopes.decide(request, labelled=False), request)


def _checked(found: Any) -> tuple[str, str, JsonObject | None]:
    """Return what the user's function has found.

    Raises:
        TypeError: it is not a set, a label and a payload.
    """
    match found:
        case (str(feature_set), str(label), payload) if payload is None or is_object(payload):
            return feature_set, label, payload
        case _:
            raise TypeError(
                "Scopes.scope_of: expected None or (feature set, label, payload), "
                f"got {found!r:.100}. "
                'Return ("notes.edit", "work/today", None).'
            )


def _failing(
    error: Exception,
) -> Callable[[mcp.CallToolRequestParams], Awaitable[mcp.CallToolResult]]:
    async def fail(params: mcp.CallToolRequestParams) -> mcp.CallToolResult:
        raise error

    return fail


def _granted(answer: ScopeAnswer, request: ScopeRequest) -> ScopeAnswer:
    if not answer.approved:
        raise ScopeDeniedError(request, reason_of(answer))
    return answer
