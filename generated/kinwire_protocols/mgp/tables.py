"""Data of Model General Protocol outside its messages. Generated from mgp.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kinwire_protocols import lazy, tables

if TYPE_CHECKING:
    from kinwire_protocols.mgp.models import (
        AccessLevel,
        Approach,
        AuditConcern,
        CodeSafety,
        Component,
        ContextLevel,
        ErrorRange,
        ErrorRule,
        ExtensionRule,
        FutureExtension,
        NameAlias,
        Pairing,
        Pattern,
        PermissionRule,
        Release,
        RiskRule,
        SafetyRule,
        SearchRule,
        ServerState,
        Term,
    )

COMPATIBILITY_MATRIX: Final[tables.Table[Pairing]] = tables.Table(
    lazy.Lazy("kinwire_protocols.mgp.models.Pairing"),
    (
        {"client": "MCP", "server": "MCP", "behavior": "MCP"},
        {"client": "MCP", "server": "MGP", "behavior": "MCP; the server keeps MGP to itself"},
        {
            "client": "MGP",
            "server": "MCP",
            "behavior": "MCP; the client falls back to its own checks",
        },
        {"client": "MGP", "server": "MGP", "behavior": "All that was negotiated of MGP"},
    ),
)
"""Who speaks what with whom; none of it needs a setting. Section 1.3."""

EXTENSIONS: Final[tables.KeyedTable[ExtensionRule]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.ExtensionRule"),
    "extension",
    (
        {
            "extension": "security",
            "covers": "Permission declarations and security metadata of tools",
            "sections": ["3", "4"],
        },
        {
            "extension": "access_control",
            "covers": "Which agent may use which tool",
            "sections": ["5"],
        },
        {"extension": "audit", "covers": "Structured audit notifications", "sections": ["6"]},
        {
            "extension": "code_safety",
            "covers": "The framework for tools that take code",
            "sections": ["7"],
        },
        {
            "extension": "lifecycle",
            "covers": "Health checks, graceful shutdown, states",
            "sections": ["11"],
        },
        {
            "extension": "streaming",
            "covers": "Partial results of tools, progress, cancellation",
            "sections": ["12"],
        },
        {
            "extension": "bidirectional",
            "covers": "Notifications of the server, event subscriptions, callbacks",
            "sections": ["13"],
        },
        {
            "extension": "discovery",
            "covers": "Servers advertised, registered and deregistered",
            "sections": ["15"],
        },
        {
            "extension": "tool_discovery",
            "covers": "Tool search, active tool request, session cache",
            "sections": ["16"],
        },
    ),
)
"""The extensions that can be negotiated. Section 2.2."""

EXTENSION_ALIASES: Final[tables.KeyedTable[NameAlias]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.NameAlias"),
    "name",
    (
        {"name": "permissions", "means": "security"},
        {"name": "tool_security", "means": "security"},
        {"name": "callbacks", "means": "bidirectional"},
        {"name": "events", "means": "bidirectional"},
        {"name": "progress", "means": "streaming"},
    ),
)
"""Names of later versions for extensions of this one, or for parts of them. Section 2.2."""

STANDARD_PERMISSIONS: Final[tables.KeyedTable[PermissionRule]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.PermissionRule"),
    "permission",
    (
        {
            "permission": "filesystem.read",
            "allows": "Read files of the host",
            "risk_level": "moderate",
        },
        {
            "permission": "filesystem.write",
            "allows": "Write, create and delete files",
            "risk_level": "dangerous",
        },
        {
            "permission": "network.outbound",
            "allows": "Make network requests outward",
            "risk_level": "moderate",
        },
        {
            "permission": "network.listen",
            "allows": "Bind a network port",
            "risk_level": "dangerous",
        },
        {"permission": "shell.execute", "allows": "Run shell commands", "risk_level": "dangerous"},
        {"permission": "code_execution", "allows": "Run arbitrary code", "risk_level": "dangerous"},
        {
            "permission": "memory.read",
            "allows": "Read memory and knowledge stores",
            "risk_level": "safe",
        },
        {
            "permission": "memory.write",
            "allows": "Write memory and knowledge stores",
            "risk_level": "moderate",
        },
        {
            "permission": "system.info",
            "allows": "Read facts about the system",
            "risk_level": "safe",
        },
        {
            "permission": "camera",
            "allows": "Use cameras and other devices that see",
            "risk_level": "dangerous",
        },
        {"permission": "notification", "allows": "Notify the user", "risk_level": "safe"},
    ),
)
"""The standard permissions and their risks. Section 3.2."""

APPROVAL_POLICIES: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {"value": "interactive", "meaning": "Each permission is put before the human operator"},
        {"value": "auto_approve", "meaning": "Every permission is approved"},
        {
            "value": "deny_all",
            "meaning": "Every permission that is not configured beforehand is denied",
        },
        {
            "value": "config_only",
            "meaning": "Exactly the permissions that the configuration lists are approved",
        },
    ),
)
"""How a client decides about permissions. Section 3.3."""

GRANT_VALUES: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {"value": "approved", "meaning": "The permission is granted"},
        {"value": "denied", "meaning": "The permission is denied; the server degrades gracefully"},
        {"value": "deferred", "meaning": "The decision is put off; the server waits or asks again"},
    ),
)
"""What can be decided about a permission. Section 3.6."""

RISK_LEVELS: Final[tables.KeyedTable[RiskRule]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.RiskRule"),
    "risk_level",
    (
        {
            "risk_level": "safe",
            "definition": "No side effects, reads only",
            "client": "Runs it without confirmation",
        },
        {
            "risk_level": "moderate",
            "definition": "Limited side effects, writes data",
            "client": "Runs it; confirmation is optional",
        },
        {
            "risk_level": "dangerous",
            "definition": "Effects on the system that cannot be undone",
            "client": "Needs explicit confirmation or permission",
        },
    ),
)
"""What the risk levels mean to a client. Section 4.4."""

VALIDATORS: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {
            "value": "sandbox",
            "meaning": "Blocks dangerous shell patterns, metacharacters and recursive deletion",
        },
        {"value": "readonly", "meaning": "Blocks everything that writes"},
        {
            "value": "network_restricted",
            "meaning": "Blocks requests to localhost, private addresses and metadata endpoints",
        },
        {
            "value": "code_safety",
            "meaning": "Applies the code safety framework (7) to arguments that are code",
        },
        {"value": "none", "meaning": "Checks nothing: the server looks after itself"},
    ),
)
"""The checks that the kernel can apply to a call. Section 4.5."""

ACCESS_HIERARCHY: Final[tables.KeyedTable[AccessLevel]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.AccessLevel"),
    "source",
    (
        {"priority": 1, "source": "tool_grant", "meaning": "An entry for this tool and this agent"},
        {
            "priority": 2,
            "source": "server_grant",
            "meaning": "An entry for this server and this agent",
        },
        {"priority": 3, "source": "default_policy", "meaning": "The server's default policy"},
    ),
)
"""In which order access is decided. Section 5.2."""

ACCESS_ENTRY_TYPES: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {"value": "server_grant", "meaning": "All tools of a server"},
        {"value": "tool_grant", "meaning": "A single tool"},
    ),
)
"""What an entry covers. Section 5.3."""

DEFAULT_POLICIES: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {"value": "opt-in", "meaning": "No access until it is granted explicitly"},
        {"value": "opt-out", "meaning": "Access until it is denied explicitly"},
    ),
)
"""What holds without an entry. Section 5.5."""

AUDIT_CONCERNS: Final[tables.KeyedTable[AuditConcern]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.AuditConcern"),
    "concern",
    (
        {"concern": "Format of audit events", "scope": "protocol"},
        {"concern": "Standard event types", "scope": "protocol"},
        {"concern": "Propagation of trace ids", "scope": "protocol"},
        {"concern": "Storage of audit events", "scope": "server"},
        {"concern": "Search among audit events", "scope": "server"},
        {"concern": "Analysis and alerts", "scope": "server"},
    ),
)
"""What the protocol settles about auditing, and what is left to an audit server. Section 6.2."""

AUDIT_EVENT_TYPES: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {"value": "TOOL_EXECUTED", "meaning": "A tool was called and finished"},
        {"value": "TOOL_BLOCKED", "meaning": "Validation or access control blocked a call"},
        {"value": "PERMISSION_GRANTED", "meaning": "A permission was approved"},
        {"value": "PERMISSION_DENIED", "meaning": "A permission was denied"},
        {"value": "PERMISSION_REVOKED", "meaning": "A permission granted earlier was taken back"},
        {"value": "ACCESS_GRANTED", "meaning": "An agent was given access to a server or tool"},
        {"value": "ACCESS_REVOKED", "meaning": "An agent's access was taken back"},
        {"value": "SERVER_CONNECTED", "meaning": "A server connected"},
        {"value": "SERVER_DISCONNECTED", "meaning": "A server disconnected"},
        {"value": "VALIDATION_FAILED", "meaning": "The kernel's validation rejected a call"},
        {"value": "CODE_REJECTED", "meaning": "The code safety framework rejected code"},
    ),
)
"""The standard types of audit events. Section 6.4."""

SAFETY_LEVELS: Final[tables.KeyedTable[SafetyRule]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.SafetyRule"),
    "level",
    (
        {
            "level": "unrestricted",
            "meaning": "Code is not checked",
            "blocks_imports": False,
            "allows_listed_imports_only": False,
            "blocks_patterns": False,
            "limits_size": False,
            "blocks_writes": False,
        },
        {
            "level": "standard",
            "meaning": "Known dangerous patterns are blocked",
            "blocks_imports": True,
            "allows_listed_imports_only": False,
            "blocks_patterns": True,
            "limits_size": False,
            "blocks_writes": False,
        },
        {
            "level": "strict",
            "meaning": "Listed imports only, and a greatest size",
            "blocks_imports": False,
            "allows_listed_imports_only": True,
            "blocks_patterns": True,
            "limits_size": True,
            "blocks_writes": False,
        },
        {
            "level": "readonly",
            "meaning": "Code reads data and has no effects",
            "blocks_imports": False,
            "allows_listed_imports_only": True,
            "blocks_patterns": True,
            "limits_size": True,
            "blocks_writes": True,
        },
    ),
)
"""What the safety levels check. Section 7.2."""

CODE_SAFETY_PRESETS: Final[tables.KeyedTable[CodeSafety]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.CodeSafety"),
    "level",
    (
        {
            "level": "standard",
            "language": "python",
            "max_code_size_bytes": 10000,
            "blocked_imports": ["subprocess", "shutil", "socket", "ctypes"],
            "blocked_patterns": ["eval(", "exec(", "__import__(", "os.system"],
            "allowed_imports": ["asyncio", "json", "httpx", "os", "datetime", "typing"],
        },
    ),
)
"""The lists that hold where a tool gives none. Section 7.3."""

SERVER_STATES: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {"value": "registered", "meaning": "The configuration is loaded, the server not started"},
        {"value": "connecting", "meaning": "The transport starts, the handshake is under way"},
        {"value": "connected", "meaning": "The server works and takes calls"},
        {
            "value": "draining",
            "meaning": "A graceful shutdown has begun: what is under way is finished, new requests are rejected",
        },
        {"value": "disconnected", "meaning": "The transport is closed, the server stopped"},
        {"value": "error", "meaning": "The connection failed, or the server did while running"},
        {"value": "restarting", "meaning": "The server is being stopped and started again"},
    ),
)
"""The states of a server. Section 11.2."""

HEALTH_STATUSES: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {"value": "healthy", "meaning": "The server works fully"},
        {"value": "degraded", "meaning": "The server runs with some capabilities limited"},
        {"value": "unhealthy", "meaning": "The server has errors and still answers"},
    ),
)
"""How well a server can work. Section 11.3."""

SHUTDOWN_REASONS: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {"value": "operator_request", "meaning": "A human asked for it"},
        {
            "value": "configuration_change",
            "meaning": "The configuration changed, a restart is needed",
        },
        {"value": "resource_limit", "meaning": "The server exceeded its limits"},
        {"value": "idle_timeout", "meaning": "The server was idle for too long"},
        {"value": "kernel_shutdown", "meaning": "The whole kernel goes down"},
    ),
)
"""Why a server is shut down. Section 11.4."""

RESTART_POLICIES: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {"value": "never", "meaning": "Not after a failure"},
        {"value": "on_failure", "meaning": "Only after it ended with an error"},
        {"value": "always", "meaning": "However it ended, gracefully too"},
    ),
)
"""When a server is started again. Section 11.5."""

CALLBACK_TYPES: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {"value": "confirmation", "meaning": "A yes or no before a dangerous operation"},
        {"value": "input", "meaning": "More input from the user"},
        {"value": "selection", "meaning": "A choice among options"},
        {"value": "notification", "meaning": "To be seen; no answer is expected"},
    ),
)
"""What a callback can want. Section 13.4."""

CHANNEL_PATTERNS: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {"value": "model.*", "meaning": "Language models: use of tokens, rate limits, errors"},
        {"value": "system.*", "meaning": "The system: use of resources, errors"},
        {"value": "tool.*", "meaning": "Tools: started, completed, failed"},
        {"value": "security.*", "meaning": "Security: access denied, validation failed"},
    ),
)
"""What channels are about, by the beginnings of their names. Section 13.5."""

ERROR_RANGES: Final[tables.Table[ErrorRange]] = tables.Table(
    lazy.Lazy("kinwire_protocols.mgp.models.ErrorRange"),
    (
        {"lowest": -32603, "highest": -32600, "category": "JSON-RPC"},
        {"lowest": 1000, "highest": 1099, "category": "security"},
        {"lowest": 2000, "highest": 2099, "category": "lifecycle"},
        {"lowest": 3000, "highest": 3099, "category": "resource"},
        {"lowest": 4000, "highest": 4099, "category": "validation"},
        {"lowest": 5000, "highest": 5099, "category": "external"},
    ),
)
"""Which codes are about what. Section 14.2."""

ERROR_RULES: Final[tables.KeyedTable[ErrorRule]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.ErrorRule"),
    "name",
    (
        {
            "code": 1000,
            "name": "PERMISSION_DENIED",
            "error": "PermissionDenied",
            "category": "security",
            "retryable": False,
        },
        {
            "code": 1001,
            "name": "ACCESS_DENIED",
            "error": "AccessDenied",
            "category": "security",
            "retryable": False,
        },
        {
            "code": 1002,
            "name": "AUTH_REQUIRED",
            "error": "AuthRequired",
            "category": "security",
            "retryable": False,
        },
        {
            "code": 1003,
            "name": "AUTH_EXPIRED",
            "error": "AuthExpired",
            "category": "security",
            "retryable": False,
        },
        {
            "code": 1010,
            "name": "VALIDATION_BLOCKED",
            "error": "ValidationBlocked",
            "category": "security",
            "retryable": False,
        },
        {
            "code": 1011,
            "name": "CODE_SAFETY_VIOLATION",
            "error": "CodeSafetyViolation",
            "category": "security",
            "retryable": False,
        },
        {
            "code": 2000,
            "name": "SERVER_NOT_READY",
            "error": "ServerNotReady",
            "category": "lifecycle",
            "retryable": True,
            "retry_strategy": "fixed_delay",
        },
        {
            "code": 2001,
            "name": "SERVER_DRAINING",
            "error": "ServerDraining",
            "category": "lifecycle",
            "retryable": False,
        },
        {
            "code": 2002,
            "name": "SERVER_RESTARTING",
            "error": "ServerRestarting",
            "category": "lifecycle",
            "retryable": True,
            "retry_strategy": "fixed_delay",
        },
        {
            "code": 3000,
            "name": "RATE_LIMITED",
            "error": "RateLimited",
            "category": "resource",
            "retryable": True,
            "retry_strategy": "exponential_backoff",
        },
        {
            "code": 3001,
            "name": "RESOURCE_EXHAUSTED",
            "error": "ResourceExhausted",
            "category": "resource",
            "retryable": True,
            "retry_strategy": "exponential_backoff",
        },
        {
            "code": 3002,
            "name": "QUOTA_EXCEEDED",
            "error": "QuotaExceeded",
            "category": "resource",
            "retryable": False,
        },
        {
            "code": 3003,
            "name": "TIMEOUT",
            "error": "TimedOut",
            "category": "resource",
            "retryable": True,
            "retry_strategy": "exponential_backoff",
        },
        {
            "code": 4000,
            "name": "INVALID_TOOL_ARGS",
            "error": "InvalidToolArgs",
            "category": "validation",
            "retryable": False,
        },
        {
            "code": 4001,
            "name": "TOOL_NOT_FOUND",
            "error": "ToolNotFound",
            "category": "validation",
            "retryable": False,
        },
        {
            "code": 4002,
            "name": "TOOL_DISABLED",
            "error": "ToolDisabled",
            "category": "validation",
            "retryable": False,
        },
        {
            "code": 5000,
            "name": "UPSTREAM_ERROR",
            "error": "UpstreamError",
            "category": "external",
            "retryable": False,
        },
        {
            "code": 5001,
            "name": "UPSTREAM_TIMEOUT",
            "error": "UpstreamTimeout",
            "category": "external",
            "retryable": True,
            "retry_strategy": "exponential_backoff",
        },
        {
            "code": 5002,
            "name": "UPSTREAM_UNAVAILABLE",
            "error": "UpstreamUnavailable",
            "category": "external",
            "retryable": True,
            "retry_strategy": "exponential_backoff",
        },
    ),
)
"""The errors with their names in the specification, their categories, and what a client does where the error does not say. Section 14.3."""

RETRY_STRATEGIES: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {"value": "immediate", "meaning": "No wait"},
        {"value": "fixed_delay", "meaning": "The same wait each time"},
        {"value": "exponential_backoff", "meaning": "A wait that doubles each time"},
    ),
)
"""How waits between tries grow. Section 14.5."""

WORD_ALIASES: Final[tables.KeyedTable[NameAlias]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.NameAlias"),
    "name",
    (
        {"name": "upstream", "means": "external"},
        {"name": "exponential", "means": "exponential_backoff"},
    ),
)
"""Words that kernels are known to write into errors, and what they stand for. Section 14.5."""

CONTEXT_LEVELS: Final[tables.KeyedTable[ContextLevel]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.ContextLevel"),
    "level",
    (
        {"level": "L0", "mode": "Standard MCP", "holds": "All tools", "tokens": 150000},
        {"level": "L1", "mode": "Category", "holds": "An index of categories", "tokens": 5000},
        {
            "level": "L2",
            "mode": "Discovery",
            "holds": "The meta-tool and results on demand",
            "tokens": 1000,
        },
        {
            "level": "L3",
            "mode": "Hybrid",
            "holds": "Pinned tools and a cache of discovered ones",
            "tokens": 2000,
        },
    ),
)
"""How tools can be held in a model's context, and what it costs. Section 16.3."""

