"""Shapes of MCP 2024-11-05: which members a message has, of which kind, and which it needs."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from pydantic import ValidationError

from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message, from_wire, to_wire
from kinwire_protocols.mcp import methods
from kinwire_protocols.peer import Method


class Shape(NamedTuple):
    """A message with every member, those that it needs, and members that are of a wrong kind."""

    model: type[Message]
    whole: JsonObject
    needed: tuple[str, ...]
    wrong: JsonObject


def shape(*claimed: str, **members: Any) -> Any:
    return pytest.param(Shape(**members), marks=pytest.mark.spec(*claimed), id=claimed[0])


SHAPES = [
    shape(
        "mcp-tool-definition-schema-3",
        model=mcp.Tool,
        whole={
            "name": "get_weather",
            "description": "Weather of a place",
            "inputSchema": {"type": "object"},
            "annotations": {"audience": ["user", "assistant"], "priority": 0.8},
        },
        needed=("name", "inputSchema"),
        wrong={"annotations": ["user"]},
    ),
    shape(
        "mcp-message-content-types-1",
        model=mcp.TextContent,
        whole={"type": "text", "text": "Hello"},
        needed=("text",),
        wrong={"text": None},
    ),
    shape(
        "mcp-message-content-types-2",
        model=mcp.ImageContent,
        whole={"type": "image", "data": "AA==", "mimeType": "image/png"},
        needed=("data", "mimeType"),
        wrong={"data": 5},
    ),
    shape(
        "mcp-message-content-types-3",
        model=mcp.AudioContent,
        whole={"type": "audio", "data": "AA==", "mimeType": "audio/wav"},
        needed=("data", "mimeType"),
        wrong={"mimeType": None},
    ),
    shape(
        "mcp-message-content-types-4",
        model=mcp.EmbeddedResource,
        whole={
            "type": "resource",
            "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": ""},
        },
        needed=("resource",),
        wrong={"resource": {"text": "no address"}},
    ),
    shape(
        "mcp-resource-types-2",
        model=mcp.ResourceTemplate,
        whole={
            "uriTemplate": "db://{table}",
            "name": "table",
            "description": "A table",
            "mimeType": "application/json",
        },
        needed=("uriTemplate", "name"),
        wrong={"uriTemplate": 1},
    ),
    shape(
        "mcp-server-capabilities-1",
        "mcp-server-capabilities-3",
        model=mcp.ServerCapabilities,
        whole={"tools": {"listChanged": True}, "prompts": {"listChanged": False}},
        needed=(),
        wrong={"tools": {"listChanged": "yes"}, "prompts": {"listChanged": 1}},
    ),
    shape(
        "mcp-server-capabilities-2",
        "mcp-server-capabilities-4",
        model=mcp.ServerCapabilities,
        whole={"resources": {"subscribe": True, "listChanged": True}, "logging": {}},
        needed=(),
        wrong={"resources": {"subscribe": 1}, "logging": True},
    ),
    shape(
        "mcp-client-capabilities-1",
        "mcp-client-capabilities-2",
        model=mcp.ClientCapabilities,
        whole={"roots": {"listChanged": True}, "sampling": {}},
        needed=(),
        wrong={"roots": {"listChanged": "yes"}, "sampling": True},
    ),
    shape(
        "mcp-initialize-request-1",
        model=mcp.InitializeRequestParams,
        whole={
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
        },
        needed=("protocolVersion", "capabilities", "clientInfo"),
        wrong={"clientInfo": {"name": "c"}},
    ),
    shape(
        "mcp-initialize-request-3",
        model=mcp.Implementation,
        whole={"name": "c", "version": "1"},
        needed=("name", "version"),
        wrong={"version": 1},
    ),
    shape(
        "mcp-initialize-response-3",
        model=mcp.InitializeResult,
        whole={
            "protocolVersion": "2024-11-05",
            "capabilities": {},
            "serverInfo": {"name": "s", "version": "1"},
            "instructions": "Be brief.",
        },
        needed=("protocolVersion", "capabilities", "serverInfo"),
        wrong={"instructions": ["Be brief."]},
    ),
    shape(
        "mcp-cancellation-1",
        model=mcp.CancelledNotificationParams,
        whole={"requestId": "req-123", "reason": "no longer needed"},
        needed=("requestId",),
        wrong={"requestId": 1.5, "reason": 1},
    ),
    shape(
        "mcp-progress-2",
        model=mcp.ProgressNotificationParams,
        whole={"progressToken": "t", "progress": 50, "total": 100, "message": "half"},
        needed=("progressToken", "progress"),
        wrong={"progressToken": None, "progress": "50", "total": "100"},
    ),
    shape(
        "mcp-sampling-createmessage-request-1",
        "mcp-sampling-createmessage-request-2",
        model=mcp.CreateMessageRequestParams,
        whole={
            "messages": [{"role": "user", "content": {"type": "text", "text": "Hi"}}],
            "maxTokens": 1000,
            "modelPreferences": {"hints": [{"name": "m"}], "costPriority": 0.3},
            "systemPrompt": "Be brief.",
            "includeContext": "thisServer",
        },
        needed=("messages", "maxTokens"),
        wrong={"maxTokens": "1000", "includeContext": "someServers", "systemPrompt": 1},
    ),
    shape(
        "mcp-logging-1",
        model=mcp.LoggingMessageNotificationParams,
        whole={"level": "warning", "logger": "db", "data": [None]},
        needed=("level", "data"),
        wrong={"level": 4, "logger": 1},
    ),
]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_message_has_these_members_and_needs_some(shape: Shape) -> None:
    assert to_wire(from_wire(shape.model, shape.whole)) == shape.whole
    assert set(shape.whole) <= {
        field.alias or name for name, field in shape.model.model_fields.items()
    }
    for name in shape.whole.keys() - {"type"}:  # the tag has one value, which unions ask for
        rest = {member: value for member, value in shape.whole.items() if member != name}
        if name in shape.needed:
            with pytest.raises(ValidationError, match=name):
                from_wire(shape.model, rest)
        else:
            assert to_wire(from_wire(shape.model, rest)) == rest
    for name, value in shape.wrong.items():
        with pytest.raises(ValidationError, match=name):
            from_wire(shape.model, {**shape.whole, name: value})


@pytest.mark.parametrize(
    ("row", "sender"),
    [
        pytest.param(methods.PING, "both", marks=pytest.mark.spec("mcp-ping-1")),
        (methods.NOTIFICATIONS_CANCELLED, "both"),
        (methods.NOTIFICATIONS_PROGRESS, "both"),
        (methods.COMPLETION_COMPLETE, "client"),
        (methods.NOTIFICATIONS_MESSAGE, "server"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
@pytest.mark.spec("mcp-utilities-specification-1")
def test_a_utility_needs_no_capability_but_completion_and_logging(
    row: Method[Any, Any], sender: str
) -> None:
    assert row.sender == sender
    assert (row.gate is None) == (sender == "both" or row is methods.COMPLETION_COMPLETE)
