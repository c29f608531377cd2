"""Tools of a server that belong to feature sets: marked when listed, refused while theirs is off.

A tool that is not named is for every host (MCPL 6.6, 7.7).
"""

from __future__ import annotations

__all__ = ("ServedTools",)

import logging
from collections.abc import Mapping

from kinwire.mcp.extension import Next
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire_protocols import mcp
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp.methods import TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.mcpl.augments import TOOL_FEATURE_SET, TOOLS_CALL_PARAMS_SCOPE
from kinwire_protocols.nearest import nearest

logger = logging.getLogger("kinwire.mcpl")


class ServedTools:
    """The tools as one host sees them; `tools` has the set of each by name."""

    def __init__(
        self, session: Session, sets: FeatureSets, tools: Mapping[str, str], *, strict: bool
    ) -> None:
        self._sets = sets
        self._tools = tools
        self._strict = strict
        self._told: set[str] = set()
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
        if params.cursor is None and page.next_cursor is None:
            self._tell_missing([tool.name for tool in page.tools])
        marked = [
            TOOL_FEATURE_SET.write(tool, self._tools[tool.name])
            if tool.name in self._tools
            else tool
            for tool in page.tools
        ]
        return page.model_copy(update={"tools": marked})

    def _tell_missing(self, listed: list[str]) -> None:
        """Tell of names that no tool has: most likely one is misspelt, and its tool not gated."""
        for name in self._tools:
            if name in listed or name in self._told:
                continue
            self._told.add(name)
            near = nearest(name, listed)
            hint = f"Did you mean {near!r}?" if near else "A tool that is not named is always on."
            logger.warning("McplServer(tools=...): no tool is called %r. %s", name, hint)

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