SEARCH_STRATEGIES: Final[tables.KeyedTable[SearchRule]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.SearchRule"),
    "strategy",
    (
        {
            "strategy": "keyword",
            "method": "Exact and fuzzy match of keywords",
            "best_for": "Precise names of tools",
        },
        {
            "strategy": "semantic",
            "method": "Similarity of embedding vectors",
            "best_for": "Intents in natural language",
        },
        {
            "strategy": "category",
            "method": "Filter by a hierarchy of categories",
            "best_for": "Looking through what there is",
        },
    ),
)
"""How the tool index can be searched. Section 16.4."""

TOOLS_REQUEST_STATUSES: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {"value": "fulfilled", "meaning": "Tools were found and loaded into the session"},
        {"value": "partial", "meaning": "Some requirements are met, others are not"},
        {"value": "unavailable", "meaning": "No tool fits"},
        {"value": "pending_approval", "meaning": "Tools were found and wait for a permission (3)"},
        {"value": "creating", "meaning": "No tool fits, and the agent is writing one (7)"},
    ),
)
"""What can come of a request for tools. Section 16.6."""

SESSION_CACHE: Final[tables.KeyedTable[Term]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Term"),
    "value",
    (
        {"value": "pinned", "meaning": "Always in the context, as configured for each agent"},
        {"value": "cached", "meaning": "Used in this session; kept until it ends"},
        {"value": "discovered", "meaning": "Found by a search; kept for that request"},
    ),
)
"""What a session keeps of tools, and for how long. Section 16.7."""

