"""Which tools a caller sees: the definitions in a list, and the error about an unknown tool."""

from __future__ import annotations

__all__ = ("VisibleTools",)

from collections.abc import Callable, Sequence

from kinwire.mcplite.server.source import LiteCaller, LiteSource
from kinwire.rpc.codec import EncodedObject
from kinwire.support.functions import is_async
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcplite.errors import ToolNotFoundError
from kinwire_protocols.mcplite.tools import REDEEM
from kinwire_protocols.nearest import nearest

_NAMED = 1000  # tools in the error about an unknown one


class VisibleTools:
    """The tools of a source that `may_call` allows a caller; without it, all of them."""

    def __init__(
        self, source: LiteSource, may_call: Callable[[object, str], object] | None
    ) -> None:
        """Use `may_call`, a plain function of the principal and the name of a tool.

        Raises:
            TypeError: `may_call` is async.
        """
        if may_call is not None and is_async(may_call):
            raise TypeError("LiteServer.may_call: expected a plain function, got an async one.")
        self.to_all = may_call is None
        """Whether every caller sees every tool."""
        self._source = source
        self._may_call = may_call
        self._listed: tuple[Sequence[JsonObject], bool, EncodedObject] | None = None

    async def list_tools(self, caller: LiteCaller) -> EncodedObject:
        """See `LiteCore.list_tools`."""
        tools = await self._source.list_tools(caller)
        may_promise = self._source.may_promise
        if not self.to_all:
            return EncodedObject({"tools": self._definitions(tools, caller)})
        known = self._listed
        if known is None or known[0] is not tools or known[1] is not may_promise:
            made = EncodedObject({"tools": self._definitions(tools, caller)})
            known = self._listed = (tools, may_promise, made)
        return known[2]

    def is_for(self, caller: LiteCaller, name: str) -> bool:
        """Return whether the caller may call the tool `name`.

        Raises:
            TypeError: `may_call` does not return a bool. A coroutine, for one, would allow all.
        """
        if self._may_call is None:
            return True
        allowed = self._may_call(caller.principal, name)
        if not isinstance(allowed, bool):
            got = type(allowed).__name__
            raise TypeError(f"LiteServer.may_call: expected it to return True or False, got {got}.")
        return allowed

    async def not_found(self, name: str, caller: LiteCaller) -> ToolNotFoundError:
        """Return the error for a tool that does not exist for the caller (section A.5)."""
        listed = (await self.list_tools(caller))["tools"]
        names: list[str] = [one["name"] for one in listed]
        data: JsonObject = {"requested_tool": name[:200], "available_tools": names[:_NAMED]}
        near = nearest(name, names)
        if near is not None:
            data["suggestion"] = f"Did you mean {near!r}?"
        return ToolNotFoundError(data=data)

    def _definitions(self, tools: Sequence[JsonObject], caller: LiteCaller) -> list[JsonObject]:
        shown = [
            _definition(one)
            for one in tools
            if one["name"] != REDEEM.name and self.is_for(caller, one["name"])
        ]
        return [REDEEM.definition, *shown] if self._source.may_promise else shown


def _definition(tool: JsonObject) -> JsonObject:
    """Return the definition with the fields that section 3.9 requires."""
    return tool if "description" in tool else {**tool, "description": ""}
