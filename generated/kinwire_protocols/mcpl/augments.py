"""What MCP Live adds to messages of others. Generated from mcpl.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic_core import MISSING

from kinwire_protocols import augment, lazy
from kinwire_protocols.mcpl import errors

if TYPE_CHECKING:
    from kinwire_protocols.mcp.models import CallToolRequestParams, CallToolResult, Tool
    from kinwire_protocols.mcpl.models import (
        CheckpointId,
        FeatureSetName,
        Scope,
        StateData,
        StateUpdate,
    )

TOOLS_CALL_PARAMS_SCOPE: Final[augment.Augment[CallToolRequestParams, Scope | None]] = (
    augment.Augment(
        protocol="mcpl",
        to="tools/call params",
        member="scope",
        type=lazy.Lazy("kinwire_protocols.mcpl.models.Scope"),
        message=lazy.Lazy("kinwire_protocols.mcp.models.CallToolRequestParams"),
        sender="client",
        errors=(errors.FeatureSetNotEnabledError,),
        section="7.7",
    )
)
"""The scope in which the tool acts, in addition to its arguments."""

TOOLS_CALL_PARAMS_STATE: Final[augment.Augment[CallToolRequestParams, StateData | MISSING]] = (
    augment.Augment(
        protocol="mcpl",
        to="tools/call params",
        member="state",
        type=lazy.Lazy("kinwire_protocols.mcpl.models.StateData"),
        message=lazy.Lazy("kinwire_protocols.mcp.models.CallToolRequestParams"),
        nullable=True,
        sender="client",
        section="8.4",
    )
)
"""The state that the host keeps for the tool's feature set, whole and without wrapping."""

TOOLS_CALL_PARAMS_CHECKPOINT: Final[augment.Augment[CallToolRequestParams, CheckpointId | None]] = (
    augment.Augment(
        protocol="mcpl",
        to="tools/call params",
        member="checkpoint",
        type=lazy.Lazy("kinwire_protocols.mcpl.models.CheckpointId"),
        message=lazy.Lazy("kinwire_protocols.mcp.models.CallToolRequestParams"),
        sender="client",
        errors=(errors.CheckpointNotFoundError,),
        section="8.4",
    )
)
"""The checkpoint that the call builds on, where the server keeps the state itself."""

TOOLS_CALL_RESULT_STATE: Final[augment.Augment[CallToolResult, StateUpdate | None]] = (
    augment.Augment(
        protocol="mcpl",
        to="tools/call result",
        member="state",
        type=lazy.Lazy("kinwire_protocols.mcpl.models.StateUpdate"),
        message=lazy.Lazy("kinwire_protocols.mcp.models.CallToolResult"),
        sender="server",
        section="8.2",
    )
)
"""The checkpoint that the call has made, with what the host needs to keep it."""

TOOL_FEATURE_SET: Final[augment.Augment[Tool, FeatureSetName | None]] = augment.Augment(
    protocol="mcpl",
    to="mcp#Tool",
    member="featureSet",
    type=lazy.Lazy("kinwire_protocols.mcpl.models.FeatureSetName"),
    message=lazy.Lazy("kinwire_protocols.mcp.models.Tool"),
    sender="server",
    section="8.2",
)
"""The feature set that the tool belongs to."""

AUGMENTS: Final[tuple[augment.AnyAugment, ...]] = (
    TOOLS_CALL_PARAMS_SCOPE,
    TOOLS_CALL_PARAMS_STATE,
    TOOLS_CALL_PARAMS_CHECKPOINT,
    TOOLS_CALL_RESULT_STATE,
    TOOL_FEATURE_SET,
)
"""All of them, in the order of the document."""
