"""Handlers of MCP Live. Generated from mcpl.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from kinwire_protocols.jsonrpc.errors import MethodNotFoundError
from kinwire_protocols.mcpl import methods
from kinwire_protocols.peer import Handlers, Method, On, Register

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


class ServerHandlers(Handlers):
    """What a server handles: override what you serve; the rest answers "method not found"."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {
        "context/beforeInference": methods.CONTEXT_BEFORE_INFERENCE,
        "context/afterInference": methods.CONTEXT_AFTER_INFERENCE,
        "inference/chunk": methods.INFERENCE_CHUNK,
        "featureSets/update": methods.FEATURE_SETS_UPDATE,
        "state/rollback": methods.STATE_ROLLBACK,
        "channels/list": methods.CHANNELS_LIST,
        "channels/open": methods.CHANNELS_OPEN,
        "channels/close": methods.CHANNELS_CLOSE,
        "channels/outgoing/chunk": methods.CHANNELS_OUTGOING_CHUNK,
        "channels/outgoing/complete": methods.CHANNELS_OUTGOING_COMPLETE,
        "channels/publish": methods.CHANNELS_PUBLISH,
        "channels/typing": methods.CHANNELS_TYPING,
        "channels/acknowledge": methods.CHANNELS_ACKNOWLEDGE,
    }

    async def context_before_inference(
        self, params: BeforeInferenceParams
    ) -> BeforeInferenceResult:
        """Ask for context before the model is run. (`context/beforeInference`)"""
        raise MethodNotFoundError("Method not found: context/beforeInference")

    async def context_after_inference(self, params: AfterInferenceParams) -> AfterInferenceResult:
        """Show what the model wrote; asked as a request, the server may put something else in its place. (`context/afterInference`)"""
        raise MethodNotFoundError("Method not found: context/afterInference")

    async def inference_chunk(self, params: InferenceChunkParams) -> None:
        """Hand on a piece of an answer that was asked for as a stream. (`inference/chunk`)"""
        # A notification that nobody handles is ignored.

    async def feature_sets_update(self, params: FeatureSetsUpdateParams) -> FeatureSetsUpdateResult:
        """Enable and disable feature sets, and say which scopes are open. (`featureSets/update`)"""
        raise MethodNotFoundError("Method not found: featureSets/update")

    async def state_rollback(self, params: RollbackParams) -> RollbackResult:
        """Return a feature set to an earlier checkpoint. (`state/rollback`)"""
        raise MethodNotFoundError("Method not found: state/rollback")

    async def channels_list(self, params: RequestParams) -> ChannelsListResult:
        """List the channels that the other side knows on this connection. (`channels/list`)"""
        raise MethodNotFoundError("Method not found: channels/list")

    async def channels_open(self, params: ChannelsOpenParams) -> ChannelsOpenResult:
        """Have the server open or join a channel. (`channels/open`)"""
        raise MethodNotFoundError("Method not found: channels/open")

    async def channels_close(self, params: ChannelsCloseParams) -> ChannelsCloseResult:
        """Have the server close or leave a channel. (`channels/close`)"""
        raise MethodNotFoundError("Method not found: channels/close")

    async def channels_outgoing_chunk(self, params: ChannelsOutgoingChunkParams) -> None:
        """Show an observer a moderated piece of what the model writes to a channel. (`channels/outgoing/chunk`)"""
        # A notification that nobody handles is ignored.

    async def channels_outgoing_complete(self, params: ChannelsOutgoingCompleteParams) -> None:
        """Show an observer the whole moderated content that goes to a channel. (`channels/outgoing/complete`)"""
        # A notification that nobody handles is ignored.

    async def channels_publish(self, params: ChannelsPublishParams) -> ChannelsPublishResult:
        """Have the server deliver content to a channel. (`channels/publish`)"""
        raise MethodNotFoundError("Method not found: channels/publish")

    async def channels_typing(self, params: ChannelSignal) -> EmptyResult:
        """Say that somebody is writing on a channel. (`channels/typing`)"""
        raise MethodNotFoundError("Method not found: channels/typing")

    async def channels_acknowledge(self, params: ChannelSignal) -> EmptyResult:
        """Say that a message of a channel was seen. (`channels/acknowledge`)"""
        raise MethodNotFoundError("Method not found: channels/acknowledge")


