"""Inference that servers ask for, run by the host's models (MCPL 11, 12).

`rules/routing.py` chooses the model and keeps the limits; a provider runs it. Cancelling the
request stops the provider, and no chunk follows.
"""

from __future__ import annotations

__all__ = (
    "Inference",
    "InferenceDesk",
    "ModelAnswer",
    "ModelRequest",
    "Provider",
    "ScriptedProvider",
)

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from kinwire.context import Context
from kinwire.mcpl.live_server import LiveServer
from kinwire.mcpl.rules.routing import Meter, estimated_tokens, finish_reason, route
from kinwire_protocols.jsonrpc.errors import InternalError
from kinwire_protocols.mcpl.methods import INFERENCE_CHUNK
from kinwire_protocols.mcpl.models import (
    InferenceChunkParams,
    InferenceMessage,
    InferenceRequestParams,
    InferenceRequestResult,
    ModelInfo,
    RoutingPolicy,
    TokenUsage,
)

logger = logging.getLogger("kinwire.mcpl")


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is to answer."""

    model: str
    messages: Sequence[InferenceMessage]
    max_tokens: int | None = None
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What it has answered."""

    content: str
    model: str
    """The model that was really used."""
    stopped: str = "end_turn"
    """Why, in the provider's own word."""
    usage: TokenUsage | None = None


OnDelta = Callable[[str], Awaitable[None]]
"""Takes a piece of the answer as soon as it is there."""


class Provider(Protocol):
    """Runs models. It is cancelled when nobody waits for the answer any more."""

    async def answer(self, request: ModelRequest, on_delta: OnDelta | None) -> ModelAnswer:
        """Return the whole answer; hand on its pieces before, if there is an `on_delta`."""
        ...


class ScriptedProvider:
    """A provider that says what it was given, word by word: for tests."""

    def __init__(self, *answers: ModelAnswer) -> None:
        self._answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def answer(self, request: ModelRequest, on_delta: OnDelta | None) -> ModelAnswer:
        """Return the next answer.

        Raises:
            IndexError: there is none left.
        """
        self.requests.append(request)
        if not self._answers:
            raise IndexError("the script has no answer left: give ScriptedProvider one a request")
        answer = self._answers.pop(0)
        if on_delta is not None:
            for word in re.findall(r"\s*\S+\s*", answer.content):
                await on_delta(word)
        return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """How a host runs inference for servers; `McplHost(inference=...)` takes one.

    `routing` chooses the model; `larger` has for a model the tokens from which on another one takes
    its place. `budgets` are tokens by pattern of feature sets, for each set of each server. `model`
    is what `model/info` tells. `timeout` is in seconds.
    """

    provider: Provider
    routing: RoutingPolicy
    larger: Mapping[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    at_once: int = 2
    budgets: Mapping[str, int] = field(default_factory=dict[str, int])
    timeout: float = 120.0
    model: ModelInfo | None = None


class InferenceDesk:
    """The inference of one host."""

    def __init__(self, policy: Inference) -> None:
        self.policy = policy
        self.meter = Meter(at_once=policy.at_once, budgets=policy.budgets)

    async def serve(
        self, server: LiveServer, params: InferenceRequestParams, context: Context
    ) -> InferenceRequestResult:
        """Run a model and return its answer.

        Raises:
            InternalError: it could not be run; `data.reason` says why.
        """
        model = self._model(server.id, params)
        if model is None:
            raise _refused("no_route", "no model is meant for that feature set")
        reason = self.meter.enter(server.id, params.feature_set)
        if reason is not None:
            raise _refused(reason, "the host's limits for that server are reached")
        usage = None
        try:
            answer = await self._answered(server, params, model, _Chunks(server, context))
            usage = answer.usage
        finally:
            self.meter.leave(server.id, params.feature_set, usage)
        return InferenceRequestResult(
            content=answer.content,
            model=answer.model,
            finish_reason=finish_reason(answer.stopped),
            usage=answer.usage,
        )

    async def model_info(self) -> ModelInfo:
        """Return which model the host runs."""
        assert self.policy.model is not None  # else the method is not served
        return self.policy.model

    def _model(self, server: str, params: InferenceRequestParams) -> str | None:
        model = route(self.policy.routing, server, params.feature_set, params.conversation_id)
        larger = None if model is None else self.policy.larger.get(model)
        if larger is not None and estimated_tokens(params.messages) >= larger[0]:
            return larger[1]
        return model

    async def _answered(
        self, server: LiveServer, params: InferenceRequestParams, model: str, chunks: _Chunks
    ) -> ModelAnswer:
        wishes = params.preferences
        request = ModelRequest(
            model,
            params.messages,
            None if wishes is None else wishes.max_tokens,
            None if wishes is None else wishes.temperature,
        )
        streams = params.stream and server.session.why_not(INFERENCE_CHUNK) is None
        try:
            with anyio.fail_after(self.policy.timeout):
                return await self.policy.provider.answer(request, chunks.send if streams else None)
        except TimeoutError:
            raise _refused("timeout", "the model did not answer in time") from None
        except Exception:
            logger.exception("%s: a model failed", server.id)
            raise _refused("provider_failed", "the model failed") from None


class _Chunks:
    """The pieces of one answer on their way to the server."""

    def __init__(self, server: LiveServer, context: Context) -> None:
        self._session = server.session
        self._request_id = context.request_id
        self._index = 0

    async def send(self, delta: str) -> None:
        assert self._request_id is not None  # inference is always a request
        params = InferenceChunkParams(request_id=self._request_id, index=self._index, delta=delta)
        self._index += 1
        await self._session.notify(INFERENCE_CHUNK, params)


def _refused(reason: str, why: str) -> InternalError:
    return InternalError(f"inference/request: {why} ({reason})", data={"reason": reason})
