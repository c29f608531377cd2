"""Data of MCP Live outside its messages. Generated from mcpl.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kinwire_protocols import lazy, tables

if TYPE_CHECKING:
    from kinwire_protocols.mcpl.models import (
        AuditField,
        CapabilityRisk,
        ChannelFeatureSet,
        CompatibilityRule,
        ContentForm,
        DeliveryMode,
        FailurePolicy,
        PatternRule,
        ScopeEvaluationStep,
        TaggingRule,
        UseRule,
    )

COMPATIBILITY: Final[tables.Table[CompatibilityRule]] = tables.Table(
    lazy.Lazy("kinwire_protocols.mcpl.models.CompatibilityRule"),
    (
        {
            "host": "mcp",
            "server": "mcpl",
            "effect": "The host passes over `experimental.mcpl`; the server serves tools, resources and prompts, and its events, hooks and inference requests are never called for.",
        },
        {
            "host": "mcpl",
            "server": "mcp",
            "effect": "The host sees no `experimental.mcpl`: it takes no events, calls no hooks and serves no inference requests; tools, resources and prompts work as ever.",
        },
    ),
)
"""What the two ends do where one of them knows MCP alone. Section 3."""

USES: Final[tables.KeyedTable[UseRule]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mcpl.models.UseRule"),
    "use",
    (
        {"use": "pushEvents", "methods": ["push/event"], "meaning": "Send events to the host."},
        {
            "use": "contextHooks.beforeInference",
            "methods": ["context/beforeInference"],
            "meaning": "Add context before the model is run.",
        },
        {
            "use": "contextHooks.afterInference",
            "methods": ["context/afterInference"],
            "meaning": "See, and where hooks block, change what the model wrote.",
        },
        {
            "use": "inferenceRequest",
            "methods": ["inference/request"],
            "meaning": "Have the host's model run.",
        },
        {"use": "tools", "methods": ["tools/call"], "meaning": "Act through tools."},
        {
            "use": "channels.publish",
            "methods": ["channels/publish", "channels/open"],
            "meaning": "Deliver content to channels.",
        },
        {
            "use": "channels.observe",
            "methods": [
                "channels/outgoing/chunk",
                "channels/outgoing/complete",
                "channels/incoming",
                "channels/open",
            ],
            "meaning": "See what goes out and comes in on channels.",
        },
    ),
)
"""What a feature set may say that it uses. Section 6.2."""

PATTERNS: Final[tables.Table[PatternRule]] = tables.Table(
    lazy.Lazy("kinwire_protocols.mcpl.models.PatternRule"),
    (
        {
            "of": "feature set",
            "token": "*",
            "meaning": "At the end, behind a dot: each set whose name begins so. Alone: every set.",
            "pattern": "memory.*",
            "matches": ["memory.retrieval", "memory.extraction", "memory.index.rebuild"],
            "misses": ["memory", "memories.retrieval"],
        },
        {
            "of": "scope",
            "token": "**",
            "meaning": "As a whole part between slashes: any text, slashes included.",
            "pattern": "/project/**",
            "matches": ["/project/src/main.ts", "/project/README.md"],
            "misses": ["/projects/README.md"],
        },
        {
            "of": "scope",
            "token": "**/",
            "meaning": "Any folders, or none.",
            "pattern": "**/.env",
            "matches": [".env", "/project/.env"],
            "misses": ["/project/.env.example"],
        },
        {
            "of": "scope",
            "token": "*",
            "meaning": "Any text without a slash.",
            "pattern": "#dev-*",
            "matches": ["#dev-tools", "#dev-"],
            "misses": ["#general", "#dev-a/b"],
        },
        {
            "of": "scope",
            "token": "?",
            "meaning": "One character that is not a slash.",
            "pattern": "/log/?",
            "matches": ["/log/1"],
            "misses": ["/log/", "/log/12"],
        },
        {
            "of": "scope",
            "token": "[]",
            "meaning": "One of the characters in the brackets, or with `!` one of the others; never a slash.",
            "pattern": "/log/[0-9]",
            "matches": ["/log/7"],
            "misses": ["/log/x", "/log/12"],
        },
        {
            "of": "scope",
            "token": "\\",
            "meaning": "The next character is an ordinary one.",
            "pattern": "what\\?",
            "matches": ["what?"],
            "misses": ["what", "whats"],
        },
        {
            "of": "scope",
            "token": "",
            "meaning": "Without a star: that text alone.",
            "pattern": "#general",
            "matches": ["#general"],
            "misses": ["#general-2", "#General"],
        },
        {
            "of": "channel",
            "token": "*",
            "meaning": "As in scopes.",
            "pattern": "discord:acme/*",
            "matches": ["discord:acme/general"],
            "misses": ["discord:acme", "discord:acme/a/b", "telegram:acme/general"],
        },
    ),
)
"""What matches a pattern of feature sets, scopes or channels. Section 6.3."""

TAGGING: Final[tables.Table[TaggingRule]] = tables.Table(
    lazy.Lazy("kinwire_protocols.mcpl.models.TaggingRule"),
    (
        {"method": "push/event", "part": "params", "required": True},
        {"method": "inference/request", "part": "params", "required": True},
        {"method": "scope/elevate", "part": "params", "required": True},
        {"method": "state/rollback", "part": "params", "required": True},
        {"method": "context/beforeInference", "part": "result", "required": False},
        {"method": "context/afterInference", "part": "result", "required": False},
    ),
)
"""Which messages name their feature set. Section 6.5."""

DELIVERY_MODES: Final[tables.Table[DeliveryMode]] = tables.Table(
    lazy.Lazy("kinwire_protocols.mcpl.models.DeliveryMode"),
    (
        {
            "method": "context/afterInference",
            "mode": "notification",
            "when": "`contextHooks.afterInference.blocking` is false or absent on one side.",
            "default": True,
        },
        {
            "method": "context/afterInference",
            "mode": "request",
            "when": "`contextHooks.afterInference.blocking` is true on both sides.",
            "default": False,
        },
        {
            "method": "channels/publish",
            "mode": "notification",
            "when": "Nobody waits for the delivery.",
            "default": False,
        },
        {
            "method": "channels/publish",
            "mode": "request",
            "when": "The delivery is to be acknowledged.",
            "default": True,
        },
        {
            "method": "featureSets/update",
            "mode": "notification",
            "when": "Always, in MCPL 0.4.",
            "default": True,
        },
        {
            "method": "featureSets/update",
            "mode": "request",
            "when": "By hosts of MCPL 0.5, an upstream draft.",
            "default": False,
        },
        {
            "method": "channels/typing",
            "mode": "notification",
            "when": "Nobody waits for an answer.",
            "default": True,
        },
        {
            "method": "channels/acknowledge",
            "mode": "notification",
            "when": "Nobody waits for an answer.",
            "default": True,
        },
    ),
)
"""When a method that may be either is sent as which. Section 4.1."""

SCOPE_EVALUATION: Final[tables.Table[ScopeEvaluationStep]] = tables.Table(
    lazy.Lazy("kinwire_protocols.mcpl.models.ScopeEvaluationStep"),
    (
        {"step": 1, "condition": "The label matches the blacklist.", "outcome": "deny"},
        {"step": 2, "condition": "The label matches the whitelist.", "outcome": "approve"},
        {"step": 3, "condition": "Neither matches.", "outcome": "ask"},
    ),
)
"""How a host judges a scope that a server asks for; the first rule that holds decides. Section 7.6."""

CONTENT_FORMS: Final[tables.Table[ContentForm]] = tables.Table(
    lazy.Lazy("kinwire_protocols.mcpl.models.ContentForm"),
    (
        {"type": "text", "members": ["text"]},
        {"type": "image", "members": ["data", "mimeType"]},
        {"type": "image", "members": ["uri"]},
        {"type": "audio", "members": ["data", "mimeType"]},
        {"type": "audio", "members": ["uri"]},
        {"type": "resource", "members": ["uri"]},
    ),
)
"""The kinds of content, and the fields that each may have. Section 10.3."""

CAPABILITY_RISKS: Final[tables.KeyedTable[CapabilityRisk]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mcpl.models.CapabilityRisk"),
    "capability",
    (
        {
            "capability": "pushEvents",
            "risk": "Costs money and attention.",
            "mitigation": "Disable feature sets that push.",
        },
        {
            "capability": "contextHooks.beforeInference",
            "risk": "Reads the context and puts content into it.",
            "mitigation": "Read what the feature sets say of themselves.",
        },
        {
            "capability": "contextHooks.afterInference",
            "risk": "Reads responses, and may change them.",
            "mitigation": "Disable hooks that block.",
        },
        {
            "capability": "inferenceRequest",
            "risk": "Spends the budget for inference.",
            "mitigation": "Disable feature sets that cost much.",
        },
        {
            "capability": "scopes",
            "risk": "Reaches further than was meant.",
            "mitigation": "Set patterns in whitelist and blacklist.",
        },
    ),
)
"""What each capability puts at risk, and what a host can do about it. Section 13.1."""

AUDIT_FIELDS: Final[tables.KeyedTable[AuditField]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mcpl.models.AuditField"),
    "name",
    (
        {"name": "serverId", "required": True, "meaning": "Which server."},
        {"name": "featureSet", "required": True, "meaning": "Which of its feature sets."},
        {
            "name": "inferenceId",
            "required": False,
            "meaning": "Which inference, where there is one.",
        },
        {"name": "timestamp", "required": True, "meaning": "When."},
        {
            "name": "outcome",
            "required": True,
            "meaning": "How it ended: `success`, `failure` or `timeout`.",
        },
    ),
)
"""What a host writes down of each operation. Section 13.2."""

FAILURE_POLICIES: Final[tables.KeyedTable[FailurePolicy]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mcpl.models.FailurePolicy"),
    "name",
    (
        {"name": "fail-open", "effect": "Show the response unchanged.", "recommended": True},
        {
            "name": "fail-closed",
            "effect": "Show an error instead of the response.",
            "recommended": False,
        },
    ),
)
"""What a host does when a blocking hook fails or is late. Section 13.3."""

CHANNEL_FEATURE_SETS: Final[tables.KeyedTable[ChannelFeatureSet]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mcpl.models.ChannelFeatureSet"),
    "name",
    (
        {
            "name": "channels.publish",
            "uses": "channels.publish",
            "publishing": True,
            "meaning": "Publish to registered channels.",
        },
        {
            "name": "channels.observe",
            "uses": "channels.observe",
            "publishing": False,
            "meaning": "See what goes out and comes in.",
        },
        {
            "name": "channels.thinking",
            "uses": "channels.observe",
            "publishing": False,
            "meaning": "See a private channel for thoughts; nothing can be published to it.",
        },
    ),
)
"""Feature sets that gate what a server does with channels. Section 14.1."""

CAPABILITY_VERSION: Final = "0.4"
"""What both sides write as `version` of their offer. Section 5.1."""

BEFORE_INFERENCE_TIMEOUT: Final = 5
"""How long a host waits for the answer to `context/beforeInference`; then it goes on without. In seconds. Section 10.6."""

AFTER_INFERENCE_TIMEOUT: Final = 10
"""How long a host waits for the answer to a blocking `context/afterInference`; then it goes on without. In seconds. Section 10.6."""

FIRST_TURN_INDEX: Final = 0
"""The number of a conversation's first turn. Section 10.1."""

STREAM_DEFAULT: Final = False
"""Whether an inference is streamed where the request does not say. Section 11.2."""