class ServerOn(On):
    """Where a server registers handlers: `@server.on.NAME`."""

    @property
    def context_before_inference(self) -> Register[BeforeInferenceParams, BeforeInferenceResult]:
        """Ask for context before the model is run. (`context/beforeInference`)"""
        return self(methods.CONTEXT_BEFORE_INFERENCE)

    @property
    def context_after_inference(self) -> Register[AfterInferenceParams, AfterInferenceResult]:
        """Show what the model wrote; asked as a request, the server may put something else in its place. (`context/afterInference`)"""
        return self(methods.CONTEXT_AFTER_INFERENCE)

    @property
    def inference_chunk(self) -> Register[InferenceChunkParams, None]:
        """Hand on a piece of an answer that was asked for as a stream. (`inference/chunk`)"""
        return self(methods.INFERENCE_CHUNK)

    @property
    def feature_sets_update(self) -> Register[FeatureSetsUpdateParams, FeatureSetsUpdateResult]:
        """Enable and disable feature sets, and say which scopes are open. (`featureSets/update`)"""
        return self(methods.FEATURE_SETS_UPDATE)

    @property
    def state_rollback(self) -> Register[RollbackParams, RollbackResult]:
        """Return a feature set to an earlier checkpoint. (`state/rollback`)"""
        return self(methods.STATE_ROLLBACK)

    @property
    def channels_list(self) -> Register[RequestParams, ChannelsListResult]:
        """List the channels that the other side knows on this connection. (`channels/list`)"""
        return self(methods.CHANNELS_LIST)

    @property
    def channels_open(self) -> Register[ChannelsOpenParams, ChannelsOpenResult]:
        """Have the server open or join a channel. (`channels/open`)"""
        return self(methods.CHANNELS_OPEN)

    @property
    def channels_close(self) -> Register[ChannelsCloseParams, ChannelsCloseResult]:
        """Have the server close or leave a channel. (`channels/close`)"""
        return self(methods.CHANNELS_CLOSE)

    @property
    def channels_outgoing_chunk(self) -> Register[ChannelsOutgoingChunkParams, None]:
        """Show an observer a moderated piece of what the model writes to a channel. (`channels/outgoing/chunk`)"""
        return self(methods.CHANNELS_OUTGOING_CHUNK)

    @property
    def channels_outgoing_complete(self) -> Register[ChannelsOutgoingCompleteParams, None]:
        """Show an observer the whole moderated content that goes to a channel. (`channels/outgoing/complete`)"""
        return self(methods.CHANNELS_OUTGOING_COMPLETE)

    @property
    def channels_publish(self) -> Register[ChannelsPublishParams, ChannelsPublishResult]:
        """Have the server deliver content to a channel. (`channels/publish`)"""
        return self(methods.CHANNELS_PUBLISH)

    @property
    def channels_typing(self) -> Register[ChannelSignal, EmptyResult]:
        """Say that somebody is writing on a channel. (`channels/typing`)"""
        return self(methods.CHANNELS_TYPING)

    @property
    def channels_acknowledge(self) -> Register[ChannelSignal, EmptyResult]:
        """Say that a message of a channel was seen. (`channels/acknowledge`)"""
        return self(methods.CHANNELS_ACKNOWLEDGE)


