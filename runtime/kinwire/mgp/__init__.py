"""Model General Protocol in both roles: a security layer between a host and its servers.

Pass `MgpKernel` to a host, `MgpServer` to a server. `rules/` decides for both roles; `kernel/`,
`server/` and `gateway/` act. The messages are in `kinwire_protocols.mgp`.
"""

from __future__ import annotations

__all__ = (
    "Access",
    "AccessExplanation",
    "AccessPrincipal",
    "Agent",
    "AuditOptions",
    "CallLimit",
    "CallStream",
    "CallbackQuestion",
    "Callbacks",
    "ConfigError",
    "ConfigFile",
    "ConfigProblem",
    "ConfiguredServer",
    "ConfirmationAnswer",
    "ConfirmationRequest",
    "Confirmations",
    "ContextBudgetError",
    "Embedder",
    "Gateway",
    "GuardedCall",
    "GuardedServer",
    "HealthMonitor",
    "IdentityRefusedError",
    "KernelConfig",
    "KernelPeer",
    "KnownTool",
    "Lifecycle",
    "MgpContext",
    "MgpKernel",
    "MgpServer",
    "MiniLmEmbedder",
    "ModelFileError",
    "PendingPermission",
    "PermissionAnswer",
    "PermissionDecision",
    "PermissionQuestion",
    "Permissions",
    "Policy",
    "Questions",
    "Registration",
    "RegistrationApproval",
    "Registrations",
    "RestartRules",
    "Retries",
    "ServerEvents",
    "ServerHealth",
    "ServerPolicy",
    "ServerSpec",
    "ServerStatus",
    "Shutdown",
    "StandingAnswer",
    "StreamChunk",
    "StreamUnreadError",
    "SupervisedServer",
    "Supervisor",
    "ToolDiscovery",
    "ToolPolicy",
    "ToolSession",
    "code_rejection",
    "load_config",
    "load_policy",
    "recovery_of",
    "refusal",
)

from typing import TYPE_CHECKING

from kinwire.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from kinwire.mgp.errors import recovery_of, refusal
    from kinwire.mgp.gateway.gateway import Gateway
    from kinwire.mgp.kernel.access import AccessExplanation
    from kinwire.mgp.kernel.access_options import Access, AccessPrincipal
    from kinwire.mgp.kernel.audit import AuditOptions
    from kinwire.mgp.kernel.call import GuardedCall
    from kinwire.mgp.kernel.call_stream import CallStream, StreamUnreadError
    from kinwire.mgp.kernel.callbacks import Callbacks
    from kinwire.mgp.kernel.callers import Agent
    from kinwire.mgp.kernel.config import ConfigFile, load_config
    from kinwire.mgp.kernel.confirmations import ConfirmationAnswer, Confirmations
    from kinwire.mgp.kernel.guarded_server import GuardedServer
    from kinwire.mgp.kernel.health import HealthMonitor
    from kinwire.mgp.kernel.identities import IdentityRefusedError
    from kinwire.mgp.kernel.kernel import MgpKernel
    from kinwire.mgp.kernel.minilm_embedder import MiniLmEmbedder, ModelFileError
    from kinwire.mgp.kernel.pending import PendingPermission
    from kinwire.mgp.kernel.permission_options import (
        PermissionAnswer,
        PermissionQuestion,
        Permissions,
    )
    from kinwire.mgp.kernel.policy_loading import load_policy
    from kinwire.mgp.kernel.registry_options import Registrations
    from kinwire.mgp.kernel.server_events import ServerEvents
    from kinwire.mgp.kernel.stream_inbox import StreamChunk
    from kinwire.mgp.kernel.supervisor.status import ServerStatus
    from kinwire.mgp.kernel.supervisor.supervised import SupervisedServer
    from kinwire.mgp.kernel.supervisor.supervisor import Supervisor
    from kinwire.mgp.kernel.tool_discovery_options import ToolDiscovery
    from kinwire.mgp.kernel.tool_session import ToolSession
    from kinwire.mgp.kernel.tool_sessions import ContextBudgetError
    from kinwire.mgp.rules.callbacks import CallbackQuestion
    from kinwire.mgp.rules.config_problem import ConfigError, ConfigProblem
    from kinwire.mgp.rules.confirmations import ConfirmationRequest, StandingAnswer
    from kinwire.mgp.rules.health import ServerHealth
    from kinwire.mgp.rules.kernel_config import ConfiguredServer, KernelConfig
    from kinwire.mgp.rules.permissions import PermissionDecision
    from kinwire.mgp.rules.policy import Policy
    from kinwire.mgp.rules.registration import Registration, RegistrationApproval
    from kinwire.mgp.rules.restart_rules import RestartRules
    from kinwire.mgp.rules.retry import Retries
    from kinwire.mgp.rules.server_policy import CallLimit, ServerPolicy, ToolPolicy
    from kinwire.mgp.rules.server_spec import ServerSpec
    from kinwire.mgp.rules.tool_index.embedding import Embedder
    from kinwire.mgp.rules.tools import KnownTool
    from kinwire.mgp.server.callbacks import Questions
    from kinwire.mgp.server.code_check import code_rejection
    from kinwire.mgp.server.context import MgpContext
    from kinwire.mgp.server.kernel_peer import KernelPeer
    from kinwire.mgp.server.lifecycle_options import Lifecycle, Shutdown
    from kinwire.mgp.server.server import MgpServer

