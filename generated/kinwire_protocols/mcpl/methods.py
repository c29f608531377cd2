"""The method table of MCP Live. Generated from mcpl.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kinwire_protocols import lazy
from kinwire_protocols.jsonrpc import errors as jsonrpc_errors
from kinwire_protocols.mcpl import errors
from kinwire_protocols.peer import Method, ProtocolTable

if TYPE_CHECKING:
    from kinwire_protocols.mcp.models import EmptyResult, RequestParams
    from kinwire_protocols.mcpl.models import (
        AfterInferenceParams,
        AfterInferenceResult,
        BeforeInferenceParams,
        BeforeInferenceResult,
        ChannelsChangedParams,
        ChannelsCloseParams,
        ChannelsCloseResult,
        ChannelSignal,
        ChannelsIncomingParams,
        ChannelsIncomingResult,
        ChannelsListResult,
        ChannelsOpenParams,
        ChannelsOpenResult,
        ChannelsOutgoingChunkParams,
        ChannelsOutgoingCompleteParams,
        ChannelsPublishParams,
        ChannelsPublishResult,
        ChannelsRegisterParams,
        FeatureSetsChangedParams,
        FeatureSetsUpdateParams,
        FeatureSetsUpdateResult,
        InferenceChunkParams,
        InferenceRequestParams,
        InferenceRequestResult,
        ModelInfo,
        PushEventParams,
        PushEventResult,
        RollbackParams,
        RollbackResult,
        ScopeElevateParams,
        ScopeElevateResult,
    )

PUSH_EVENT: Final[Method[PushEventParams, PushEventResult]] = Method(
    name="push/event",
    protocol="mcpl",
    attribute="push_event",
    kind="request",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.PushEventParams"),
    result=lazy.Lazy("kinwire_protocols.mcpl.models.PushEventResult"),
    errors=(
        errors.CapabilityDeniedError,
        errors.FeatureSetNotEnabledError,
        errors.UnknownFeatureSetError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mcpl:pushEvents",
    section="9.1",
)
"""Tell the host of something that happened outside and may be worth an inference."""

CONTEXT_BEFORE_INFERENCE: Final[Method[BeforeInferenceParams, BeforeInferenceResult]] = Method(
    name="context/beforeInference",
    protocol="mcpl",
    attribute="context_before_inference",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.BeforeInferenceParams"),
    result=lazy.Lazy("kinwire_protocols.mcpl.models.BeforeInferenceResult"),
    errors=(
        errors.CapabilityDeniedError,
        errors.FeatureSetNotEnabledError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mcpl:contextHooks.beforeInference",
    section="10.1",
)
"""Ask for context before the model is run."""

CONTEXT_AFTER_INFERENCE: Final[Method[AfterInferenceParams, AfterInferenceResult]] = Method(
    name="context/afterInference",
    protocol="mcpl",
    attribute="context_after_inference",
    kind="either",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.AfterInferenceParams"),
    result=lazy.Lazy("kinwire_protocols.mcpl.models.AfterInferenceResult"),
    errors=(
        errors.CapabilityDeniedError,
        errors.FeatureSetNotEnabledError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mcpl:contextHooks.afterInference",
    section="10.5",
)
"""Show what the model wrote; asked as a request, the server may put something else in its place."""

INFERENCE_REQUEST: Final[Method[InferenceRequestParams, InferenceRequestResult]] = Method(
    name="inference/request",
    protocol="mcpl",
    attribute="inference_request",
    kind="request",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.InferenceRequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcpl.models.InferenceRequestResult"),
    errors=(
        errors.CapabilityDeniedError,
        errors.FeatureSetNotEnabledError,
        errors.UnknownFeatureSetError,
        jsonrpc_errors.InvalidRequestError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mcpl:inferenceRequest",
    section="11.1",
)
"""Have the host's model run without a person in between."""

INFERENCE_CHUNK: Final[Method[InferenceChunkParams, None]] = Method(
    name="inference/chunk",
    protocol="mcpl",
    attribute="inference_chunk",
    kind="notification",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.InferenceChunkParams"),
    result=None,
    gate="mcpl:inferenceRequest.streaming",
    section="11.4",
    serial=True,
)
"""Hand on a piece of an answer that was asked for as a stream."""

MODEL_INFO: Final[Method[RequestParams, ModelInfo]] = Method(
    name="model/info",
    protocol="mcpl",
    attribute="model_info",
    kind="request",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcp.models.RequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcpl.models.ModelInfo"),
    errors=(
        errors.CapabilityDeniedError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InternalError,
    ),
    gate="server:experimental.mcpl.modelInfo",
    section="12.1",
)
"""Ask which model the host runs at the moment."""

