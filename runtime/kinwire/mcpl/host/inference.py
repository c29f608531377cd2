"""Inference that servers request, run by the host's models (MCPL 11, 12).

`rules/inference.py` chooses the model, keeps the limits and the model of each conversation; a
`Provider` runs it. If the request is cancelled, the provider is too, and no chunk follows.
"""

from __future__ import annotations

__all__ = ("Inference", "InferenceManager", "OnDelta", "Provider", "ScriptedProvider")

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Protocol, cast

import anyio

from kinwire.managers.ask import Answer, Late, ask
from kinwire.managers.durable_map import DurableMap, RecordCodec
from kinwire.mcp.context import Context
from kinwire.mcpl.errors import ProviderError, UnsupportedMessageError
from kinwire.mcpl.host.server_peer import ServerPeer
from kinwire.mcpl.rules.inference import (
    ModelAnswer,
    ModelRequest,
    StickyRoutes,
    UsageLimiter,
    check_routing,
    estimated_tokens,
    estimated_usage,
    finish_reason,
    route,
    up_tiered,
)
from kinwire.rpc.errors import RpcError
from kinwire.rpc.identity import PeerIdentity
from kinwire.storage.clock import Clock
from kinwire.storage.errors import StorageError
from kinwire.storage.records import Records
from kinwire.support.arguments import (
    COUNT,
    LIFE,
    SECONDS,
    TEXT,
    ArgumentCheck,
    ValueKind,
    WrongValue,
    count_from,
    having,
    instance_of,
    is_pair,
    list_of,
    table_of,
)
from kinwire.support.json_values import short_digest
from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidParamsError
from kinwire_protocols.mcpl.methods import INFERENCE_CHUNK
from kinwire_protocols.mcpl.models import (
    InferenceChunkParams,
    InferenceRequestParams,
    InferenceRequestResult,
    ModelInfo,
    RoutingPolicy,
    TokenUsage,
)

logger = logging.getLogger("kinwire.mcpl")

OnDelta = Callable[[str], Awaitable[None]]
"""Takes a piece of the answer as soon as it is there."""


class Provider(Protocol):
    """Runs models. It is cancelled when the request is cancelled or late."""

    async def answer(self, request: ModelRequest, on_delta: OnDelta | None) -> ModelAnswer:
        """Return the whole answer. Pass its pieces to `on_delta` before, unless that is None.

        Raises:
            ProviderError: there is no answer, for a reason that the server may know.
            UnsupportedMessageError: the model does not support such messages.
            Exception: anything else; the server learns only that the model failed.
        """
        ...


_SCRIPTED = ArgumentCheck(
    "ScriptedProvider",
    'ScriptedProvider(ModelAnswer("...", "model"))',
    {"answers": list_of(instance_of(ModelAnswer, "a ModelAnswer", "..."), "several answers")},
)


class ScriptedProvider:
    """A provider that returns the answers that it was given, word by word: for tests."""

    def __init__(self, *answers: ModelAnswer) -> None:
        _SCRIPTED.check(answers=answers)
        self._answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def answer(self, request: ModelRequest, on_delta: OnDelta | None) -> ModelAnswer:
        """Return the next answer.

        Raises:
            IndexError: no answer is left.
        """
        self.requests.append(request)
        if not self._answers:
            raise IndexError("the script has no answer left: give ScriptedProvider one a request")
        answer = self._answers.pop(0)
        if on_delta is not None:
            for word in re.findall(r"\s*\S+\s*", answer.content):
                await on_delta(word)
        return answer


