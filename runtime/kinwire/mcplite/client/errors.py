"""Errors of a server, typed: the same by HTTP and gRPC (sections 4.4, 5.5 and A.5)."""

from __future__ import annotations

__all__ = ("UnknownToolError", "error_from")

from typing import Any

from pydantic import ValidationError

from kinwire.rpc.codec import is_object
from kinwire.rpc.error_table import ErrorTable, error_from_json
from kinwire_protocols.base import RpcError, from_wire
from kinwire_protocols.jsonrpc.errors import MethodNotFoundError
from kinwire_protocols.mcplite.errors import ToolNotFoundError
from kinwire_protocols.mcplite.methods import TOOLS_CALL
from kinwire_protocols.mcplite.models import ToolNotFoundData

_KNOWN = ErrorTable(())


class UnknownToolError(ToolNotFoundError):
    """The server has no tool of that name, or not for this caller (MCP-lite 0.042 section A.5).

    Of what it says about that, fields that it leaves out or that have another type are None.
    """

    def __str__(self) -> str:
        """Return what the server says, the name that was asked for, and what may be meant."""
        asked = self.requested_tool
        said = self.message
        if asked is not None and asked not in said:
            said = f"{said}: {asked!r:.200}"
        if self.suggestion is not None:
            said = f"{said.rstrip('.')}. {self.suggestion:.200}"
        return f"{said} (ToolNotFound {self.code})"

    @property
    def requested_tool(self) -> str | None:
        """The name that was asked for."""
        return self._said.requested_tool

    @property
    def available_tools(self) -> list[str] | None:
        """The names of the tools that this caller may call."""
        return self._said.available_tools

    @property
    def suggestion(self) -> str | None:
        """What may have been meant, a sentence for people."""
        return self._said.suggestion

    @property
    def _said(self) -> ToolNotFoundData:
        try:
            return from_wire(ToolNotFoundData, self.data)
        except ValidationError:
            return ToolNotFoundData()


def error_from(code: int, message: str, data: Any = None) -> RpcError:
    """Return the error that a server answered a call with, by the code that it has in JSON-RPC.

    Code -32601 means an unknown tool if its data names one, else an unknown method.
    """
    if code != ToolNotFoundError.default_code:
        body = {"code": code, "message": message, "data": data}
        return error_from_json(body, TOOLS_CALL, _KNOWN)
    kind = UnknownToolError if _is_about_tool(data) else MethodNotFoundError
    return kind(message, data=data, code=code)


def _is_about_tool(data: object) -> bool:
    return is_object(data) and ("requested_tool" in data or data.get("name") == "ToolNotFound")
