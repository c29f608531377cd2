"""Typed calls of MCP Live. Generated from mcpl.json by `kinwire generate`: do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic_core import MISSING

from kinwire_protocols.mcp import models as _mcp_models
from kinwire_protocols.mcpl import methods, models as _mcpl_models
from kinwire_protocols.peer import Peer

if TYPE_CHECKING:
    from kinwire_protocols.mcp.models import EmptyResult, RequestMeta
    from kinwire_protocols.mcpl.models import (
        AfterInferenceResult,
        BeforeInferenceResult,
        Blocks,
        ChannelContext,
        ChannelDescriptor,
        ChannelsCloseResult,
        ChannelsIncomingResult,
        ChannelsListResult,
        ChannelsOpenResult,
        ChannelsPublishResult,
        CheckpointId,
        FeatureSet,
        FeatureSetName,
        FeatureSetPattern,
        FeatureSetsUpdateResult,
        IncomingMessage,
        InferenceMessage,
        InferencePreferences,
        InferenceRequestResult,
        ModelInfo,
        PushEventPayload,
        PushEventResult,
        RollbackResult,
        Scope,
        ScopeElevateResult,
        ScopeRules,
        TokenUsage,
    )


class ServerStub:
    """The server as the host sees it: every method that the host may send."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def context_before_inference(
        self,
        *,
        inference_id: str,
        conversation_id: str,
        turn_index: int,
        user_message: str | None | MISSING = MISSING,
        model: ModelInfo,
        channels: ChannelContext | None = None,
    ) -> BeforeInferenceResult:
        """Ask for context before the model is run.

        context/beforeInference, a request. Source: MCP Live 0.4.1-draft, 10.1.

        Args:
            inference_id: Names the inference.
            conversation_id: Names the conversation; the same in all its turns.
            turn_index: The number of the turn, from 0.
            user_message: What the user said; null where the model goes on without.
            model: The model that is run.
            channels: Which channels it has to do with; hosts may leave it out.

        Raises:
            CapabilityDeniedError: The host has not granted a capability that the message uses.
            FeatureSetNotEnabledError: The message belongs to a feature set that the host has disabled.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.BeforeInferenceParams(
            inference_id=inference_id,
            conversation_id=conversation_id,
            turn_index=turn_index,
            user_message=user_message,
            model=model,
            channels=channels,
        )
        return await self._peer.call(methods.CONTEXT_BEFORE_INFERENCE, params)

    async def context_after_inference(
        self,
        *,
        inference_id: str,
        conversation_id: str,
        turn_index: int,
        user_message: str | None | MISSING = MISSING,
        model: ModelInfo,
        channels: ChannelContext | None = None,
        assistant_message: str,
        usage: TokenUsage | None = None,
    ) -> AfterInferenceResult:
        """Show what the model wrote; asked as a request, the server may put something else in its place.

        context/afterInference, a request. Source: MCP Live 0.4.1-draft, 10.5.

        Args:
            inference_id: Names the inference.
            conversation_id: Names the conversation; the same in all its turns.
            turn_index: The number of the turn, from 0.
            user_message: What the user said; null where the model goes on without.
            model: The model that is run.
            channels: Which channels it has to do with; hosts may leave it out.
            assistant_message: What the model wrote.
            usage: What it cost.

        Raises:
            CapabilityDeniedError: The host has not granted a capability that the message uses.
            FeatureSetNotEnabledError: The message belongs to a feature set that the host has disabled.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.AfterInferenceParams(
            inference_id=inference_id,
            conversation_id=conversation_id,
            turn_index=turn_index,
            user_message=user_message,
            model=model,
            channels=channels,
            assistant_message=assistant_message,
            usage=usage,
        )
        return await self._peer.call(methods.CONTEXT_AFTER_INFERENCE, params)

    async def notify_context_after_inference(
        self,
        *,
        inference_id: str,
        conversation_id: str,
        turn_index: int,
        user_message: str | None | MISSING = MISSING,
        model: ModelInfo,
        channels: ChannelContext | None = None,
        assistant_message: str,
        usage: TokenUsage | None = None,
    ) -> None:
        """Show what the model wrote; asked as a request, the server may put something else in its place.

        context/afterInference, a notification. Source: MCP Live 0.4.1-draft, 10.5.

        Args:
            inference_id: Names the inference.
            conversation_id: Names the conversation; the same in all its turns.
            turn_index: The number of the turn, from 0.
            user_message: What the user said; null where the model goes on without.
            model: The model that is run.
            channels: Which channels it has to do with; hosts may leave it out.
            assistant_message: What the model wrote.
            usage: What it cost.
        """
        params = _mcpl_models.AfterInferenceParams(
            inference_id=inference_id,
            conversation_id=conversation_id,
            turn_index=turn_index,
            user_message=user_message,
            model=model,
            channels=channels,
            assistant_message=assistant_message,
            usage=usage,
        )
        await self._peer.notify(methods.CONTEXT_AFTER_INFERENCE, params)

    async def inference_chunk(self, *, request_id: str | int, index: int, delta: str) -> None:
        """Hand on a piece of an answer that was asked for as a stream.

        inference/chunk, a notification. Source: MCP Live 0.4.1-draft, 11.4.

        Args:
            request_id: The id of the `inference/request` that is answered, unchanged.
            index: Its number, from 0.
            delta: The text that comes next.
        """
        params = _mcpl_models.InferenceChunkParams(request_id=request_id, index=index, delta=delta)
        await self._peer.notify(methods.INFERENCE_CHUNK, params)

    async def feature_sets_update(
        self,
        *,
        enabled: list[FeatureSetPattern] | None = None,
        disabled: list[FeatureSetPattern] | None = None,
        scopes: dict[str, ScopeRules] | None = None,
    ) -> FeatureSetsUpdateResult:
        """Enable and disable feature sets, and say which scopes are open.

        featureSets/update, a request. Source: MCP Live 0.4.1-draft, 6.7.

        Args:
            enabled: Those to enable.
            disabled: Those to disable.
            scopes: By feature set, which scopes are open and which are shut.

        Raises:
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.FeatureSetsUpdateParams(
            enabled=enabled, disabled=disabled, scopes=scopes
        )
        return await self._peer.call(methods.FEATURE_SETS_UPDATE, params)

    async def notify_feature_sets_update(
        self,
        *,
        enabled: list[FeatureSetPattern] | None = None,
        disabled: list[FeatureSetPattern] | None = None,
        scopes: dict[str, ScopeRules] | None = None,
    ) -> None:
        """Enable and disable feature sets, and say which scopes are open.

        featureSets/update, a notification. Source: MCP Live 0.4.1-draft, 6.7.

        Args:
            enabled: Those to enable.
            disabled: Those to disable.
            scopes: By feature set, which scopes are open and which are shut.
        """
        params = _mcpl_models.FeatureSetsUpdateParams(
            enabled=enabled, disabled=disabled, scopes=scopes
        )
        await self._peer.notify(methods.FEATURE_SETS_UPDATE, params)

    async def state_rollback(
        self, *, feature_set: FeatureSetName, checkpoint: CheckpointId
    ) -> RollbackResult:
        """Return a feature set to an earlier checkpoint.

        state/rollback, a request. Source: MCP Live 0.4.1-draft, 8.5.

        Args:
            feature_set: The feature set whose state is meant.
            checkpoint: The checkpoint to return to.

        Raises:
            CapabilityDeniedError: The host has not granted a capability that the message uses.
            CheckpointNotFoundError: The checkpoint was pruned or never existed.
            FeatureSetNotEnabledError: The message belongs to a feature set that the host has disabled.
            UnknownFeatureSetError: The message names a feature set that the server never declared.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.RollbackParams(feature_set=feature_set, checkpoint=checkpoint)
        return await self._peer.call(methods.STATE_ROLLBACK, params)

    async def channels_list(self, *, meta: RequestMeta | None = None) -> ChannelsListResult:
        """List the channels that the other side knows on this connection.

        channels/list, a request. Source: MCP Live 0.4.1-draft, 14.3.

        Args:
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.RequestParams(meta=meta)
        return await self._peer.call(methods.CHANNELS_LIST, params)

    async def channels_open(
        self,
        *,
        type: str,
        address: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> ChannelsOpenResult:
        """Have the server open or join a channel.

        channels/open, a request. Source: MCP Live 0.4.1-draft, 14.3.

        Args:
            type: The platform or provider.
            address: Where the platform has it, in the platform's own form.
            metadata: Anything else that helps to open it.

        Raises:
            CapabilityDeniedError: The host has not granted a capability that the message uses.
            ChannelOpenFailedError: The server could not open the channel or connect to it.
            ChannelNotPermittedError: No feature set that is on, within its scopes, may publish to the channel or observe it.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.ChannelsOpenParams(type=type, address=address, metadata=metadata)
        return await self._peer.call(methods.CHANNELS_OPEN, params)

    async def channels_close(self, *, channel_id: str) -> ChannelsCloseResult:
        """Have the server close or leave a channel.

        channels/close, a request. Source: MCP Live 0.4.1-draft, 14.3.

        Args:
            channel_id: The channel's id.

        Raises:
            CapabilityDeniedError: The host has not granted a capability that the message uses.
            UnknownChannelError: No channel of that id is registered.
            ChannelNotPermittedError: No feature set that is on, within its scopes, may publish to the channel or observe it.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.ChannelsCloseParams(channel_id=channel_id)
        return await self._peer.call(methods.CHANNELS_CLOSE, params)

    async def channels_outgoing_chunk(
        self,
        *,
        inference_id: str,
        conversation_id: str | None = None,
        channel_id: str,
        index: int,
        delta: str,
    ) -> None:
        """Show an observer a moderated piece of what the model writes to a channel.

        channels/outgoing/chunk, a notification. Source: MCP Live 0.4.1-draft, 14.3.

        Args:
            inference_id: Which inference writes it.
            conversation_id: The conversation, if there is one.
            channel_id: The channel that it goes to.
            index: Its number, from 0.
            delta: The text that comes next.
        """
        params = _mcpl_models.ChannelsOutgoingChunkParams(
            inference_id=inference_id,
            conversation_id=conversation_id,
            channel_id=channel_id,
            index=index,
            delta=delta,
        )
        await self._peer.notify(methods.CHANNELS_OUTGOING_CHUNK, params)

    async def channels_outgoing_complete(
        self,
        *,
        inference_id: str,
        conversation_id: str | None = None,
        channel_id: str,
        content: Blocks,
    ) -> None:
        """Show an observer the whole moderated content that goes to a channel.

        channels/outgoing/complete, a notification. Source: MCP Live 0.4.1-draft, 14.3.

        Args:
            inference_id: Which inference wrote it.
            conversation_id: The conversation, if there is one.
            channel_id: The channel that it goes to.
            content: The whole content.
        """
        params = _mcpl_models.ChannelsOutgoingCompleteParams(
            inference_id=inference_id,
            conversation_id=conversation_id,
            channel_id=channel_id,
            content=content,
        )
        await self._peer.notify(methods.CHANNELS_OUTGOING_COMPLETE, params)

    async def channels_publish(
        self,
        *,
        conversation_id: str | None = None,
        channel_id: str,
        stream: bool | None = None,
        content: Blocks,
    ) -> ChannelsPublishResult:
        """Have the server deliver content to a channel.

        channels/publish, a request. Source: MCP Live 0.4.1-draft, 14.3.

        Args:
            conversation_id: The conversation that it comes from, if there is one.
            channel_id: The channel that it goes to.
            stream: Whether more of the same content follows; absent means false.
            content: What to deliver.

        Raises:
            CapabilityDeniedError: The host has not granted a capability that the message uses.
            UnknownChannelError: No channel of that id is registered.
            ChannelNotPermittedError: No feature set that is on, within its scopes, may publish to the channel or observe it.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.ChannelsPublishParams(
            conversation_id=conversation_id, channel_id=channel_id, stream=stream, content=content
        )
        return await self._peer.call(methods.CHANNELS_PUBLISH, params)

    async def notify_channels_publish(
        self,
        *,
        conversation_id: str | None = None,
        channel_id: str,
        stream: bool | None = None,
        content: Blocks,
    ) -> None:
        """Have the server deliver content to a channel.

        channels/publish, a notification. Source: MCP Live 0.4.1-draft, 14.3.

        Args:
            conversation_id: The conversation that it comes from, if there is one.
            channel_id: The channel that it goes to.
            stream: Whether more of the same content follows; absent means false.
            content: What to deliver.
        """
        params = _mcpl_models.ChannelsPublishParams(
            conversation_id=conversation_id, channel_id=channel_id, stream=stream, content=content
        )
        await self._peer.notify(methods.CHANNELS_PUBLISH, params)

    async def channels_typing(
        self, *, channel_id: str | None = None, message_id: str | None = None
    ) -> EmptyResult:
        """Say that somebody is writing on a channel.

        channels/typing, a request. Source: MCP Live 0.4.1-draft, Ours.

        Args:
            channel_id: The channel's id.
            message_id: The message that is meant, if there is one.

        Raises:
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.ChannelSignal(channel_id=channel_id, message_id=message_id)
        return await self._peer.call(methods.CHANNELS_TYPING, params)

    async def notify_channels_typing(
        self, *, channel_id: str | None = None, message_id: str | None = None
    ) -> None:
        """Say that somebody is writing on a channel.

        channels/typing, a notification. Source: MCP Live 0.4.1-draft, Ours.

        Args:
            channel_id: The channel's id.
            message_id: The message that is meant, if there is one.
        """
        params = _mcpl_models.ChannelSignal(channel_id=channel_id, message_id=message_id)
        await self._peer.notify(methods.CHANNELS_TYPING, params)

    async def channels_acknowledge(
        self, *, channel_id: str | None = None, message_id: str | None = None
    ) -> EmptyResult:
        """Say that a message of a channel was seen.

        channels/acknowledge, a request. Source: MCP Live 0.4.1-draft, Ours.

        Args:
            channel_id: The channel's id.
            message_id: The message that is meant, if there is one.

        Raises:
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.ChannelSignal(channel_id=channel_id, message_id=message_id)
        return await self._peer.call(methods.CHANNELS_ACKNOWLEDGE, params)

    async def notify_channels_acknowledge(
        self, *, channel_id: str | None = None, message_id: str | None = None
    ) -> None:
        """Say that a message of a channel was seen.

        channels/acknowledge, a notification. Source: MCP Live 0.4.1-draft, Ours.

        Args:
            channel_id: The channel's id.
            message_id: The message that is meant, if there is one.
        """
        params = _mcpl_models.ChannelSignal(channel_id=channel_id, message_id=message_id)
        await self._peer.notify(methods.CHANNELS_ACKNOWLEDGE, params)