APPROACHES: Final[tables.KeyedTable[Approach]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Approach"),
    "approach",
    (
        {
            "approach": "MCP",
            "discovery": "None: all tools are in the context",
            "standard": True,
            "reduction_percent": 0,
        },
        {
            "approach": "RAG-MCP",
            "discovery": "Retrieval by meaning before the query",
            "multi_step": False,
            "standard": False,
            "reduction_percent": 80,
        },
        {
            "approach": "MCP-Zero",
            "discovery": "Active request, a research paper",
            "multi_step": True,
            "standard": False,
            "reduction_percent": 95,
        },
        {
            "approach": "Cursor, Copilot",
            "discovery": "Hard limits of 40 and 128 tools",
            "multi_step": False,
            "standard": False,
        },
        {
            "approach": "MGP",
            "discovery": "Search and active request together",
            "multi_step": True,
            "standard": True,
            "reduction_percent": 99,
        },
    ),
)
"""Ways to let a model find tools, as the specification compares them. Section 16.9."""

REFERENCE_COMPONENTS: Final[tables.KeyedTable[Component]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Component"),
    "part",
    (
        {
            "part": "Capability negotiation (2)",
            "component": "cloto/handshake",
            "files": ["managers/mcp.rs"],
        },
        {
            "part": "Permission declarations (3)",
            "component": "Permission gate",
            "files": ["managers/mcp.rs"],
        },
        {
            "part": "Tool security metadata (4)",
            "component": "tool_validators",
            "files": ["managers/mcp_protocol.rs"],
        },
        {
            "part": "Access control (5)",
            "component": "mcp_access_control",
            "files": ["db.rs", "handlers.rs"],
        },
        {"part": "Audit trail (6)", "component": "audit_logs", "files": ["handlers.rs"]},
        {
            "part": "Code safety (7)",
            "component": "validate_mcp_code()",
            "files": ["managers/mcp.rs"],
        },
        {
            "part": "Lifecycle (11)",
            "component": "ServerStatus, auto_restart, restart_server()",
            "files": ["managers/mcp.rs"],
        },
        {"part": "Streaming (12)", "files": []},
        {
            "part": "Bidirectional communication (13)",
            "component": "notifications/cloto.event, event bus",
            "files": ["handlers.rs", "lib.rs"],
        },
        {
            "part": "Error handling (14)",
            "component": "JsonRpcError",
            "files": ["managers/mcp_protocol.rs"],
        },
        {
            "part": "Discovery (15)",
            "component": "mcp.toml, add_dynamic_server()",
            "files": ["managers/mcp.rs"],
        },
        {"part": "Tool discovery (16)", "files": []},
    ),
)
"""Where the reference implementation has each part of the specification. Section 8.3."""

