"""The feature set of each tool, from the server's list of tools (MCPL 8.2).

The list is fetched when it is first needed, and again after the server has notified a change.
"""

from __future__ import annotations

__all__ = ("ToolSets",)

import anyio

from kinwire.mcp import lists
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.rpc.codec import is_object
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire_protocols import mcp
from kinwire_protocols.mcp.methods import NOTIFICATIONS_TOOLS_LIST_CHANGED, TOOLS_LIST
from kinwire_protocols.mcpl.augments import TOOL_FEATURE_SET

_MOST_FETCHED = 5  # times for one call, if the list changes while it is fetched


class ToolSets:
    """The feature sets of one server's tools."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sets: dict[str, str] | None = None
        self._changes = 0
        self._turn = anyio.Lock()
        session.guard(NOTIFICATIONS_TOOLS_LIST_CHANGED, self._forget)

    async def declared_of(self, tool: str, sets: FeatureSets) -> str | None:
        """Return the set that a tool is marked with, if the server declares that set.

        Raises:
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: the tools
                could not be listed.
        """
        # If no set is for tools, no tool can be marked, and the list is not fetched.
        if not any("tools" in one.uses or one.scoped for one in sets.declared.values()):
            return None
        marked = await self._of(tool)
        return marked if marked in sets.declared else None

    async def _of(self, tool: str) -> str | None:
        async with self._turn:  # parallel calls fetch the list once
            found = self._sets
            for _attempt in range(_MOST_FETCHED if found is None else 0):
                before = self._changes
                found = await self._fetched()
                await anyio.lowlevel.checkpoint()  # handle what came before the list
                if before == self._changes:  # else the list may be from before the change
                    self._sets = found
                    break
            assert found is not None
            return found.get(tool)

    async def _fetched(self) -> dict[str, str]:
        if self._session.denial_reason(TOOLS_LIST) is not None:
            return {}
        found: dict[str, str] = {}
        with lists.for_checks():
            async for tool in lists.tools(mcp.ServerStub(self._session)):
                name = _marked(tool)
                if name is not None:
                    found[tool.name] = name
        return found

    def _forget(self, params: mcp.NotificationParams, request: Request) -> None:
        self._sets = None
        self._changes += 1


def _marked(tool: mcp.Tool) -> str | None:
    """Return the set of a tool; some servers write it into `_meta`."""
    own = TOOL_FEATURE_SET.read(tool)
    if own is not None:
        return own
    assert tool.model_extra is not None  # its model keeps unknown fields
    meta: object = tool.model_extra.get("_meta")
    name = meta.get("featureSet") if is_object(meta) else None
    return name if isinstance(name, str) else None
