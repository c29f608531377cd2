"""A host that speaks MCPL, as its server sees it: what the server may do there (MCPL 5, 6, 9)."""

from __future__ import annotations

__all__ = ("HostPeer", "event_params")

import logging
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Any

from kinwire.managers.retry import retry
from kinwire.mcp.extension import Next
from kinwire.mcp.server_session import ServerSession
from kinwire.mcpl.rules.content import blocks_of
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.mcpl.rules.push import is_duplicate, may_be_accepted_later, push_backoff
from kinwire.mcpl.rules.scopes import ScopeLists, readable_lists
from kinwire.mcpl.rules.tags import (
    after_allowed,
    before_allowed,
)
from kinwire.mcpl.rules.uses import HOOKS, NAMED_SET_USE, SET_REQUESTS, hook_refusal
from kinwire.mcpl.server.current_hook import refuse_in_hook, serve_hook
from kinwire.mcpl.server.host_channels import HostChannels
from kinwire.mcpl.server.inference_streams import InferenceStream, InferenceStreams
from kinwire.mcpl.server.served_state import ServedState
from kinwire.rpc.errors import RequestTimeoutError, SessionStateError
from kinwire.rpc.request import Request
from kinwire.support.validation import checked_count, checked_seconds, expect_type
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.methods import NOTIFICATIONS_INITIALIZED
from kinwire_protocols.mcp.models import RequestParams
from kinwire_protocols.mcpl.methods import (
    CHANNELS_INCOMING,
    CONTEXT_AFTER_INFERENCE,
    CONTEXT_BEFORE_INFERENCE,
    FEATURE_SETS_UPDATE,
    INFERENCE_CHUNK,
    INFERENCE_REQUEST,
    MODEL_INFO,
    PUSH_EVENT,
    SCOPE_ELEVATE,
    STATE_ROLLBACK,
)
from kinwire_protocols.mcpl.models import (
    AfterInferenceResult,
    BeforeInferenceResult,
    ChannelDescriptor,
    Content,
    FeatureSetsUpdateParams,
    FeatureSetsUpdateResult,
    InferenceMessage,
    InferencePreferences,
    InferenceRequestParams,
    InferenceRequestResult,
    ModelInfo,
    PushEventParams,
    PushEventPayload,
    PushEventResult,
    RollbackParams,
    Scope,
    ScopeElevateParams,
    ScopeElevateResult,
    ScopeRules,
)
from kinwire_protocols.peer import Method

logger = logging.getLogger("kinwire.mcpl")