RELEASES: Final[tables.KeyedTable[Release]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Release"),
    "version",
    (
        {"version": "0.1.0-draft", "date": "2026-02-27", "changes": "Security (2 to 7)"},
        {
            "version": "0.2.0-draft",
            "date": "2026-02-27",
            "changes": "Communication and lifecycle (11 to 15)",
        },
        {
            "version": "0.3.0-draft",
            "date": "2026-02-27",
            "changes": "Dynamic tool discovery and active tool request (16)",
        },
    ),
)
"""The drafts of the specification. Section 9."""

PATTERNS: Final[tables.KeyedTable[Pattern]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.Pattern"),
    "pattern",
    (
        {
            "pattern": "Multi-agent coordination",
            "implementation": "A coordination server",
            "primitives": ["Tool calls", "Discovery (16)", "Access control (5)"],
        },
        {
            "pattern": "Context management",
            "implementation": "Servers that summarize and remember",
            "primitives": ["Tool calls", "Context budget (16.8)"],
        },
        {
            "pattern": "Federation",
            "implementation": "A proxy server",
            "primitives": ["Discovery (15, 16)", "Lifecycle (11)"],
        },
    ),
)
"""What is left to applications on purpose. Section 10.1."""

FUTURE_EXTENSIONS: Final[tables.KeyedTable[FutureExtension]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mgp.models.FutureExtension"),
    "extension",
    (
        {
            "extension": "observability",
            "meaning": "Metrics and traces that fit OpenTelemetry",
            "priority": "low",
        },
        {
            "extension": "versioning",
            "meaning": "Versions of tool schemas and moves between them",
            "priority": "low",
        },
    ),
)
"""Extensions that later versions may bring. Section 10.2."""

