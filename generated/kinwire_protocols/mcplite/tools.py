"""The tools that MCP-lite defines. Generated from mcp-lite.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from kinwire_protocols import lazy
from kinwire_protocols.jsonrpc import errors as jsonrpc_errors
from kinwire_protocols.mcplite import methods as caller_methods
from kinwire_protocols.tool_methods import ToolMethod

if TYPE_CHECKING:
    from kinwire_protocols.mcplite.models import RedeemParams, ToolResult

REDEEM: Final[ToolMethod[RedeemParams, ToolResult]] = ToolMethod(
    name="redeem",
    protocol="mcp-lite",
    attribute="redeem",
    params=lazy.Lazy("kinwire_protocols.mcplite.models.RedeemParams"),
    result=lazy.Lazy("kinwire_protocols.mcplite.models.ToolResult"),
    caller=caller_methods.TOOLS_CALL,
    whole=True,
    errors=(jsonrpc_errors.InvalidParamsError,),
    section="3.6",
    definition={
        "name": "redeem",
        "description": "Redeem a promise token to get the result of a long-running operation. Gives the final result, or another promise while it is not there yet.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "promise": {
                    "type": "string",
                    "description": "The promise token received from a previous operation.",
                },
                "action": {
                    "$ref": "#/$defs/RedeemAction",
                    "description": "What to do with it; absent means `checkin`.",
                },
            },
            "required": ["promise"],
            "$defs": {
                "RedeemAction": {
                    "description": "What to do with a promise: ask whether it is done (`checkin`), or give it up (`cancel`).",
                    "type": "string",
                    "enum": ["checkin", "cancel"],
                }
            },
        },
        "@type": "system",
    },
)
"""Redeem a promise token to get the result of a long-running operation."""

TOOLS: Final[Mapping[str, ToolMethod[Any, Any]]] = {
    "redeem": REDEEM,
}
"""The tools by wire name."""
