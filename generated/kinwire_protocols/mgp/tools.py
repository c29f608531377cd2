"""The tools that Model General Protocol defines. Generated from mgp.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from kinwire_protocols import lazy
from kinwire_protocols.mcp import methods as caller_methods
from kinwire_protocols.mgp import errors
from kinwire_protocols.tool_methods import ToolMethod

if TYPE_CHECKING:
    from kinwire_protocols.mcp.models import RequestParams
    from kinwire_protocols.mgp.models import (
        AccessEntry,
        AccessGrantParams,
        AccessQueryParams,
        AccessQueryResult,
        AccessRevokeParams,
        AccessRevokeResult,
        DiscoveredServer,
        DiscoveryDeregisterParams,
        DiscoveryDeregisterResult,
        DiscoveryListParams,
        DiscoveryListResult,
        DiscoveryRegisterParams,
        ToolsDiscoverParams,
        ToolsDiscoverResult,
        ToolsRequestParams,
        ToolsRequestResult,
        ToolsSessionEvictParams,
        ToolsSessionEvictResult,
        ToolsSessionResult,
    )

MGP_ACCESS_QUERY_TOOL: Final[ToolMethod[AccessQueryParams, AccessQueryResult]] = ToolMethod(
    name="mgp.access.query",
    protocol="mgp",
    attribute="mgp_access_query_tool",
    params=lazy.Lazy("kinwire_protocols.mgp.models.AccessQueryParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.AccessQueryResult"),
    caller=caller_methods.TOOLS_CALL,
    errors=(errors.PermissionDeniedError,),
    section="5.4 mgp/access/query",
    aliases=("mgp/access/query", "mgp_access_query"),
    definition={
        "name": "mgp.access.query",
        "description": "Ask whether an agent may use a tool, and why.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "agent_id": {"type": "string", "description": "The agent."},
                "server_id": {"type": "string", "description": "The server."},
                "tool_name": {"type": "string", "description": "The tool."},
            },
            "required": ["agent_id", "server_id", "tool_name"],
        },
    },
)
"""Ask whether an agent may use a tool, and why."""

MGP_ACCESS_GRANT_TOOL: Final[ToolMethod[AccessGrantParams, AccessEntry]] = ToolMethod(
    name="mgp.access.grant",
    protocol="mgp",
    attribute="mgp_access_grant_tool",
    params=lazy.Lazy("kinwire_protocols.mgp.models.AccessGrantParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.AccessEntry"),
    caller=caller_methods.TOOLS_CALL,
    errors=(errors.PermissionDeniedError,),
    section="5.4 mgp/access/grant",
    aliases=("mgp/access/grant", "mgp_access_grant"),
    definition={
        "name": "mgp.access.grant",
        "description": "Make an entry about an agent's access to a server or tool.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "entry_type": {
                    "$ref": "#/$defs/AccessEntryType",
                    "description": "Whether it is about a server or a tool.",
                },
                "agent_id": {"type": "string", "description": "The agent."},
                "server_id": {"type": "string", "description": "The server."},
                "tool_name": {
                    "type": ["string", "null"],
                    "description": "The tool; null for an entry about a server.",
                },
                "permission": {
                    "$ref": "#/$defs/AccessPermission",
                    "description": "What the entry says.",
                },
                "granted_by": {"type": "string", "description": "Who makes it."},
                "justification": {"type": "string", "description": "Why, for people and audits."},
                "expires_at": {
                    "type": ["string", "null"],
                    "description": "When it ends.",
                    "format": "date-time",
                },
            },
            "required": ["entry_type", "agent_id", "server_id", "permission"],
            "$defs": {
                "AccessEntryType": {
                    "description": "What an entry covers: all tools of a server, or a single one.",
                    "type": "string",
                    "enum": ["server_grant", "tool_grant"],
                },
                "AccessPermission": {
                    "description": "Whether an agent may use a tool.",
                    "type": "string",
                    "enum": ["allow", "deny"],
                },
            },
        },
    },
)
"""Make an entry about an agent's access to a server or tool."""