SERVER_LIFECYCLE: Final[tables.Machine[ServerState]] = tables.Machine(
    states=(
        "registered",
        "connecting",
        "connected",
        "draining",
        "disconnected",
        "error",
        "restarting",
    ),
    initial="registered",
    transitions={
        ("registered", "start"): "connecting",
        ("connecting", "ready"): "connected",
        ("connecting", "fail"): "error",
        ("connected", "shutdown"): "draining",
        ("connected", "fail"): "error",
        ("draining", "drained"): "disconnected",
        ("draining", "restart"): "restarting",
        ("error", "restart"): "restarting",
        ("restarting", "ready"): "connected",
        ("restarting", "start"): "connecting",
        ("restarting", "fail"): "error",
        ("connecting", "stop"): "disconnected",
        ("restarting", "stop"): "disconnected",
        ("error", "stop"): "disconnected",
        ("disconnected", "start"): "connecting",
    },
)
"""How a server goes from state to state, as the kernel sees it. Section 11.2."""

METHOD_PREFIX: Final = "mgp/"
"""What the names of MGP's methods begin with. Section 1.5."""

NOTIFICATION_PREFIX: Final = "notifications/mgp."
"""What the names of MGP's notifications begin with. Section 1.5."""

VERSION: Final = "0.2.0"
"""The version that is offered. Section 2.2."""