FEATURE_SETS_UPDATE: Final[Method[FeatureSetsUpdateParams, FeatureSetsUpdateResult]] = Method(
    name="featureSets/update",
    protocol="mcpl",
    attribute="feature_sets_update",
    kind="either",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.FeatureSetsUpdateParams"),
    result=lazy.Lazy("kinwire_protocols.mcpl.models.FeatureSetsUpdateResult"),
    errors=(
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    section="6.7",
    serial=True,
)
"""Enable and disable feature sets, and say which scopes are open."""

FEATURE_SETS_CHANGED: Final[Method[FeatureSetsChangedParams, None]] = Method(
    name="featureSets/changed",
    protocol="mcpl",
    attribute="feature_sets_changed",
    kind="notification",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.FeatureSetsChangedParams"),
    result=None,
    section="6.7",
    serial=True,
)
"""Say that the server has new feature sets, or has lost some."""

SCOPE_ELEVATE: Final[Method[ScopeElevateParams, ScopeElevateResult]] = Method(
    name="scope/elevate",
    protocol="mcpl",
    attribute="scope_elevate",
    kind="request",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.ScopeElevateParams"),
    result=lazy.Lazy("kinwire_protocols.mcpl.models.ScopeElevateResult"),
    errors=(
        errors.CapabilityDeniedError,
        errors.FeatureSetNotEnabledError,
        errors.UnknownFeatureSetError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    section="7.4",
)
"""Ask the host to approve a scope that is not on the whitelist."""

STATE_ROLLBACK: Final[Method[RollbackParams, RollbackResult]] = Method(
    name="state/rollback",
    protocol="mcpl",
    attribute="state_rollback",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.RollbackParams"),
    result=lazy.Lazy("kinwire_protocols.mcpl.models.RollbackResult"),
    errors=(
        errors.CapabilityDeniedError,
        errors.CheckpointNotFoundError,
        errors.FeatureSetNotEnabledError,
        errors.UnknownFeatureSetError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    section="8.5",
)
"""Return a feature set to an earlier checkpoint."""

CHANNELS_REGISTER: Final[Method[ChannelsRegisterParams, EmptyResult]] = Method(
    name="channels/register",
    protocol="mcpl",
    attribute="channels_register",
    kind="request",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelsRegisterParams"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.EmptyResult"),
    errors=(
        errors.CapabilityDeniedError,
        errors.ChannelNotPermittedError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mcpl:channels.register",
    section="14.3",
)
"""Name the channels that the server serves."""

CHANNELS_CHANGED: Final[Method[ChannelsChangedParams, None]] = Method(
    name="channels/changed",
    protocol="mcpl",
    attribute="channels_changed",
    kind="notification",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelsChangedParams"),
    result=None,
    gate="mcpl:channels.register",
    section="14.3",
    serial=True,
)
"""Say which channels came, went or changed."""

CHANNELS_LIST: Final[Method[RequestParams, ChannelsListResult]] = Method(
    name="channels/list",
    protocol="mcpl",
    attribute="channels_list",
    kind="request",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mcp.models.RequestParams"),
    result=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelsListResult"),
    errors=(
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InternalError,
    ),
    gate="mcpl:channels",
    section="14.3",
)
"""List the channels that the other side knows on this connection."""

CHANNELS_OPEN: Final[Method[ChannelsOpenParams, ChannelsOpenResult]] = Method(
    name="channels/open",
    protocol="mcpl",
    attribute="channels_open",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelsOpenParams"),
    result=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelsOpenResult"),
    errors=(
        errors.CapabilityDeniedError,
        errors.ChannelOpenFailedError,
        errors.ChannelNotPermittedError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mcpl:channels.lifecycle",
    section="14.3",
)
"""Have the server open or join a channel."""

CHANNELS_CLOSE: Final[Method[ChannelsCloseParams, ChannelsCloseResult]] = Method(
    name="channels/close",
    protocol="mcpl",
    attribute="channels_close",
    kind="request",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelsCloseParams"),
    result=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelsCloseResult"),
    errors=(
        errors.CapabilityDeniedError,
        errors.UnknownChannelError,
        errors.ChannelNotPermittedError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mcpl:channels.lifecycle",
    section="14.3",
)
"""Have the server close or leave a channel."""

CHANNELS_OUTGOING_CHUNK: Final[Method[ChannelsOutgoingChunkParams, None]] = Method(
    name="channels/outgoing/chunk",
    protocol="mcpl",
    attribute="channels_outgoing_chunk",
    kind="notification",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelsOutgoingChunkParams"),
    result=None,
    gate="mcpl:channels.streaming",
    section="14.3",
    serial=True,
)
"""Show an observer a moderated piece of what the model writes to a channel."""

CHANNELS_OUTGOING_COMPLETE: Final[Method[ChannelsOutgoingCompleteParams, None]] = Method(
    name="channels/outgoing/complete",
    protocol="mcpl",
    attribute="channels_outgoing_complete",
    kind="notification",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelsOutgoingCompleteParams"),
    result=None,
    gate="mcpl:channels.observe",
    section="14.3",
    serial=True,
)
"""Show an observer the whole moderated content that goes to a channel."""

CHANNELS_PUBLISH: Final[Method[ChannelsPublishParams, ChannelsPublishResult]] = Method(
    name="channels/publish",
    protocol="mcpl",
    attribute="channels_publish",
    kind="either",
    sender="client",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelsPublishParams"),
    result=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelsPublishResult"),
    errors=(
        errors.CapabilityDeniedError,
        errors.UnknownChannelError,
        errors.ChannelNotPermittedError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mcpl:channels.publish",
    section="14.3",
)
"""Have the server deliver content to a channel."""

CHANNELS_TYPING: Final[Method[ChannelSignal, EmptyResult]] = Method(
    name="channels/typing",
    protocol="mcpl",
    attribute="channels_typing",
    kind="either",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelSignal"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.EmptyResult"),
    errors=(
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    section="Ours",
)
"""Say that somebody is writing on a channel."""

CHANNELS_ACKNOWLEDGE: Final[Method[ChannelSignal, EmptyResult]] = Method(
    name="channels/acknowledge",
    protocol="mcpl",
    attribute="channels_acknowledge",
    kind="either",
    sender="both",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelSignal"),
    result=lazy.Lazy("kinwire_protocols.mcp.models.EmptyResult"),
    errors=(
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    section="Ours",
)
"""Say that a message of a channel was seen."""

CHANNELS_INCOMING: Final[Method[ChannelsIncomingParams, ChannelsIncomingResult]] = Method(
    name="channels/incoming",
    protocol="mcpl",
    attribute="channels_incoming",
    kind="request",
    sender="server",
    params=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelsIncomingParams"),
    result=lazy.Lazy("kinwire_protocols.mcpl.models.ChannelsIncomingResult"),
    errors=(
        errors.CapabilityDeniedError,
        errors.ChannelNotPermittedError,
        jsonrpc_errors.MethodNotFoundError,
        jsonrpc_errors.InvalidParamsError,
        jsonrpc_errors.InternalError,
    ),
    gate="mcpl:channels",
    section="14.3",
)
"""Hand over messages that came in on channels, several together where a channel is busy."""

PROTOCOL: Final = ProtocolTable(
    name="mcpl",
    title="MCP Live",
    version="0.4.1-draft",
    capability="experimental.mcpl",
    offers=lazy.LazyTypes(
        {
            "client": "kinwire_protocols.mcpl.models.McplCapability",
            "server": "kinwire_protocols.mcpl.models.McplCapability",
        }
    ),
    methods={
        "push/event": PUSH_EVENT,
        "context/beforeInference": CONTEXT_BEFORE_INFERENCE,
        "context/afterInference": CONTEXT_AFTER_INFERENCE,
        "inference/request": INFERENCE_REQUEST,
        "inference/chunk": INFERENCE_CHUNK,
        "model/info": MODEL_INFO,
        "featureSets/update": FEATURE_SETS_UPDATE,
        "featureSets/changed": FEATURE_SETS_CHANGED,
        "scope/elevate": SCOPE_ELEVATE,
        "state/rollback": STATE_ROLLBACK,
        "channels/register": CHANNELS_REGISTER,
        "channels/changed": CHANNELS_CHANGED,
        "channels/list": CHANNELS_LIST,
        "channels/open": CHANNELS_OPEN,
        "channels/close": CHANNELS_CLOSE,
        "channels/outgoing/chunk": CHANNELS_OUTGOING_CHUNK,
        "channels/outgoing/complete": CHANNELS_OUTGOING_COMPLETE,
        "channels/publish": CHANNELS_PUBLISH,
        "channels/typing": CHANNELS_TYPING,
        "channels/acknowledge": CHANNELS_ACKNOWLEDGE,
        "channels/incoming": CHANNELS_INCOMING,
    },
    errors={
        "CapabilityDenied": errors.CapabilityDeniedError,
        "FeatureSetNotEnabled": errors.FeatureSetNotEnabledError,
        "UnknownFeatureSet": errors.UnknownFeatureSetError,
        "CheckpointNotFound": errors.CheckpointNotFoundError,
        "ChannelNotPermitted": errors.ChannelNotPermittedError,
        "UnknownChannel": errors.UnknownChannelError,
        "ChannelOpenFailed": errors.ChannelOpenFailedError,
    },
    error_data=lazy.LazyTypes(
        {
            "FeatureSetNotEnabled": "kinwire_protocols.mcpl.models.FeatureSetErrorData",
            "UnknownFeatureSet": "kinwire_protocols.mcpl.models.FeatureSetErrorData",
            "CheckpointNotFound": "kinwire_protocols.mcpl.models.CheckpointNotFoundData",
        }
    ),
    added_errors={
        "tools/call": (
            errors.FeatureSetNotEnabledError,
            errors.CheckpointNotFoundError,
        ),
    },
    augments_in="kinwire_protocols.mcpl.augments",
)
"""The protocol as a table."""