class ClientStub:
    """The host as the server sees it: every method that the server may send."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def push_event(
        self,
        *,
        feature_set: FeatureSetName,
        event_id: str,
        timestamp: str,
        origin: dict[str, Any] | None = None,
        payload: PushEventPayload,
    ) -> PushEventResult:
        """Tell the host of something that happened outside and may be worth an inference.

        push/event, a request. Source: MCP Live 0.4.1-draft, 9.1.

        Args:
            feature_set: The feature set that the event belongs to.
            event_id: Names the event; the same when it is sent again.
            timestamp: When it happened (ISO 8601).
            origin: Where it comes from, as detailed as the server likes.
            payload: What it is about.

        Raises:
            CapabilityDeniedError: The host has not granted a capability that the message uses.
            FeatureSetNotEnabledError: The message belongs to a feature set that the host has disabled.
            UnknownFeatureSetError: The message names a feature set that the server never declared.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.PushEventParams(
            feature_set=feature_set,
            event_id=event_id,
            timestamp=timestamp,
            origin=origin,
            payload=payload,
        )
        return await self._peer.call(methods.PUSH_EVENT, params)

    async def inference_request(
        self,
        *,
        feature_set: FeatureSetName,
        conversation_id: str | None = None,
        stream: bool | None = None,
        messages: list[InferenceMessage],
        preferences: InferencePreferences | None = None,
    ) -> InferenceRequestResult:
        """Have the host's model run without a person in between.

        inference/request, a request. Source: MCP Live 0.4.1-draft, 11.1.

        Args:
            feature_set: The feature set that asks.
            conversation_id: The conversation that it belongs to.
            stream: Whether the answer is to come in pieces first; absent means false.
            messages: The conversation to continue, oldest first.
            preferences: How the server would like the model to be run.

        Raises:
            CapabilityDeniedError: The host has not granted a capability that the message uses.
            FeatureSetNotEnabledError: The message belongs to a feature set that the host has disabled.
            UnknownFeatureSetError: The message names a feature set that the server never declared.
            InvalidRequestError: The frame is JSON, yet no JSON-RPC message, or it comes at a moment when it is not allowed.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.InferenceRequestParams(
            feature_set=feature_set,
            conversation_id=conversation_id,
            stream=stream,
            messages=messages,
            preferences=preferences,
        )
        return await self._peer.call(methods.INFERENCE_REQUEST, params)

    async def model_info(self, *, meta: RequestMeta | None = None) -> ModelInfo:
        """Ask which model the host runs at the moment.

        model/info, a request. Source: MCP Live 0.4.1-draft, 12.1.

        Args:
            meta: Metadata of the request, next to its own params.

        Raises:
            CapabilityDeniedError: The host has not granted a capability that the message uses.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.RequestParams(meta=meta)
        return await self._peer.call(methods.MODEL_INFO, params)

    async def feature_sets_changed(
        self,
        *,
        added: dict[str, FeatureSet] | None = None,
        removed: list[FeatureSetName] | None = None,
    ) -> None:
        """Say that the server has new feature sets, or has lost some.

        featureSets/changed, a notification. Source: MCP Live 0.4.1-draft, 6.7.

        Args:
            added: Those that came, by name.
            removed: Those that went.
        """
        params = _mcpl_models.FeatureSetsChangedParams(added=added, removed=removed)
        await self._peer.notify(methods.FEATURE_SETS_CHANGED, params)

    async def scope_elevate(
        self, *, feature_set: FeatureSetName, scope: Scope
    ) -> ScopeElevateResult:
        """Ask the host to approve a scope that is not on the whitelist.

        scope/elevate, a request. Source: MCP Live 0.4.1-draft, 7.4.

        Args:
            feature_set: The feature set that asks.
            scope: The scope to act in.

        Raises:
            CapabilityDeniedError: The host has not granted a capability that the message uses.
            FeatureSetNotEnabledError: The message belongs to a feature set that the host has disabled.
            UnknownFeatureSetError: The message names a feature set that the server never declared.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.ScopeElevateParams(feature_set=feature_set, scope=scope)
        return await self._peer.call(methods.SCOPE_ELEVATE, params)

    async def channels_register(self, *, channels: list[ChannelDescriptor]) -> EmptyResult:
        """Name the channels that the server serves.

        channels/register, a request. Source: MCP Live 0.4.1-draft, 14.3.

        Args:
            channels: The channels.

        Raises:
            CapabilityDeniedError: The host has not granted a capability that the message uses.
            ChannelNotPermittedError: No feature set that is on, within its scopes, may publish to the channel or observe it.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.ChannelsRegisterParams(channels=channels)
        return await self._peer.call(methods.CHANNELS_REGISTER, params)

    async def channels_changed(
        self,
        *,
        added: list[ChannelDescriptor] | None = None,
        removed: list[str] | None = None,
        updated: list[ChannelDescriptor] | None = None,
    ) -> None:
        """Say which channels came, went or changed.

        channels/changed, a notification. Source: MCP Live 0.4.1-draft, 14.3.

        Args:
            added: Channels that came.
            removed: The ids of those that went.
            updated: Those that changed, as they are now.
        """
        params = _mcpl_models.ChannelsChangedParams(added=added, removed=removed, updated=updated)
        await self._peer.notify(methods.CHANNELS_CHANGED, params)

    async def channels_list(self, *, meta: RequestMeta | None = None) -> ChannelsListResult:
        """List the channels that the other side knows on this connection.

        channels/list, a request. Source: MCP Live 0.4.1-draft, 14.3.

        Args:
            meta: Metadata of the request, next to its own params.

        Raises:
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcp_models.RequestParams(meta=meta)
        return await self._peer.call(methods.CHANNELS_LIST, params)

    async def channels_typing(
        self, *, channel_id: str | None = None, message_id: str | None = None
    ) -> EmptyResult:
        """Say that somebody is writing on a channel.

        channels/typing, a request. Source: MCP Live 0.4.1-draft, Ours.

        Args:
            channel_id: The channel's id.
            message_id: The message that is meant, if there is one.

        Raises:
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.ChannelSignal(channel_id=channel_id, message_id=message_id)
        return await self._peer.call(methods.CHANNELS_TYPING, params)

    async def notify_channels_typing(
        self, *, channel_id: str | None = None, message_id: str | None = None
    ) -> None:
        """Say that somebody is writing on a channel.

        channels/typing, a notification. Source: MCP Live 0.4.1-draft, Ours.

        Args:
            channel_id: The channel's id.
            message_id: The message that is meant, if there is one.
        """
        params = _mcpl_models.ChannelSignal(channel_id=channel_id, message_id=message_id)
        await self._peer.notify(methods.CHANNELS_TYPING, params)

    async def channels_acknowledge(
        self, *, channel_id: str | None = None, message_id: str | None = None
    ) -> EmptyResult:
        """Say that a message of a channel was seen.

        channels/acknowledge, a request. Source: MCP Live 0.4.1-draft, Ours.

        Args:
            channel_id: The channel's id.
            message_id: The message that is meant, if there is one.

        Raises:
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.ChannelSignal(channel_id=channel_id, message_id=message_id)
        return await self._peer.call(methods.CHANNELS_ACKNOWLEDGE, params)

    async def notify_channels_acknowledge(
        self, *, channel_id: str | None = None, message_id: str | None = None
    ) -> None:
        """Say that a message of a channel was seen.

        channels/acknowledge, a notification. Source: MCP Live 0.4.1-draft, Ours.

        Args:
            channel_id: The channel's id.
            message_id: The message that is meant, if there is one.
        """
        params = _mcpl_models.ChannelSignal(channel_id=channel_id, message_id=message_id)
        await self._peer.notify(methods.CHANNELS_ACKNOWLEDGE, params)

    async def channels_incoming(self, *, messages: list[IncomingMessage]) -> ChannelsIncomingResult:
        """Hand over messages that came in on channels, several together where a channel is busy.

        channels/incoming, a request. Source: MCP Live 0.4.1-draft, 14.3.

        Args:
            messages: The messages; may be of several channels.

        Raises:
            CapabilityDeniedError: The host has not granted a capability that the message uses.
            ChannelNotPermittedError: No feature set that is on, within its scopes, may publish to the channel or observe it.
            MethodNotFoundError: The receiver does not serve that method, or the capability for it was not negotiated.
            InvalidParamsError: The params do not fit the method's type, or name something that the receiver does not have.
            InternalError: The receiver failed while it worked on the request; the request itself is not to blame.
        """
        params = _mcpl_models.ChannelsIncomingParams(messages=messages)
        return await self._peer.call(methods.CHANNELS_INCOMING, params)