class _LargerKind(ValueKind):
    """A number of tokens, and the model that takes the place of another from there on."""

    def __init__(self) -> None:
        super().__init__("a number of tokens and a model", '(8000, "large")', is_pair)

    def wrong(self, place: str, value: object) -> WrongValue | None:
        if not is_pair(value):
            return self.refusal(place, value)
        tokens, model = cast("tuple[object, object]", value)
        return COUNT.wrong(place, tokens) or TEXT.wrong(place, model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inference:
    """How a host runs inference for servers; `McplHost(inference=...)` takes one.

    `routing` chooses the model. `larger` names, for a model, a number of tokens and the model that
    takes its place from there on. A conversation that got a larger model keeps it for its set,
    until `pin_life` seconds have passed without a request. A server may have `at_once` requests
    under way; more are answered `busy`. `budgets` are tokens by pattern of feature sets, for each
    set of each server; a set that has spent them gets no further answers, but a request that began
    before may exceed them. An answer must come within `timeout` seconds. `model` is the answer to
    `model/info`.

    Raises:
        ValueError: an entry of `routing` or `larger` cannot apply, or a number is out of range.
    """

    provider: Provider
    routing: RoutingPolicy
    larger: Mapping[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    pin_life: float = 3600.0
    at_once: int = 2
    budgets: Mapping[str, int] = field(default_factory=dict[str, int])
    timeout: float = 120.0
    model: ModelInfo | None = None

    def __post_init__(self) -> None:
        _INFERENCE.check(**{one.name: getattr(self, one.name) for one in fields(self)})
        check_routing(self.routing, self.larger)


_INFERENCE = ArgumentCheck(
    "Inference",
    'Inference(provider=ChatCompletions("..."), routing=mcpl.RoutingPolicy(default="..."))',
    {
        "provider": having(["answer"], "a Provider", "provider"),
        "routing": instance_of(RoutingPolicy, "mcpl.RoutingPolicy", "..."),
    },
    larger=table_of(_LargerKind(), "a dictionary of larger models", '"small"'),
    pin_life=LIFE,
    at_once=count_from(1),
    budgets=table_of(COUNT, "a dictionary of numbers of tokens", '"notes.*"'),
    timeout=SECONDS,
    model=instance_of(ModelInfo, "mcpl.ModelInfo", 'mcpl.ModelInfo(id="...")').or_none,
)


_MOST_COUNTED = 10_000  # feature sets of all servers whose usage is stored
_USAGE = RecordCodec[tuple[str, str], TokenUsage](
    name=lambda key: f"{key[0]}/{short_digest(key[1])}",
    write=lambda key, usage: {"featureSet": key[1], "usage": to_wire(usage)},
    read=lambda name, stored: (
        (name.partition("/")[0], stored["featureSet"]),
        from_wire(TokenUsage, stored["usage"]),
    ),
)


class InferenceManager:
    """The inference of one host."""

    def __init__(self, policy: Inference, records: Records | None, clock: Clock) -> None:
        self.policy = policy
        self._stored = DurableMap(records, "usage/", _USAGE, limit=_MOST_COUNTED, clock=clock)
        self.limiter = UsageLimiter(at_once=policy.at_once, budgets=policy.budgets)
        self._sticky_routes = StickyRoutes(life=policy.pin_life)

    async def load(self, server: PeerIdentity) -> None:
        """Load what was used before this process started."""
        await self._stored.load(f"{server.key}/")
        for (key, feature_set), usage in self._stored.items(f"{server.key}/"):
            if (key, feature_set) not in self.limiter.spent:
                self.limiter.count(server, feature_set, usage)

    def leave(self, server: PeerIdentity) -> None:
        """Remove what a server has used from memory."""
        self._stored.forget(f"{server.key}/")
        for key, feature_set in list(self.limiter.spent):
            if key == server.key:
                self.limiter.forget(server, feature_set)

    async def reset(self, server: ServerPeer, feature_set: str | None) -> None:
        """Count from 0 again, for one set of the server or for all.

        Raises:
            StorageError: the store failed; after a restart everything counts as before.
        """
        for key, name in list(self.limiter.spent):
            if key == server.key and feature_set in (None, name):
                self.limiter.forget(server.session.identity, name)
                await self._stored.delete((key, name))

    async def serve(
        self, server: ServerPeer, params: InferenceRequestParams, context: Context
    ) -> InferenceRequestResult:
        """Run a model and return its answer.

        Raises:
            InternalError: it could not be run; `data.reason` says why.
            InvalidParamsError: the model does not support these messages.
        """
        model = self._model(server, params)
        if model is None:
            raise _refused("no_route", "no model is meant for that feature set")
        reason = self.limiter.enter(server.session.identity, params.feature_set)
        if reason is not None:
            raise _refused(reason, "the host's limits for that server are reached")
        chunks = _Chunks(server, context)
        cost: TokenUsage | None = None
        try:
            answer = await self._answered(server, params, model, chunks)
            cost = answer.usage or estimated_usage(params.messages, answer.content)
        except BaseException as error:
            if chunks.said or _ran(error):
                cost = estimated_usage(params.messages, "".join(chunks.said))
            raise
        finally:
            self.limiter.leave(server.session.identity, params.feature_set, cost)
            if cost is not None:
                await self._store(server, params.feature_set)
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

    async def _store(self, server: ServerPeer, feature_set: str) -> None:
        """Store what a set has used: all of it, so that a write that failed is made up for."""
        if server.session.identity.transient:  # no later connection could find it
            return
        key = server.key, feature_set
        try:
            with anyio.CancelScope(shield=True):
                await self._stored.put(key, self.limiter.spent[key])
        except StorageError:
            logger.exception("%s: what %s has used was not stored", server.id, feature_set)

    def _model(self, server: ServerPeer, params: InferenceRequestParams) -> str | None:
        model = route(
            self.policy.routing, server.server_id, params.feature_set, params.conversation_id
        )
        if model is None:
            return None
        tokens = estimated_tokens(params.messages)
        if params.conversation_id is None:
            return up_tiered(model, tokens, self.policy.larger)
        conversation = short_digest(params.conversation_id)  # an id may be as long as a message
        key, now = (server.key, params.feature_set, conversation), anyio.current_time()
        pinned = self._sticky_routes.model(*key, now=now)
        model = up_tiered(pinned or model, tokens, self.policy.larger)
        self._sticky_routes.keep(*key, model, now=now)
        return model

    async def _answered(
        self, server: ServerPeer, params: InferenceRequestParams, model: str, chunks: _Chunks
    ) -> ModelAnswer:
        wishes = params.preferences
        request = ModelRequest(
            model,
            params.messages,
            None if wishes is None else wishes.max_tokens,
            None if wishes is None else wishes.temperature,
        )
        streams = params.stream and server.session.denial_reason(INFERENCE_CHUNK) is None
        on_delta = chunks.send if streams else None
        answer = await ask(
            lambda request: self.policy.provider.answer(request, on_delta),
            request,
            name="Provider.answer",
            timeout=self.policy.timeout,
            expects=ModelAnswer,
        )
        if isinstance(answer, Answer):
            return answer.value
        if isinstance(answer, Late):
            raise _refused("timeout", "the model did not answer in time")
        raise _failure(server, answer.error)


class _Chunks:
    """Sends the pieces of one answer to the server."""

    def __init__(self, server: ServerPeer, context: Context) -> None:
        self._session = server.session
        self._request_id = context.request_id
        self._index = 0
        self.said: list[str] = []

    async def send(self, delta: str) -> None:
        assert self._request_id is not None  # inference is always a request
        self.said.append(delta)
        params = InferenceChunkParams(request_id=self._request_id, index=self._index, delta=delta)
        self._index += 1
        await self._session.notify(INFERENCE_CHUNK, params)


def _ran(error: BaseException) -> bool:
    """Return whether a model has run although there is no answer: cancelled, or too slow."""
    if isinstance(error, InternalError):
        return bool(error.data["reason"] == "timeout")
    return not isinstance(error, Exception)


def _failure(server: ServerPeer, error: Exception) -> RpcError:
    """Return what the server gets for an error of the provider."""
    if isinstance(error, UnsupportedMessageError):
        return InvalidParamsError(str(error))
    if isinstance(error, ProviderError):
        logger.warning("%s: %s", server.id, error)
        return _refused(error.reason, "the model gave no answer")
    logger.error("%s: a model failed", server.id, exc_info=error)
    return _refused("provider_failed", "the model failed")


def _refused(reason: str, why: str) -> InternalError:
    return InternalError(f"inference/request: {why} ({reason})", data={"reason": reason})