CODE_MAX_SIZE_BYTES: Final = 10000
"""The most that code may have, where a tool does not say. In bytes. Section 7.3."""

HEALTH_PING_TIMEOUT_MS: Final = 5000
"""How soon a server answers a ping. In ms. Section 11.3 mgp/health/ping."""

SHUTDOWN_TIMEOUT_MS: Final = 30000
"""How long a server may take to finish what is under way, where the request does not say. In ms. Section 11.4 mgp/lifecycle/shutdown."""

RESTART_MAX: Final = 5
"""How many restarts a window has room for. In restarts. Section 11.5."""

RESTART_WINDOW_SECS: Final = 300
"""How long the window is. In s. Section 11.5."""

RESTART_BACKOFF_BASE_MS: Final = 1000
"""How long to wait before the first restart. In ms. Section 11.5."""

RESTART_BACKOFF_MAX_MS: Final = 30000
"""The longest wait before a restart. In ms. Section 11.5."""

CALLBACK_TIMEOUT_MS: Final = 60000
"""How long a server waits for the answer to a callback, where it does not say. In ms. Section 13.4 notifications/mgp.callback.request."""

DISCOVER_MAX_RESULTS: Final = 5
"""How many tools a search returns, where the request does not say. In tools. Section 16.5 mgp/tools/discover."""

CONTEXT_MAX_TOKENS: Final = 8000
"""How many tokens tool definitions may take. In tokens. Section 16.8."""

CONTEXT_PINNED_RESERVE: Final = 2000
"""How many of them are for pinned tools. In tokens. Section 16.8."""

CONTEXT_DISCOVERY_RESERVE: Final = 3000
"""How many of them are for results of a search. In tokens. Section 16.8."""

CONTEXT_CACHE_LIMIT: Final = 3000
"""How many of them are for the session's cache. In tokens. Section 16.8."""