MGP_ACCESS_REVOKE_TOOL: Final[ToolMethod[AccessRevokeParams, AccessRevokeResult]] = ToolMethod(
    name="mgp.access.revoke",
    protocol="mgp",
    attribute="mgp_access_revoke_tool",
    params=lazy.Lazy("kinwire_protocols.mgp.models.AccessRevokeParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.AccessRevokeResult"),
    caller=caller_methods.TOOLS_CALL,
    errors=(errors.PermissionDeniedError,),
    section="5.4 mgp/access/revoke",
    aliases=("mgp/access/revoke", "mgp_access_revoke"),
    definition={
        "name": "mgp.access.revoke",
        "description": "Take an entry about an agent's access back.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "agent_id": {"type": "string", "description": "The agent."},
                "server_id": {"type": "string", "description": "The server."},
                "entry_type": {
                    "$ref": "#/$defs/AccessEntryType",
                    "description": "Whether the entry is about the server or a tool.",
                },
                "tool_name": {
                    "type": ["string", "null"],
                    "description": "The tool, where the entry is about one.",
                },
            },
            "required": ["agent_id", "server_id", "entry_type"],
            "$defs": {
                "AccessEntryType": {
                    "description": "What an entry covers: all tools of a server, or a single one.",
                    "type": "string",
                    "enum": ["server_grant", "tool_grant"],
                }
            },
        },
    },
)
"""Take an entry about an agent's access back."""

MGP_DISCOVERY_LIST_TOOL: Final[ToolMethod[DiscoveryListParams, DiscoveryListResult]] = ToolMethod(
    name="mgp.discovery.list",
    protocol="mgp",
    attribute="mgp_discovery_list_tool",
    params=lazy.Lazy("kinwire_protocols.mgp.models.DiscoveryListParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.DiscoveryListResult"),
    caller=caller_methods.TOOLS_CALL,
    section="15.2 Registry Endpoint Discovery",
    aliases=("mgp/discovery/list", "mgp_discovery_list"),
    definition={
        "name": "mgp.discovery.list",
        "description": "List the servers that a registry knows.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "filter": {
                    "$ref": "#/$defs/DiscoveryFilter",
                    "description": "Which; absent means all.",
                }
            },
            "$defs": {
                "DiscoveryFilter": {
                    "description": "Which servers are asked for; every field that is given must fit.",
                    "type": "object",
                    "properties": {
                        "extensions": {
                            "type": "array",
                            "items": {
                                "anyOf": [{"$ref": "#/$defs/ExtensionName"}, {"type": "string"}]
                            },
                            "description": "Extensions that they must all have.",
                        },
                        "permissions": {
                            "type": "array",
                            "items": {"$ref": "#/$defs/Permission"},
                            "description": "Permissions that they must all need.",
                        },
                        "status": {
                            "$ref": "#/$defs/ServerState",
                            "description": "The state that they must be in.",
                        },
                    },
                },
                "ExtensionName": {
                    "description": "The parts of MGP that two sides can agree on, each for itself.",
                    "type": "string",
                    "enum": [
                        "security",
                        "access_control",
                        "audit",
                        "code_safety",
                        "lifecycle",
                        "streaming",
                        "bidirectional",
                        "discovery",
                        "tool_discovery",
                    ],
                },
                "Permission": {
                    "description": "A permission by name: a standard one, or one of an implementation's own in reverse-domain notation.",
                    "anyOf": [{"$ref": "#/$defs/StandardPermission"}, {"type": "string"}],
                },
                "ServerState": {
                    "description": "Where a server stands in its life, as the kernel sees it.",
                    "type": "string",
                    "enum": [
                        "registered",
                        "connecting",
                        "connected",
                        "draining",
                        "disconnected",
                        "error",
                        "restarting",
                    ],
                },
                "StandardPermission": {
                    "description": "The permissions that every implementation knows; the table StandardPermissions has their risks.",
                    "type": "string",
                    "enum": [
                        "filesystem.read",
                        "filesystem.write",
                        "network.outbound",
                        "network.listen",
                        "shell.execute",
                        "code_execution",
                        "memory.read",
                        "memory.write",
                        "system.info",
                        "camera",
                        "notification",
                    ],
                },
            },
        },
    },
)
"""List the servers that a registry knows."""