class ClientHandlers(Handlers):
    """What a host handles: override what you serve; the rest answers "method not found"."""

    rows: ClassVar[Mapping[str, Method[Any, Any]]] = {
        "push/event": methods.PUSH_EVENT,
        "inference/request": methods.INFERENCE_REQUEST,
        "model/info": methods.MODEL_INFO,
        "featureSets/changed": methods.FEATURE_SETS_CHANGED,
        "scope/elevate": methods.SCOPE_ELEVATE,
        "channels/register": methods.CHANNELS_REGISTER,
        "channels/changed": methods.CHANNELS_CHANGED,
        "channels/list": methods.CHANNELS_LIST,
        "channels/typing": methods.CHANNELS_TYPING,
        "channels/acknowledge": methods.CHANNELS_ACKNOWLEDGE,
        "channels/incoming": methods.CHANNELS_INCOMING,
    }

    async def push_event(self, params: PushEventParams) -> PushEventResult:
        """Tell the host of something that happened outside and may be worth an inference. (`push/event`)"""
        raise MethodNotFoundError("Method not found: push/event")

    async def inference_request(self, params: InferenceRequestParams) -> InferenceRequestResult:
        """Have the host's model run without a person in between. (`inference/request`)"""
        raise MethodNotFoundError("Method not found: inference/request")

    async def model_info(self, params: RequestParams) -> ModelInfo:
        """Ask which model the host runs at the moment. (`model/info`)"""
        raise MethodNotFoundError("Method not found: model/info")

    async def feature_sets_changed(self, params: FeatureSetsChangedParams) -> None:
        """Say that the server has new feature sets, or has lost some. (`featureSets/changed`)"""
        # A notification that nobody handles is ignored.

    async def scope_elevate(self, params: ScopeElevateParams) -> ScopeElevateResult:
        """Ask the host to approve a scope that is not on the whitelist. (`scope/elevate`)"""
        raise MethodNotFoundError("Method not found: scope/elevate")

    async def channels_register(self, params: ChannelsRegisterParams) -> EmptyResult:
        """Name the channels that the server serves. (`channels/register`)"""
        raise MethodNotFoundError("Method not found: channels/register")

    async def channels_changed(self, params: ChannelsChangedParams) -> None:
        """Say which channels came, went or changed. (`channels/changed`)"""
        # A notification that nobody handles is ignored.

    async def channels_list(self, params: RequestParams) -> ChannelsListResult:
        """List the channels that the other side knows on this connection. (`channels/list`)"""
        raise MethodNotFoundError("Method not found: channels/list")

    async def channels_typing(self, params: ChannelSignal) -> EmptyResult:
        """Say that somebody is writing on a channel. (`channels/typing`)"""
        raise MethodNotFoundError("Method not found: channels/typing")

    async def channels_acknowledge(self, params: ChannelSignal) -> EmptyResult:
        """Say that a message of a channel was seen. (`channels/acknowledge`)"""
        raise MethodNotFoundError("Method not found: channels/acknowledge")

    async def channels_incoming(self, params: ChannelsIncomingParams) -> ChannelsIncomingResult:
        """Hand over messages that came in on channels, several together where a channel is busy. (`channels/incoming`)"""
        raise MethodNotFoundError("Method not found: channels/incoming")


class ClientOn(On):
    """Where a host registers handlers: `@client.on.NAME`."""

    @property
    def push_event(self) -> Register[PushEventParams, PushEventResult]:
        """Tell the host of something that happened outside and may be worth an inference. (`push/event`)"""
        return self(methods.PUSH_EVENT)

    @property
    def inference_request(self) -> Register[InferenceRequestParams, InferenceRequestResult]:
        """Have the host's model run without a person in between. (`inference/request`)"""
        return self(methods.INFERENCE_REQUEST)

    @property
    def model_info(self) -> Register[RequestParams, ModelInfo]:
        """Ask which model the host runs at the moment. (`model/info`)"""
        return self(methods.MODEL_INFO)

    @property
    def feature_sets_changed(self) -> Register[FeatureSetsChangedParams, None]:
        """Say that the server has new feature sets, or has lost some. (`featureSets/changed`)"""
        return self(methods.FEATURE_SETS_CHANGED)

    @property
    def scope_elevate(self) -> Register[ScopeElevateParams, ScopeElevateResult]:
        """Ask the host to approve a scope that is not on the whitelist. (`scope/elevate`)"""
        return self(methods.SCOPE_ELEVATE)

    @property
    def channels_register(self) -> Register[ChannelsRegisterParams, EmptyResult]:
        """Name the channels that the server serves. (`channels/register`)"""
        return self(methods.CHANNELS_REGISTER)

    @property
    def channels_changed(self) -> Register[ChannelsChangedParams, None]:
        """Say which channels came, went or changed. (`channels/changed`)"""
        return self(methods.CHANNELS_CHANGED)

    @property
    def channels_list(self) -> Register[RequestParams, ChannelsListResult]:
        """List the channels that the other side knows on this connection. (`channels/list`)"""
        return self(methods.CHANNELS_LIST)

    @property
    def channels_typing(self) -> Register[ChannelSignal, EmptyResult]:
        """Say that somebody is writing on a channel. (`channels/typing`)"""
        return self(methods.CHANNELS_TYPING)

    @property
    def channels_acknowledge(self) -> Register[ChannelSignal, EmptyResult]:
        """Say that a message of a channel was seen. (`channels/acknowledge`)"""
        return self(methods.CHANNELS_ACKNOWLEDGE)

    @property
    def channels_incoming(self) -> Register[ChannelsIncomingParams, ChannelsIncomingResult]:
        """Hand over messages that came in on channels, several together where a channel is busy. (`channels/incoming`)"""
        return self(methods.CHANNELS_INCOMING)
