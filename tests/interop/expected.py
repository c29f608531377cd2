"""What has to come of each method, by peer; `clients/flow.py` says what is asked."""

from __future__ import annotations

__all__ = ("EXPECTED", "KEEP_ALL", "KEPT", "REFUSALS")

from collections.abc import Mapping
from typing import Any

Facts = Mapping[str, Any]

TEXT = "grüße, 世界 \U0001f600\u2028"
TOOLS = ["ask", "change", "count", "echo", "heard", "knock", "speak", "wait", "where"]
ROOT = "file:///home/ada"
INVALID_PARAMS = -32602

CONTRACT: Facts = {
    "initialize": {"server": "interop", "version": "2024-11-05"},
    "tools/list": TOOLS,
    "tools/call": TEXT,
    "resources/list": ["memo://today"],
    "resources/templates/list": ["memo://day/{day}"],
    "resources/read": "Water the plants.",
    "prompts/list": ["plan"],
    "prompts/get": "Plan my Monday.",
    "completion/complete": ["Tuesday", "Thursday"],
    "ping": "answered",
    "sampling/createMessage": "deep-thought: 42",
    "roots/list": ROOT,
    "notifications/progress": [[1, 3], [2, 3], [3, 3]],
    "notifications/message": [["notice", {"said": "hello"}]],
    "notifications/resources/updated": 1,
    "notifications/tools/list_changed": 2,
    "notifications/resources/list_changed": 2,
    "notifications/prompts/list_changed": 2,
    "notifications/cancelled": "heard",
    "notifications/roots/list_changed": "heard",
}

INSPECTOR: Facts = {
    "ping": {"content": [{"type": "text", "text": "answered"}]},
    "roots/list": {"content": [{"type": "text", "text": ""}]},
    "resources/read": {"contents": [{"uri": "memo://today", "text": "Water the plants."}]},
    "prompts/get": {
        "description": "Plan a day.",
        "messages": [{"role": "user", "content": {"type": "text", "text": "Plan my Monday."}}],
    },
}

EVERYTHING: Facts = {
    "initialize": {"server": "mcp-servers/everything", "version": "2024-11-05"},
    "tools/list": ["echo", "get-sum", "get-tiny-image", "trigger-sampling-request"],
    "tools/call": [f"Echo: {TEXT}", True],
    "resources/list": ["demo://resource/static/document/architecture.md"],
    "resources/templates/list": [
        "demo://resource/dynamic/text/{resourceId}",
        "demo://resource/dynamic/blob/{resourceId}",
    ],
    "resources/read": "Resource 1",
    "prompts/list": ["args-prompt", "completable-prompt", "resource-prompt", "simple-prompt"],
    "prompts/get": "What's weather in Ulm?",
    "completion/complete": ["Sales", "Support"],
    "sampling/createMessage": "deep-thought",
    "notifications/progress": [[1, 3], [2, 3], [3, 3]],
    "notifications/resources/updated": "demo://resource/dynamic/text/1",
    "notifications/message": "Roots updated: 2 root(s) received from client",
    "roots/list": True,
}

FILESYSTEM: Facts = {
    "initialize": {"server": "secure-filesystem-server", "version": "2024-11-05"},
    "tools/list": 14,
    "tools/call": [TEXT, "isError"],
}

MEMORY: Facts = {
    "initialize": {"server": "memory-server", "version": "2024-11-05"},
    "tools/list": 9,
    "tools/call": [{"name": "Ada", "entityType": "person", "observations": [TEXT]}],
    "resources/list": ["memory://knowledge-graph"],
    "resources/templates/list": [],
    "resources/read": [{"name": "Ada", "entityType": "person", "observations": [TEXT]}],
    "notifications/resources/updated": "memory://knowledge-graph",
}

EXPECTED: Mapping[str, Facts] = {
    **{
        f"client {name}": CONTRACT
        for name in ("mcp1", "mcp2", "fastmcp", "typescript1", "typescript2", "ai_sdk")
    },
    "client inspector": INSPECTOR,
    "server mcp1": CONTRACT,
    "server mcp2": CONTRACT,
    "server fastmcp": {
        **CONTRACT,
        "notifications/message": [["notice", {"msg": "hello", "extra": None}]],  # its own form
    },
    "server everything": EVERYTHING,
    "server filesystem": FILESYSTEM,
    "server memory": MEMORY,
}

REFUSALS: Mapping[str, tuple[int | str, int | str]] = {
    **{
        f"client {name}": (INVALID_PARAMS, INVALID_PARAMS)
        for name in ("mcp1", "mcp2", "fastmcp", "typescript1", "typescript2", "ai_sdk")
    },
    "server mcp1": ("isError", "isError"),
    "server mcp2": (0, 0),  # the code of whatever a handler of its lower level raises
    "server fastmcp": ("isError", "isError"),
}
"""How a tool that does not exist, and arguments that do not fit, are answered."""

KEEP_ALL = {
    "capabilities.mgp": True,
    "capabilities.experimental.mcpl": True,
    "tool.security": True,
    "tool._meta.security": True,
}
KEEP_WHAT_IS_MADE_FOR_IT = {**KEEP_ALL, "capabilities.mgp": False, "tool.security": False}

KEPT: Mapping[str, Mapping[str, bool]] = {
    "mcp1": KEEP_ALL,
    "mcp2": KEEP_WHAT_IS_MADE_FOR_IT,
    "fastmcp": KEEP_WHAT_IS_MADE_FOR_IT,
    "typescript1": KEEP_WHAT_IS_MADE_FOR_IT,
    "typescript2": KEEP_WHAT_IS_MADE_FOR_IT,
    "ai_sdk": KEEP_ALL,
}
"""Which members of the server of unknown members each client shows to its users."""