MGP_DISCOVERY_REGISTER_TOOL: Final[ToolMethod[DiscoveryRegisterParams, DiscoveredServer]] = (
    ToolMethod(
        name="mgp.discovery.register",
        protocol="mgp",
        attribute="mgp_discovery_register_tool",
        params=lazy.Lazy("kinwire_protocols.mgp.models.DiscoveryRegisterParams"),
        result=lazy.Lazy("kinwire_protocols.mgp.models.DiscoveredServer"),
        caller=caller_methods.TOOLS_CALL,
        errors=(
            errors.PermissionDeniedError,
            errors.ValidationBlockedError,
            errors.CodeSafetyViolationError,
            errors.ResourceExhaustedError,
        ),
        section="15.4",
        aliases=("mgp/discovery/register", "mgp_discovery_register"),
        definition={
            "name": "mgp.discovery.register",
            "description": "Register a server that was made at run time.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "description": "What it is to be called."},
                    "command": {"type": "string", "description": "The program to start."},
                    "args": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "Its arguments.",
                    },
                    "transport": {"type": "string", "description": "How to reach the server."},
                    "url": {
                        "type": "string",
                        "description": "Its address, where it is not started as a program.",
                        "format": "uri",
                    },
                    "mgp": {
                        "$ref": "#/$defs/ServerProfile",
                        "description": "What it says about its MGP; absent means plain MCP.",
                    },
                    "created_by": {"type": "string", "description": "Who made it."},
                    "justification": {
                        "type": "string",
                        "description": "What it is for, for people and audits.",
                    },
                },
                "required": ["id"],
                "$defs": {
                    "ExtensionName": {
                        "description": "The parts of MGP that two sides can agree on, each for itself.",
                        "type": "string",
                        "enum": [
                            "security",
                            "access_control",
                            "audit",
                            "code_safety",
                            "lifecycle",
                            "streaming",
                            "bidirectional",
                            "discovery",
                            "tool_discovery",
                        ],
                    },
                    "Permission": {
                        "description": "A permission by name: a standard one, or one of an implementation's own in reverse-domain notation.",
                        "anyOf": [{"$ref": "#/$defs/StandardPermission"}, {"type": "string"}],
                    },
                    "ServerProfile": {
                        "description": "What a server that is not connected says about its MGP.",
                        "type": "object",
                        "properties": {
                            "extensions": {
                                "type": "array",
                                "items": {
                                    "anyOf": [{"$ref": "#/$defs/ExtensionName"}, {"type": "string"}]
                                },
                                "description": "The extensions that it supports.",
                            },
                            "permissions_required": {
                                "type": "array",
                                "items": {"$ref": "#/$defs/Permission"},
                                "description": "The permissions that it needs.",
                            },
                            "trust_level": {
                                "anyOf": [{"$ref": "#/$defs/TrustLevel"}, {"type": "string"}],
                                "description": "How far it is to be trusted.",
                            },
                        },
                    },
                    "StandardPermission": {
                        "description": "The permissions that every implementation knows; the table StandardPermissions has their risks.",
                        "type": "string",
                        "enum": [
                            "filesystem.read",
                            "filesystem.write",
                            "network.outbound",
                            "network.listen",
                            "shell.execute",
                            "code_execution",
                            "memory.read",
                            "memory.write",
                            "system.info",
                            "camera",
                            "notification",
                        ],
                    },
                    "TrustLevel": {
                        "description": "How far a server is trusted; a `sandboxed` one is validated more strictly than the other two.",
                        "type": "string",
                        "enum": ["trusted", "standard", "sandboxed"],
                    },
                },
            },
        },
    )
)
"""Register a server that was made at run time."""

