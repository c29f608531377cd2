"""The method table of MCP-lite. Generated from mcp-lite.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kinwire_protocols import lazy
from kinwire_protocols.jsonrpc import errors as jsonrpc_errors
from kinwire_protocols.mcplite import errors
from kinwire_protocols.peer import Method, ProtocolTable

if TYPE_CHECKING:
    from kinwire_protocols.mcplite.models import (
        CallToolParams,
        ListPromptsParams,
        ListPromptsResult,
        ListToolsParams,
        ListToolsResult,
        ToolResult,
    )

TOOLS_LIST: Final[Method[ListToolsParams, ListToolsResult]] = Method(
    name="tools/list",
    protocol="mcp-lite",
    attribute="tools_list",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcplite.models.ListToolsParams"),
    result=lazy.Lazy("kinwire_protocols.mcplite.models.ListToolsResult"),
    errors=(
        jsonrpc_errors.ParseError,
        jsonrpc_errors.InvalidRequestError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    section="3.1",
)
"""List the tools that the server offers."""

TOOLS_CALL: Final[Method[CallToolParams, ToolResult]] = Method(
    name="tools/call",
    protocol="mcp-lite",
    attribute="tools_call",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcplite.models.CallToolParams"),
    result=lazy.Lazy("kinwire_protocols.mcplite.models.ToolResult"),
    errors=(
        jsonrpc_errors.ParseError,
        jsonrpc_errors.InvalidRequestError,
        errors.ToolNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    section="3.2",
)
"""Run a tool and return what came of it: an answer, a promise, questions or a failure."""

PROMPTS_LIST: Final[Method[ListPromptsParams, ListPromptsResult]] = Method(
    name="prompts/list",
    protocol="mcp-lite",
    attribute="prompts_list",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcplite.models.ListPromptsParams"),
    result=lazy.Lazy("kinwire_protocols.mcplite.models.ListPromptsResult"),
    errors=(
        jsonrpc_errors.ParseError,
        jsonrpc_errors.InvalidRequestError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    section="8.1",
    status="considered",
)
"""List the prompts that the server offers."""

PROTOCOL: Final = ProtocolTable(
    name="mcp-lite",
    title="MCP-lite",
    version="0.042",
    capability=None,
    methods={
        "tools/list": TOOLS_LIST,
        "tools/call": TOOLS_CALL,
        "prompts/list": PROMPTS_LIST,
    },
    errors={
        "ToolNotFound": errors.ToolNotFoundError,
    },
    error_data=lazy.LazyTypes(
        {
            "ToolNotFound": "kinwire_protocols.mcplite.models.ToolNotFoundData",
        }
    ),
    tools_in="kinwire_protocols.mcplite.tools",
)
"""The protocol as a table."""