_HOMES = {
    "Access": "kernel.access_options",
    "AccessExplanation": "kernel.access",
    "AccessPrincipal": "kernel.access_options",
    "Agent": "kernel.callers",
    "AuditOptions": "kernel.audit",
    "CallLimit": "rules.server_policy",
    "CallbackQuestion": "rules.callbacks",
    "Callbacks": "kernel.callbacks",
    "ConfigError": "rules.config_problem",
    "ConfigFile": "kernel.config",
    "ConfigProblem": "rules.config_problem",
    "ConfiguredServer": "rules.kernel_config",
    "CallStream": "kernel.call_stream",
    "ConfirmationAnswer": "kernel.confirmations",
    "ConfirmationRequest": "rules.confirmations",
    "Confirmations": "kernel.confirmations",
    "ContextBudgetError": "kernel.tool_sessions",
    "Gateway": "gateway.gateway",
    "Embedder": "rules.tool_index.embedding",
    "GuardedCall": "kernel.call",
    "GuardedServer": "kernel.guarded_server",
    "HealthMonitor": "kernel.health",
    "IdentityRefusedError": "kernel.identities",
    "KernelConfig": "rules.kernel_config",
    "KernelPeer": "server.kernel_peer",
    "KnownTool": "rules.tools",
    "Lifecycle": "server.lifecycle_options",
    "MgpContext": "server.context",
    "MgpKernel": "kernel.kernel",
    "MgpServer": "server.server",
    "MiniLmEmbedder": "kernel.minilm_embedder",
    "ModelFileError": "kernel.minilm_embedder",
    "PendingPermission": "kernel.pending",
    "PermissionAnswer": "kernel.permission_options",
    "PermissionDecision": "rules.permissions",
    "PermissionQuestion": "kernel.permission_options",
    "Permissions": "kernel.permission_options",
    "Policy": "rules.policy",
    "Questions": "server.callbacks",
    "RestartRules": "rules.restart_rules",
    "Registration": "rules.registration",
    "RegistrationApproval": "rules.registration",
    "Registrations": "kernel.registry_options",
    "Retries": "rules.retry",
    "ServerEvents": "kernel.server_events",
    "ServerHealth": "rules.health",
    "ServerPolicy": "rules.server_policy",
    "ServerSpec": "rules.server_spec",
    "ServerStatus": "kernel.supervisor.status",
    "Shutdown": "server.lifecycle_options",
    "StandingAnswer": "rules.confirmations",
    "SupervisedServer": "kernel.supervisor.supervised",
    "Supervisor": "kernel.supervisor.supervisor",
    "StreamChunk": "kernel.stream_inbox",
    "StreamUnreadError": "kernel.call_stream",
    "ToolDiscovery": "kernel.tool_discovery_options",
    "ToolPolicy": "rules.server_policy",
    "ToolSession": "kernel.tool_session",
    "code_rejection": "server.code_check",
    "load_config": "kernel.config",
    "load_policy": "kernel.policy_loading",
    "recovery_of": "errors",
    "refusal": "errors",
}

if not TYPE_CHECKING:
    __getattr__ = lazy_names(__name__, _HOMES)
