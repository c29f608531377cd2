"""What Model General Protocol adds to messages of others. Generated from mgp.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kinwire_protocols import augment, lazy
from kinwire_protocols.mgp import errors

if TYPE_CHECKING:
    from kinwire_protocols.mcp.models import (
        CallToolRequestParams,
        CallToolResult,
        ClientCapabilities,
        ServerCapabilities,
        Tool,
    )
    from kinwire_protocols.mgp.models import (
        ClientOffer,
        ErrorRecovery,
        ServerOffer,
        ToolCallExtras,
        ToolResultExtras,
        ToolSecurity,
        TraceId,
    )

CLIENT_CAPABILITIES_MGP: Final[augment.Augment[ClientCapabilities, ClientOffer | None]] = (
    augment.Augment(
        protocol="mgp",
        to="mcp#ClientCapabilities",
        member="mgp",
        type=lazy.Lazy("kinwire_protocols.mgp.models.ClientOffer"),
        message=lazy.Lazy("kinwire_protocols.mcp.models.ClientCapabilities"),
        sender="client",
        section="2.2",
    )
)
"""What the client can do of MGP."""

SERVER_CAPABILITIES_MGP: Final[augment.Augment[ServerCapabilities, ServerOffer | None]] = (
    augment.Augment(
        protocol="mgp",
        to="mcp#ServerCapabilities",
        member="mgp",
        type=lazy.Lazy("kinwire_protocols.mgp.models.ServerOffer"),
        message=lazy.Lazy("kinwire_protocols.mcp.models.ServerCapabilities"),
        sender="server",
        section="2.3",
    )
)
"""What the server can do of MGP."""

TOOL_SECURITY: Final[augment.Augment[Tool, ToolSecurity | None]] = augment.Augment(
    protocol="mgp",
    to="mcp#Tool",
    member="security",
    type=lazy.Lazy("kinwire_protocols.mgp.models.ToolSecurity"),
    message=lazy.Lazy("kinwire_protocols.mcp.models.Tool"),
    sender="server",
    section="4.2",
)
"""What the tool says about its own risk."""

TOOLS_CALL_PARAMS_MGP: Final[augment.Augment[CallToolRequestParams, ToolCallExtras | None]] = (
    augment.Augment(
        protocol="mgp",
        to="tools/call params",
        member="_mgp",
        type=lazy.Lazy("kinwire_protocols.mgp.models.ToolCallExtras"),
        message=lazy.Lazy("kinwire_protocols.mcp.models.CallToolRequestParams"),
        sender="client",
        errors=(
            errors.PermissionDeniedError,
            errors.AccessDeniedError,
            errors.AuthRequiredError,
            errors.AuthExpiredError,
            errors.ValidationBlockedError,
            errors.CodeSafetyViolationError,
            errors.ServerNotReadyError,
            errors.ServerDrainingError,
            errors.ServerRestartingError,
            errors.RateLimitedError,
            errors.ResourceExhaustedError,
            errors.QuotaExceededError,
            errors.TimedOutError,
            errors.InvalidToolArgsError,
            errors.ToolNotFoundError,
            errors.ToolDisabledError,
            errors.UpstreamError,
            errors.UpstreamTimeoutError,
            errors.UpstreamUnavailableError,
        ),
        section="12.3",
    )
)
"""Whether partial results are wanted."""

TOOLS_CALL_RESULT_MGP: Final[augment.Augment[CallToolResult, ToolResultExtras | None]] = (
    augment.Augment(
        protocol="mgp",
        to="tools/call result",
        member="_mgp",
        type=lazy.Lazy("kinwire_protocols.mgp.models.ToolResultExtras"),
        message=lazy.Lazy("kinwire_protocols.mcp.models.CallToolResult"),
        sender="server",
        section="12.5",
    )
)
"""Whether the result was streamed, and how."""

EVERY_PARAMS_TRACE_ID: Final[augment.EveryAugment[TraceId | None]] = augment.EveryAugment(
    protocol="mgp",
    to="every params",
    member="trace_id",
    type=lazy.Lazy("kinwire_protocols.mgp.models.TraceId"),
    sender="both",
    section="6.5",
)
"""What the request belongs to."""

EVERY_ERROR_MGP: Final[augment.ErrorAugment[ErrorRecovery | None]] = augment.ErrorAugment(
    protocol="mgp",
    to="every error",
    member="_mgp",
    type=lazy.Lazy("kinwire_protocols.mgp.models.ErrorRecovery"),
    sender="both",
    section="14.4",
)
"""What to do about the error."""

AUGMENTS: Final[tuple[augment.AnyAugment, ...]] = (
    CLIENT_CAPABILITIES_MGP,
    SERVER_CAPABILITIES_MGP,
    TOOL_SECURITY,
    TOOLS_CALL_PARAMS_MGP,
    TOOLS_CALL_RESULT_MGP,
    EVERY_PARAMS_TRACE_ID,
    EVERY_ERROR_MGP,
)
"""All of them, in the order of the document."""
