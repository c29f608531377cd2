"""A host that speaks MCPL, as its server holds it: what the server may do there (MCPL 5, 6)."""

from __future__ import annotations

__all__ = ("HostPeer",)

import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from kinwire.mcp.extension import Next
from kinwire.mcp.server_session import ServerSession
from kinwire.mcpl.rules.feature_sets import FeatureSets, unknown_set
from kinwire.mcpl.rules.hook_replies import after_allowed, before_allowed
from kinwire.mcpl.server.host_channels import HostChannels
from kinwire.mcpl.server.inference_streams import InferenceStream, InferenceStreams
from kinwire.mcpl.server.pusher import push
from kinwire.mcpl.server.served_state import ServedState
from kinwire.mcpl.tags import FEATURE_SET_REQUESTS
from kinwire.rpc.errors import SessionStateError
from kinwire.rpc.request import Request
from kinwire.support.validation import checked_seconds
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpl.methods import (
    CONTEXT_AFTER_INFERENCE,
    CONTEXT_BEFORE_INFERENCE,
    FEATURE_SETS_UPDATE,
    INFERENCE_REQUEST,
    STATE_ROLLBACK,
)
from kinwire_protocols.mcpl.models import (
    AfterInferenceParams,
    BeforeInferenceParams,
    BeforeInferenceResult,
    ChannelDescriptor,
    Content,
    FeatureSetsUpdateParams,
    InferenceMessage,
    InferencePreferences,
    InferenceRequestParams,
    InferenceRequestResult,
    PushEventResult,
    RollbackParams,
    RollbackResult,
    ScopeRules,
)
from kinwire_protocols.peer import Method

logger = logging.getLogger("kinwire.mcpl")