class HostPeer:
    """One session of a server with a host of MCPL. Get it from `McplServer.of(context)`.

    `channels` sends messages of channels and registers them (`incoming`, `register`, `change`), and
    `session` sends other messages.
    """

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
        self._lists: dict[str, ScopeLists] = {}
        self.on_change: Callable[[], None] = lambda: None
        """Is called when the host may take more than before."""
        self.channels = HostChannels(
            session, feature_sets, self._lists.get, channels, lambda: self.on_change()
        )
        """The channels of the server at this host."""
        session.intercept_inbound(self._initialized, NOTIFICATIONS_INITIALIZED)
        session.intercept_inbound(self._obey, FEATURE_SETS_UPDATE)
        for hook in HOOKS:
            session.guard(hook, self._hook_must_be_enabled)
        session.filter_result(CONTEXT_BEFORE_INFERENCE, self._allowed_before)
        session.filter_result(CONTEXT_AFTER_INFERENCE, self._allowed_after)
        session.guard(STATE_ROLLBACK, self._check_rollback)
        self._streams = InferenceStreams(session)
        self.state = ServedState(session, feature_sets.declared, tools)
        for row in SET_REQUESTS:
            session.guard(row, self._must_be_enabled, outbound=True)
        session.guard(INFERENCE_REQUEST, refuse_in_hook, outbound=True)
        for hook in HOOKS:
            session.intercept_inbound(serve_hook, hook)

    def may_push(self, feature_set: str) -> bool:
        """Return whether the host takes events of a feature set now."""
        return self._may_ask(PUSH_EVENT) and self.sets.refusal(feature_set, "pushEvents") is None

    def may_bring(self, channel_id: str) -> bool:
        """Return whether the host takes messages of a channel now."""
        return self._may_ask(CHANNELS_INCOMING) and self.channels.may_bring(channel_id)

    def _may_ask(self, method: Method[Any, Any]) -> bool:
        return self.session.handshake.initialized and self.session.denial_reason(method) is None

    async def _initialized(self, params: Any, request: Request, go_on: Next[Any, Any]) -> Any:
        await go_on(params)
        self.on_change()
        await self.channels.begin()  # messages that come behind this do not wait

    @property
    def enabled(self) -> list[str]:
        """The names of the feature sets that the host has enabled, sorted."""
        return self.sets.enabled

    @property
    def scopes(self) -> Mapping[str, ScopeRules]:
        """The lists that the host has sent for scoped feature sets."""
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
        """Push an event and return the answer of the host.

        `content` is a list of blocks; a string is sent as one text block.

        If the host has no room or does not answer in time, the same event is sent again, up to
        `attempts` times in all, after `first_delay` seconds and then with growing delays. Pass an
        `event_id` if your program may push the event again itself, also in another session.

        Raises:
            FeatureSetNotEnabledError, UnknownFeatureSetError: the set may not push there.
            CapabilityNotNegotiatedError: the host takes no events.
            ValueError: `attempts` or `first_delay` is out of range.
            RequestTimeoutError, RpcError, ConnectionClosedError, InvalidResponseError: as for
                `Session.call`.
        """
        checked_count("HostPeer.push: attempts", attempts, least=1)
        checked_seconds("HostPeer.push: first_delay", first_delay, zero=True)
        params = event_params(feature_set, content, event_id, timestamp, origin)
        made = 0

        def push(attempt: int) -> Awaitable[PushEventResult]:
            nonlocal made
            made = attempt
            return self.session.call(PUSH_EVENT, params)

        answer = await retry(
            push,
            attempts=attempts,
            again=may_be_accepted_later,
            errors=RequestTimeoutError,
            backoff=push_backoff(first_delay),
        )
        if made > 1 and is_duplicate(answer):
            return answer.model_copy(update={"accepted": True, "reason": None})
        return answer

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
        """Ask the host's model, and return its answer.

        `messages` as a string is one message of the user. Within the handler of a hook this is
        refused before it is sent, also in task groups that the handler opens: the answer to the
        hook would wait for it. A task in a task group of the program may infer at the same time.

        Raises:
            InvalidRequestError: the answer to a hook waits for this, or the host cannot rule that
                out, since the hook is of the same conversation; `data["retryable"]` is True, and it
                may be sent again when the hook is answered (MCPL 0.4.1 section 10.7).
            FeatureSetNotEnabledError, UnknownFeatureSetError: the set may not.
            CapabilityNotNegotiatedError: the host runs no inference for servers.
            InternalError: it could not be run; `data["reason"]` is `no_route`, `busy`,
                `budget_spent`, `timeout`, `rate_limited` or `provider_failed` with a host of
                kinwire.
            InvalidParamsError: the model does not support such messages.
            ValueError: `timeout` is out of range.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.
        """
        if timeout is not None:
            checked_seconds("HostPeer.infer: timeout", timeout)
        params = _request(feature_set, messages, conversation_id, max_tokens, temperature)
        return await self.session.call(INFERENCE_REQUEST, params, timeout=timeout)

    async def elevate(
        self, feature_set: str, label: str, payload: JsonObject | None = None
    ) -> ScopeElevateResult:
        """Ask the host whether a feature set may act in a scope, and return its answer.

        If it is `approved`, act with the `payload` of the answer: the host may have added to it.

        Raises:
            FeatureSetNotEnabledError, UnknownFeatureSetError: the set is off, or not declared.
            RpcError, ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.

        Source: MCPL 7.4, 7.5.
        """
        scope = Scope(label=label, payload=payload)
        params = ScopeElevateParams(feature_set=feature_set, scope=scope)
        return await self.session.call(SCOPE_ELEVATE, params, timeout=None)

    async def model_info(self) -> ModelInfo:
        """Return which model the host runs.

        Raises:
            CapabilityNotNegotiatedError: the server was made without `model_info`.
            RpcError: the host does not tell, or failed.
            ConnectionClosedError, RequestTimeoutError, InvalidResponseError: as for
                `Session.call`.

        Source: MCPL 12.
        """
        return await self.session.call(MODEL_INFO, RequestParams())

    def stream(
        self,
        feature_set: str,
        messages: str | Sequence[InferenceMessage],
        *,
        conversation_id: str | None = None,
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> AbstractAsyncContextManager[InferenceStream]:
        """Ask the host's model, and receive its answer in pieces.

        `async with host.stream(...) as answer: async for delta in answer: ...`, then
        `answer.result` is the whole answer. Leaving the block earlier stops the model. The loop
        raises what `infer` raises. If streaming was not negotiated, the answer is one piece.
        """
        params = _request(feature_set, messages, conversation_id, max_tokens, temperature)
        streams = self.session.denial_reason(INFERENCE_CHUNK) is None
        return self._streams.open(params.model_copy(update={"stream": True}) if streams else params)

    async def _obey(
        self,
        params: FeatureSetsUpdateParams,
        request: Request,
        go_on: Next[FeatureSetsUpdateParams, Any],
    ) -> Any:
        self.sets.switch(enabled=params.enabled or (), disabled=params.disabled or ())
        for name, rules in (params.scopes or {}).items():
            if name in self.sets.declared:
                self._scopes[name], self._lists[name] = rules, readable_lists(rules)
        answer = await go_on(params)
        self.on_change()
        return answer or FeatureSetsUpdateResult(accepted=True)

    def _must_be_enabled(self, params: Any, method: Method[Any, Any]) -> None:
        if not self.session.handshake.initialized:
            raise SessionStateError(
                f"{method.name}: the host has not finished the handshake, and may not be asked "
                "anything before. Ask while a later request of it is served."
            )
        refusal = self.sets.refusal(params.feature_set, NAMED_SET_USE[method.name])
        if refusal is not None:
            raise refusal

    def _check_rollback(self, params: RollbackParams, request: Request) -> None:
        refusal = self.sets.refusal(params.feature_set)
        if refusal is not None:
            raise refusal

    def _hook_must_be_enabled(self, params: Any, request: Request) -> None:
        refusal = hook_refusal(request.method.name, self.sets)
        if refusal is not None:
            raise refusal

    def _allowed_before(
        self, answer: BeforeInferenceResult, request: Request
    ) -> BeforeInferenceResult:
        answer = expect_type(request.method.name, answer, BeforeInferenceResult)
        reply, kept_back = before_allowed(answer, self.sets)
        self._log_kept_back(kept_back, request)
        return reply

    def _allowed_after(
        self, answer: AfterInferenceResult, request: Request
    ) -> AfterInferenceResult:
        answer = expect_type(request.method.name, answer, AfterInferenceResult)
        reply, kept_back = after_allowed(answer, self.sets)
        self._log_kept_back(kept_back, request)
        return reply

    def _log_kept_back(self, kept_back: list[str], request: Request) -> None:
        for problem in kept_back:
            logger.info("%s: kept back %s", request.method.name, problem)


def event_params(
    feature_set: str,
    content: Content,
    event_id: str | None,
    timestamp: str | None,
    origin: JsonObject | None,
) -> PushEventParams:
    """Return the params of an event that happens now, unless the arguments say otherwise."""
    return PushEventParams(
        feature_set=feature_set,
        event_id=event_id or f"evt_{secrets.token_hex(8)}",
        timestamp=timestamp or datetime.now(UTC).isoformat(timespec="milliseconds"),
        origin=origin,
        payload=PushEventPayload(content=blocks_of(content)),
    )


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
