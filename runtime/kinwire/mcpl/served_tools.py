"""Tools of a server that belong to feature sets: marked when listed, refused while theirs is off.

A tool that is not named is for every host (MCPL 6.6, 7.7).
"""

from __future__ import annotations

__all__ = ("ServedTools",)

from collections.abc import Mapping

from kinwire.extension import Next
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.request import Request
from kinwire.session import Session
from kinwire_protocols import mcp
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp.methods import TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.mcpl.augments import TOOL_FEATURE_SET, TOOLS_CALL_PARAMS_SCOPE


class ServedTools:
    """The tools as one host sees them; `tools` has the set of each by name."""

    def __init__(
        self, session: Session, sets: FeatureSets, tools: Mapping[str, str], *, strict: bool
    ) -> None:
        self._sets = sets
        self._tools = tools
        self._strict = strict
        if tools:
            session.intercept_inbound(self._mark, TOOLS_LIST)
            session.intercept_inbound(self._admit, TOOLS_CALL)

    async def _mark(
        self,
        params: mcp.PaginatedRequestParams,
        request: Request,
        go_on: Next[mcp.PaginatedRequestParams, mcp.ListToolsResult],
    ) -> mcp.ListToolsResult:
        page = await go_on(params)
        marked = [
            TOOL_FEATURE_SET.write(tool, self._tools[tool.name])
            if tool.name in self._tools
            else tool
            for tool in page.tools
        ]
        return page.model_copy(update={"tools": marked})

    async def _admit(
        self,
        params: mcp.CallToolRequestParams,
        request: Request,
        go_on: Next[mcp.CallToolRequestParams, mcp.CallToolResult],
    ) -> mcp.CallToolResult:
        feature_set = self._tools.get(params.name)
        if feature_set is None:
            return await go_on(params)
        refusal = self._sets.refusal(feature_set)
        if refusal is not None:
            raise refusal
        scoped = self._strict and self._sets.declared[feature_set].scoped
        if scoped and TOOLS_CALL_PARAMS_SCOPE.read(params) is None:
            raise InvalidParamsError(
                f"tools/call#/scope: expected the scope in which {params.name} acts, got none. "
                "Send label and payload of a scope that the host approves.",
                data={"tool": params.name},
            )
        return await go_on(params)