MGP_DISCOVERY_DEREGISTER_TOOL: Final[
    ToolMethod[DiscoveryDeregisterParams, DiscoveryDeregisterResult]
] = ToolMethod(
    name="mgp.discovery.deregister",
    protocol="mgp",
    attribute="mgp_discovery_deregister_tool",
    params=lazy.Lazy("kinwire_protocols.mgp.models.DiscoveryDeregisterParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.DiscoveryDeregisterResult"),
    caller=caller_methods.TOOLS_CALL,
    errors=(errors.PermissionDeniedError,),
    section="15.5",
    aliases=("mgp/discovery/deregister", "mgp_discovery_deregister"),
    definition={
        "name": "mgp.discovery.deregister",
        "description": "Take a server out of the registry.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "The server."},
                "reason": {"type": "string", "description": "Why, for logs and people."},
            },
            "required": ["id"],
        },
    },
)
"""Take a server out of the registry."""

MGP_TOOLS_DISCOVER_TOOL: Final[ToolMethod[ToolsDiscoverParams, ToolsDiscoverResult]] = ToolMethod(
    name="mgp.tools.discover",
    protocol="mgp",
    attribute="mgp_tools_discover_tool",
    params=lazy.Lazy("kinwire_protocols.mgp.models.ToolsDiscoverParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.ToolsDiscoverResult"),
    caller=caller_methods.TOOLS_CALL,
    errors=(errors.RateLimitedError,),
    section="16.5 Flow Diagram",
    aliases=("mgp/tools/discover", "mgp_tools_discover"),
    definition={
        "name": "mgp.tools.discover",
        "description": "Search the tools of all servers for one that fits. The meta-tool that a model has in its context in place of all tools.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "What it has to do, in natural language.",
                },
                "strategy": {"$ref": "#/$defs/SearchStrategy", "description": "How to search."},
                "max_results": {
                    "type": "integer",
                    "description": "The most tools that are wanted.",
                    "minimum": 1,
                },
                "filter": {
                    "$ref": "#/$defs/ToolSearchFilter",
                    "description": "Which tools are looked at; absent means all.",
                },
            },
            "required": ["query"],
            "$defs": {
                "RiskLevel": {
                    "description": "How much harm a tool or a permission can do, least first.",
                    "type": "string",
                    "enum": ["safe", "moderate", "dangerous"],
                },
                "SearchStrategy": {
                    "description": "How tools are searched: by words, by meaning, or by category.",
                    "type": "string",
                    "enum": ["keyword", "semantic", "category"],
                },
                "ServerState": {
                    "description": "Where a server stands in its life, as the kernel sees it.",
                    "type": "string",
                    "enum": [
                        "registered",
                        "connecting",
                        "connected",
                        "draining",
                        "disconnected",
                        "error",
                        "restarting",
                    ],
                },
                "ToolSearchFilter": {
                    "description": "Which tools are wanted; every field that is given must fit, before results are counted.",
                    "type": "object",
                    "properties": {
                        "categories": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "Categories that the tool must be in, one of them at least.",
                        },
                        "risk_level_max": {
                            "$ref": "#/$defs/RiskLevel",
                            "description": "The greatest risk that is wanted.",
                        },
                        "status": {
                            "$ref": "#/$defs/ServerState",
                            "description": "The state that the tool's server must be in.",
                        },
                    },
                },
            },
        },
    },
)
"""Search the tools of all servers for one that fits."""

