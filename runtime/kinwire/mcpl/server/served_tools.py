"""Tools of a server that belong to feature sets: marked when listed, refused while the set is off.

A tool without a set is available to every host (MCPL 6.6, 7.7).
"""

from __future__ import annotations

__all__ = ("ServedTools", "scope_in")

import logging
from collections.abc import Mapping

from pydantic import ValidationError

from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire_protocols import mcp
from kinwire_protocols.base import Message, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp.methods import TOOLS_CALL, TOOLS_LIST
from kinwire_protocols.mcpl.augments import TOOL_FEATURE_SET, TOOLS_CALL_PARAMS_SCOPE
from kinwire_protocols.mcpl.models import Scope
from kinwire_protocols.nearest import nearest
from kinwire_protocols.problems import problems

logger = logging.getLogger("kinwire.mcpl")


def scope_in(params: Message) -> Scope | None:
    """Return the scope in the params of a tool call, None if they have none.

    Raises:
        InvalidParamsError: they have something else there.
    """
    if not isinstance(params, mcp.CallToolRequestParams):
        return None
    try:
        return TOOLS_CALL_PARAMS_SCOPE.read(params)
    except ValidationError as error:
        sent = to_wire(params).get("scope")
        raise InvalidParamsError(f"tools/call#/scope{problems(error, sent)[0]}") from None


class ServedTools:
    """The tools as one host sees them; `tools` has the set of each by name."""

    def __init__(
        self, session: Session, sets: FeatureSets, tools: Mapping[str, str], *, strict: bool
    ) -> None:
        self._sets = sets
        self._tools = tools
        self._strict = strict
        self._warned: set[str] = set()
        if tools:
            session.filter_result(TOOLS_LIST, self._mark)
            session.guard(TOOLS_CALL, self._admit)

    def _mark(self, page: mcp.ListToolsResult, request: Request) -> mcp.ListToolsResult:
        params = request.params
        assert isinstance(params, mcp.PaginatedRequestParams)
        if params.cursor is None and page.next_cursor is None:
            self._warn_of_missing([tool.name for tool in page.tools])
        marked = [
            TOOL_FEATURE_SET.write(tool, self._tools[tool.name])
            if tool.name in self._tools
            else tool
            for tool in page.tools
        ]
        return page.model_copy(update={"tools": marked})

    def _warn_of_missing(self, listed: list[str]) -> None:
        """Warn of unknown names: a misspelt one leaves its tool without a gate."""
        for name in self._tools:
            if name in listed or name in self._warned:
                continue
            self._warned.add(name)
            near = nearest(name, listed)
            hint = f"Did you mean {near!r}?" if near else "A tool that is not named is always on."
            logger.warning("McplServer(tools=...): no tool is called %r. %s", name, hint)

    def _admit(self, params: mcp.CallToolRequestParams, request: Request) -> None:
        feature_set = self._tools.get(params.name)
        if feature_set is None:
            return
        refusal = self._sets.refusal(feature_set)
        if refusal is not None:
            raise refusal
        scoped = self._strict and self._sets.declared[feature_set].scoped
        if scoped and scope_in(params) is None:
            raise InvalidParamsError(
                f"tools/call#/scope: expected the scope in which {params.name} acts, got none. "
                "Send label and payload of a scope that the host approves.",
                data={"tool": params.name},
            )
