"""Data of MCP-lite outside its messages. Generated from mcp-lite.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kinwire_protocols import lazy, tables

if TYPE_CHECKING:
    from kinwire_protocols.mcplite.models import Binding, ResponseTypeRule

RESPONSE_TYPES: Final[tables.KeyedTable[ResponseTypeRule]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mcplite.models.ResponseTypeRule"),
    "response_type",
    (
        {
            "response_type": "answer",
            "meaning": "The task is done, and this is its result.",
            "member": "content",
            "final": True,
        },
        {
            "response_type": "promise",
            "meaning": "The task takes long, and its result is to be had for this token.",
            "member": "_meta.promise_token",
            "final": False,
        },
        {
            "response_type": "elicitation",
            "meaning": "More has to be known first.",
            "member": "elicitation",
            "final": False,
        },
        {
            "response_type": "failure",
            "meaning": "The task failed; the protocol did not.",
            "member": "error",
            "final": True,
        },
        {"response_type": "request-for-more-resource", "meaning": "Not described.", "final": False},
    ),
)
"""What the kinds of response mean, and what goes with them. Section 3.4."""

BINDINGS: Final[tables.KeyedTable[Binding]] = tables.KeyedTable(
    lazy.Lazy("kinwire_protocols.mcplite.models.Binding"),
    "name",
    (
        {
            "name": "HTTP",
            "status": "stable",
            "suits": [
                "web applications",
                "broad compatibility",
                "existing HTTP infrastructure",
                "simple debugging",
            ],
        },
        {
            "name": "gRPC",
            "status": "stable",
            "suits": [
                "service-to-service communication",
                "an efficient binary protocol",
                "streaming",
                "strong typing",
            ],
        },
        {
            "name": "WebSocket",
            "status": "considered",
            "suits": ["persistent connections", "messages both ways"],
        },
        {"name": "stdio", "status": "considered", "suits": ["command lines", "local integrations"]},
    ),
)
"""The transports that the protocol is defined over, or may be. Section 2.1."""

HTTP: Final = tables.HttpBinding(
    base="/mcp-lite/v1/",
    verb="POST",
    content_type="application/json",
    paths={
        "listtools": tables.HttpPath(
            path="/mcp-lite/v1/listtools",
            aliases=("tools",),
            method="tools/list",
            enveloped=False,
        ),
        "calltools": tables.HttpPath(
            path="/mcp-lite/v1/calltools",
            aliases=("calltoolsEndpoint", "rpc"),
            method="tools/call",
            enveloped=True,
        ),
    },
    events={
        "message": "PartialResult",
        "done": "StreamEnd",
        "error": "ErrorObject",
        "heartbeat": "Heartbeat",
    },
)
"""HTTP/1.1 or HTTP/2, UTF-8, every request a POST. Section 4."""