class HostPeer:
    """One session of a server with a host of MCPL. Get it from `McplServer.of(context)`."""

    def __init__(
        self,
        session: ServerSession,
        feature_sets: FeatureSets,
        tools: Mapping[str, str],
        channels: Sequence[ChannelDescriptor] = (),
    ) -> None:
        self.session = session
        self.sets = feature_sets
        self._scopes: dict[str, ScopeRules] = {}
        self.channels = HostChannels(session, channels)
        """The channels that the host knows of the server."""
        session.intercept_inbound(self._obey, FEATURE_SETS_UPDATE)
        session.intercept_inbound(self._check_before, CONTEXT_BEFORE_INFERENCE)
        session.intercept_inbound(self._check_after, CONTEXT_AFTER_INFERENCE)
        session.intercept_inbound(self._check_rollback, STATE_ROLLBACK)
        self._streams = InferenceStreams(session)
        self.state = ServedState(session, feature_sets.declared, tools)
        for row in FEATURE_SET_REQUESTS:
            session.intercept_outbound(self._must_be_enabled, row)

    @property
    def enabled(self) -> list[str]:
        """The names of the feature sets that the host has switched on, sorted."""
        return self.sets.enabled

    @property
    def scopes(self) -> Mapping[str, ScopeRules]:
        """The lists that the host has told for scoped feature sets."""
        return self._scopes

    async def push(
        self,
        feature_set: str,
        content: Content,
        *,
        event_id: str | None = None,
        timestamp: str | None = None,
        origin: JsonObject | None = None,
        attempts: int = 5,
        first_delay: float = 0.5,
    ) -> PushEventResult:
        """Push an event and return what the host made of it.

        If the host has no room or does not answer in time, the same event is sent again, up to
        `attempts` times in all, after `first_delay` seconds and ever longer. `event_id` is the
        event's own: give it if you may push the event anew yourself, in another session too.

        Raises:
            FeatureSetNotEnabledError, UnknownFeatureSetError: the set may not push there.
            CapabilityNotNegotiatedError: the host takes no events.
            ValueError: `attempts` or `first_delay` is no such number.
            RequestTimeoutError, RpcError, ConnectionClosedError, InvalidResponseError: as for
                `Session.call`.
        """
        return await push(
            self.session,
            feature_set,
            content,
            event_id=event_id,
            timestamp=timestamp,
            origin=origin,
            attempts=attempts,
            first_delay=first_delay,
        )

    async def infer(
        self,
        feature_set: str,
        messages: str | Sequence[InferenceMessage],
        *,
        conversation_id: str | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
        timeout: float | None = 300.0,
    ) -> InferenceRequestResult:
        """Have the host's model answer, and return the answer. Not from within a hook.

        `messages` as text is one message of the user.

        Raises:
            FeatureSetNotEnabledError, UnknownFeatureSetError: the set may not.
            CapabilityNotNegotiatedError: the host runs no inference for servers.
            InternalError: it could not be run; `data["reason"]` is `no_route`, `busy`,
                `budget_spent`, `timeout`, `rate_limited` or `provider_failed` with a host of
                kinwire.
            InvalidParamsError: the model cannot be given such messages.
            ValueError: `timeout` is no time.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
        """
        if timeout is not None:
            checked_seconds("HostPeer.infer: timeout", timeout)
        params = _request(feature_set, messages, conversation_id, max_tokens, temperature)
        return await self.session.call(INFERENCE_REQUEST, params, timeout=timeout)

    def stream(
        self,
        feature_set: str,
        messages: str | Sequence[InferenceMessage],
        *,
        conversation_id: str | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> AbstractAsyncContextManager[InferenceStream]:
        """Have the host's model answer piece by piece.

        `async with host.stream(...) as answer: async for delta in answer: ...`, then
        `answer.result` is the whole. Leaving the block before stops the model. The loop raises what
        `infer` raises. Where streaming was not negotiated the answer is one piece.
        """
        params = _request(feature_set, messages, conversation_id, max_tokens, temperature)
        return self._streams.open(params.model_copy(update={"stream": True}))

    async def _obey(
        self,
        params: FeatureSetsUpdateParams,
        request: Request,
        go_on: Next[FeatureSetsUpdateParams, None],
    ) -> None:
        self.sets.switch(enabled=params.enabled or (), disabled=params.disabled or ())
        self._scopes |= {
            name: rules
            for name, rules in (params.scopes or {}).items()
            if name in self.sets.declared
        }
        await go_on(params)
        await self.channels.begin()

    async def _must_be_enabled(
        self, params: Any, method: Method[Any, Any], go_on: Next[Any, Any]
    ) -> Any:
        if not self.session.handshake.initialized:
            raise SessionStateError(
                f"{method.name}: the host has not finished the handshake, and may not be asked "
                "anything before. Ask while a later request of it is served."
            )
        refusal = self.sets.refusal(params.feature_set, FEATURE_SET_REQUESTS[method])
        if refusal is not None:
            raise refusal
        return await go_on(params)

    async def _check_rollback(
        self,
        params: RollbackParams,
        request: Request,
        go_on: Next[RollbackParams, RollbackResult],
    ) -> RollbackResult:
        if params.feature_set not in self.sets.declared:
            raise unknown_set(params.feature_set)
        return await go_on(params)

    async def _check_before(
        self,
        params: BeforeInferenceParams,
        request: Request,
        go_on: Next[BeforeInferenceParams, BeforeInferenceResult],
    ) -> BeforeInferenceResult:
        reply, kept_back = before_allowed(await go_on(params), self.sets)
        self._tell(kept_back, request)
        return reply

    async def _check_after(
        self,
        params: AfterInferenceParams,
        request: Request,
        go_on: Next[AfterInferenceParams, Any],
    ) -> Any:
        answer = await go_on(params)
        if answer is None:  # it was a notification
            return None
        reply, kept_back = after_allowed(answer, self.sets)
        self._tell(kept_back, request)
        return reply

    def _tell(self, kept_back: list[str], request: Request) -> None:
        for problem in kept_back:
            logger.info("%s: kept back %s", request.method.name, problem)


def _request(
    feature_set: str,
    messages: str | Sequence[InferenceMessage],
    conversation_id: str | None,
    max_tokens: int | None,
    temperature: float | None,
) -> InferenceRequestParams:
    if isinstance(messages, str):
        messages = [InferenceMessage(role="user", content=messages)]
    wishes = InferencePreferences(max_tokens=max_tokens, temperature=temperature)
    return InferenceRequestParams(
        feature_set=feature_set,
        conversation_id=conversation_id,
        messages=list(messages),
        preferences=None if max_tokens is None and temperature is None else wishes,
    )