MGP_TOOLS_REQUEST_TOOL: Final[ToolMethod[ToolsRequestParams, ToolsRequestResult]] = ToolMethod(
    name="mgp.tools.request",
    protocol="mgp",
    attribute="mgp_tools_request_tool",
    params=lazy.Lazy("kinwire_protocols.mgp.models.ToolsRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.ToolsRequestResult"),
    caller=caller_methods.TOOLS_CALL,
    errors=(
        errors.PermissionDeniedError,
        errors.RateLimitedError,
        errors.QuotaExceededError,
    ),
    section="16.6 Flow Diagram",
    aliases=("mgp/tools/request", "mgp_tools_request"),
    definition={
        "name": "mgp.tools.request",
        "description": "Ask for tools that a task turns out to need.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "reason": {"type": "string", "description": "Why it asks."},
                "context": {
                    "type": "string",
                    "description": "What it is doing, in natural language.",
                },
                "requirements": {
                    "$ref": "#/$defs/ToolRequirements",
                    "description": "What the tools have to be able to do.",
                },
                "task_trace_id": {
                    "$ref": "#/$defs/TraceId",
                    "description": "The task that it is for.",
                },
            },
            "required": ["requirements"],
            "$defs": {
                "RiskLevel": {
                    "description": "How much harm a tool or a permission can do, least first.",
                    "type": "string",
                    "enum": ["safe", "moderate", "dangerous"],
                },
                "ToolRequirements": {
                    "description": "What a tool has to be able to do.",
                    "type": "object",
                    "properties": {
                        "capabilities": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "What it has to do.",
                        },
                        "input_types": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "What it has to take.",
                        },
                        "output_types": {
                            "type": "array",
                            "items": {"type": "string"},
                            "description": "What it has to give.",
                        },
                        "preferred_risk_level": {
                            "anyOf": [{"$ref": "#/$defs/RiskLevel"}, {"type": "string"}],
                            "description": "The risk that is preferred; a riskier tool may come too.",
                        },
                    },
                },
                "TraceId": {
                    "description": "Ties together all that one cause sets going, on every server that takes part; as a rule a UUID.",
                    "type": "string",
                },
            },
        },
    },
)
"""Ask for tools that a task turns out to need."""

MGP_TOOLS_SESSION_TOOL: Final[ToolMethod[RequestParams, ToolsSessionResult]] = ToolMethod(
    name="mgp.tools.session",
    protocol="mgp",
    attribute="mgp_tools_session_tool",
    params=lazy.Lazy("kinwire_protocols.mcp.models.RequestParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.ToolsSessionResult"),
    caller=caller_methods.TOOLS_CALL,
    section="16.7 mgp/tools/session",
    aliases=("mgp/tools/session", "mgp_tools_session"),
    definition={
        "name": "mgp.tools.session",
        "description": "List the tools that the session has.",
        "inputSchema": {"type": "object", "properties": {}},
    },
)
"""List the tools that the session has."""

MGP_TOOLS_SESSION_EVICT_TOOL: Final[
    ToolMethod[ToolsSessionEvictParams, ToolsSessionEvictResult]
] = ToolMethod(
    name="mgp.tools.session.evict",
    protocol="mgp",
    attribute="mgp_tools_session_evict_tool",
    params=lazy.Lazy("kinwire_protocols.mgp.models.ToolsSessionEvictParams"),
    result=lazy.Lazy("kinwire_protocols.mgp.models.ToolsSessionEvictResult"),
    caller=caller_methods.TOOLS_CALL,
    section="16.7 mgp/tools/session/evict",
    aliases=("mgp/tools/session/evict", "mgp_tools_session_evict"),
    definition={
        "name": "mgp.tools.session.evict",
        "description": "Take tools out of the session's cache.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "tools": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Their names.",
                },
                "reason": {"type": "string", "description": "Why, for logs and people."},
            },
            "required": ["tools"],
        },
    },
)
"""Take tools out of the session's cache."""

TOOLS: Final[Mapping[str, ToolMethod[Any, Any]]] = {
    "mgp.access.query": MGP_ACCESS_QUERY_TOOL,
    "mgp.access.grant": MGP_ACCESS_GRANT_TOOL,
    "mgp.access.revoke": MGP_ACCESS_REVOKE_TOOL,
    "mgp.discovery.list": MGP_DISCOVERY_LIST_TOOL,
    "mgp.discovery.register": MGP_DISCOVERY_REGISTER_TOOL,
    "mgp.discovery.deregister": MGP_DISCOVERY_DEREGISTER_TOOL,
    "mgp.tools.discover": MGP_TOOLS_DISCOVER_TOOL,
    "mgp.tools.request": MGP_TOOLS_REQUEST_TOOL,
    "mgp.tools.session": MGP_TOOLS_SESSION_TOOL,
    "mgp.tools.session.evict": MGP_TOOLS_SESSION_EVICT_TOOL,
}
"""The tools by wire name."""
