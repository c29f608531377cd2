"""Which arguments a kernel takes."""

from __future__ import annotations

__all__ = (
    "ACTING_AS_OPERATOR",
    "ACTING_FOR",
    "ADD_ACCESS_TOOLS",
    "ADD_DISCOVERY_TOOLS",
    "ADD_TOOL_SEARCH_TOOLS",
    "EVENTS",
    "MGP_KERNEL",
    "OF",
    "REPLACE_POLICY",
    "RESET_QUOTA",
    "STREAM",
    "TOOL_SESSION",
)

from kinwire.mcp.connection import Connection
from kinwire.mcp.log_messages import LEVELS as SEVERITIES
from kinwire.mcp.server import Server
from kinwire.mgp.kernel.access_options import Access
from kinwire.mgp.kernel.audit import AuditOptions
from kinwire.mgp.kernel.callbacks import Callbacks
from kinwire.mgp.kernel.callers import AGENT_KIND
from kinwire.mgp.kernel.confirmations import Confirmations
from kinwire.mgp.kernel.permission_options import Permissions
from kinwire.mgp.kernel.registry_options import Registrations
from kinwire.mgp.kernel.tool_discovery_options import ToolDiscovery
from kinwire.mgp.rules.policy import Policy
from kinwire.mgp.rules.retry import Retries
from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.rpc.calls import TIMEOUT_KIND
from kinwire.support.arguments import (
    OBJECT,
    PLAIN_FUNCTION,
    TEXT,
    TEXTS,
    ArgumentCheck,
    having,
    instance_of,
    one_of,
    table_of,
)

_SERVERS = table_of(
    instance_of(ServerPolicy, "ServerPolicy", "ServerPolicy()"),
    "a dictionary from server_id to ServerPolicy",
    '"files"',
)
MGP_KERNEL = ArgumentCheck(
    "MgpKernel",
    "MgpKernel()",
    {},
    servers=_SERVERS.or_none,
    unknown=instance_of(ServerPolicy, "ServerPolicy", "ServerPolicy()").or_none,
    policy=instance_of(Policy, "Policy", 'load_policy("policy.toml")').or_none,
    access=instance_of(Access, "Access", "Access()").or_none,
    permissions=instance_of(Permissions, "Permissions", "Permissions(ask=...)").or_none,
    confirmations=instance_of(Confirmations, "Confirmations", "Confirmations(confirm=...)").or_none,
    callbacks=instance_of(Callbacks, "Callbacks", "Callbacks(answer=...)").or_none,
    audit=instance_of(AuditOptions, "AuditOptions", "AuditOptions(log=...)").or_none,
    retries=instance_of(Retries, "Retries", "Retries()").or_none,
    registrations=instance_of(Registrations, "Registrations", "Registrations(ask=...)").or_none,
    discovery=instance_of(ToolDiscovery, "ToolDiscovery", "ToolDiscovery()").or_none,
    records=having(
        ("get", "put", "scan"), "records of a store", 'await store.records("mgp")'
    ).or_none,
    network=having(("resolve", "connect"), "a network", "network").or_none,
    clock=PLAIN_FUNCTION,
)
REPLACE_POLICY = ArgumentCheck(
    "MgpKernel.replace_policy",
    "kernel.replace_policy(policy)",
    {"policy": instance_of(Policy, "Policy", 'load_policy("policy.toml")')},
)
OF = ArgumentCheck(
    "MgpKernel.of",
    "kernel.of(connection)",
    {"connection": instance_of(Connection, "a Connection", "connection")},
)
ACTING_FOR = ArgumentCheck(
    "MgpKernel.acting_for", 'kernel.acting_for("agent.helper")', {"agent": AGENT_KIND}
)
ACTING_AS_OPERATOR = ArgumentCheck(
    "MgpKernel.acting_as_operator", 'kernel.acting_as_operator("admin")', {"name": TEXT}
)
ADD_ACCESS_TOOLS = ArgumentCheck(
    "MgpKernel.add_access_tools",
    "kernel.add_access_tools(server, agent_of)",
    {
        "server": instance_of(Server, "a Server", 'Server("gate", "1.0")'),
        "agent_of": PLAIN_FUNCTION,
    },
)
EVENTS = ArgumentCheck(
    "MgpKernel.events",
    'kernel.events(connection, ["model.*"])',
    {
        "connection": instance_of(Connection, "a Connection", "connection"),
        "channels": TEXTS,
    },
    min_severity=one_of(*SEVERITIES).or_none,
)
ADD_DISCOVERY_TOOLS = ArgumentCheck(
    "MgpKernel.add_discovery_tools",
    "kernel.add_discovery_tools(server, agent_of)",
    {
        "server": instance_of(Server, "a Server", 'Server("gate", "1.0")'),
        "agent_of": PLAIN_FUNCTION,
    },
)
ADD_TOOL_SEARCH_TOOLS = ArgumentCheck(
    "MgpKernel.add_tool_search_tools",
    "kernel.add_tool_search_tools(server, agent_of)",
    {
        "server": instance_of(Server, "a Server", 'Server("gate", "1.0")'),
        "agent_of": PLAIN_FUNCTION,
    },
)
RESET_QUOTA = ArgumentCheck(
    "MgpKernel.reset_quota",
    'kernel.reset_quota("agent.helper", "files")',
    {"agent": TEXT, "server": TEXT},
)
STREAM = ArgumentCheck(
    "MgpKernel.stream",
    'kernel.stream(connection, "think", {})',
    {
        "connection": instance_of(Connection, "a Connection", "connection"),
        "tool": TEXT,
        "arguments": OBJECT.or_none,
    },
    timeout=TIMEOUT_KIND,
    on_progress=PLAIN_FUNCTION.or_none,
)
TOOL_SESSION = ArgumentCheck(
    "MgpKernel.tool_session", 'await kernel.tool_session("agent.helper")', {"agent": AGENT_KIND}
)
