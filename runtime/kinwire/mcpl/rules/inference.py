"""Inference for servers: requests to models, the choice of the model, and limits (MCPL 11)."""

from __future__ import annotations

__all__ = (
    "ModelAnswer",
    "ModelRequest",
    "StickyRoutes",
    "UsageLimiter",
    "check_routing",
    "estimated_tokens",
    "estimated_usage",
    "finish_reason",
    "route",
    "up_tiered",
)

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from kinwire.managers.limits import Budget, ConcurrencyLimit
from kinwire.mcpl.rules.content import blocks_of
from kinwire.mcpl.rules.names import ServerPattern
from kinwire.rpc.identity import PeerIdentity
from kinwire.support.arguments import TEXT, ArgumentCheck, instance_of
from kinwire.support.bounded import TtlDict
from kinwire.support.json_values import text
from kinwire_protocols.base import to_wire
from kinwire_protocols.mcpl.models import (
    FinishReason,
    ImageBlock,
    InferenceMessage,
    RoutingPolicy,
    TokenUsage,
)

_BYTES_A_TOKEN = 3.5
_TOKENS_A_PICTURE = 2000
_CONVERSATION = "conversation:"
_Key = tuple[str, str]  # feature set and conversation

_FINISHED: Mapping[str, FinishReason] = {
    "end_turn": "end_turn",
    "stop": "end_turn",
    "eos": "end_turn",
    "max_tokens": "max_tokens",
    "length": "max_tokens",
    "model_length": "max_tokens",
    "stop_sequence": "stop_sequence",
}


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to a model."""

    model: str
    """The model's name, as in `RoutingPolicy`."""
    messages: Sequence[InferenceMessage]
    """The oldest first."""
    max_tokens: int | None = None
    """The most tokens in the answer; None for the provider's default."""
    temperature: float | None = None
    """As the server requests it; None for the provider's default."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The answer of a model."""

    content: str
    """The whole text, including the pieces that were passed on before."""
    model: str
    """The model that was actually used."""
    stopped: str = "end_turn"
    """Why the answer ended, in the provider's own word."""
    usage: TokenUsage | None = None

    def __post_init__(self) -> None:
        _MODEL_ANSWER.check(
            content=self.content, model=self.model, stopped=self.stopped, usage=self.usage
        )


_MODEL_ANSWER = ArgumentCheck(
    "ModelAnswer",
    'ModelAnswer("...", "model")',
    {"content": TEXT, "model": TEXT},
    stopped=TEXT,
    usage=instance_of(TokenUsage, "mcpl.TokenUsage", "mcpl.TokenUsage(...)").or_none,
)


def check_routing(policy: RoutingPolicy, larger: Mapping[str, tuple[int, str]]) -> None:
    """Raise if `policy` or `larger` has an entry that cannot apply.

    Raises:
        ValueError: an entry would never match, or the larger models form a cycle.
    """
    for pattern in policy.wildcards or {}:
        ServerPattern.read(pattern)
    for name in policy.by_feature or {}:
        if "*" in name:
            raise ValueError(f"byFeature: {name!r:.60} is a pattern. Write it under wildcards.")
    for key in policy.overrides or {}:
        if not key.startswith(_CONVERSATION):
            raise ValueError(
                f"overrides: expected {_CONVERSATION}ID, got {key!r:.60}. Put it in front."
            )
    for model in larger:
        up_tiered(model, inf, larger)


def route(
    policy: RoutingPolicy, server: str | None, feature_set: str, conversation: str | None
) -> str | None:
    """Return the model of an inference, or None if the policy has none for it.

    The most specific entry wins: the conversation, then the set of that server (`SERVER/SET`), the
    set, the longest wildcard that matches it, one of that server (`SERVER/PATTERN`) first, and the
    default. An empty default is ignored.
    """
    overrides, by_feature = policy.overrides or {}, policy.by_feature or {}
    override = None if conversation is None else overrides.get(_CONVERSATION + conversation)
    # A set named "trusted/x" must not match an entry that is for the server "trusted" alone.
    names = () if "/" in feature_set else (f"{server}/{feature_set}", feature_set)
    wildcards = policy.wildcards or {}
    matching = [one for one in wildcards if ServerPattern.read(one).matches(server, feature_set)]
    wild = max(matching, key=lambda one: ServerPattern.read(one).rank, default="")
    models = (override, *map(by_feature.get, names), wildcards.get(wild), policy.default)
    return next((model for model in models if model), None)


def up_tiered(model: str, tokens: float, larger: Mapping[str, tuple[int, str]]) -> str:
    """Return the model for `tokens` tokens: `model`, or a larger one that takes its place.

    Raises:
        ValueError: the larger models form a cycle.
    """
    seen = [model]
    while model in larger and tokens >= larger[model][0]:
        model = larger[model][1]
        if model in seen:
            raise ValueError(f"larger: expected larger and larger models, got {seen} and {model!r}")
        seen.append(model)
    return model


def estimated_tokens(messages: Sequence[InferenceMessage]) -> int:
    """Return an estimate of the tokens in `messages`, more likely too high than too low.

    A picture costs about the same, however many bytes it has.
    """
    blocks = [block for one in messages for block in blocks_of(one.content)]
    pictures = sum(1 for block in blocks if isinstance(block, ImageBlock))
    others = [text(to_wire(block)) for block in blocks if not isinstance(block, ImageBlock)]
    return _tokens_of(*others) + _TOKENS_A_PICTURE * pictures


def estimated_usage(messages: Sequence[InferenceMessage], said: str) -> TokenUsage:
    """Return an estimate of the tokens of an inference whose provider does not report them."""
    return TokenUsage(input_tokens=estimated_tokens(messages), output_tokens=_tokens_of(said))


def _tokens_of(*texts: str) -> int:
    size = sum(len(one.encode(errors="replace")) for one in texts)
    return int(size / _BYTES_A_TOKEN) + 1


def finish_reason(reason: str) -> FinishReason:
    """Return MCPL's word for a provider's reason; an unknown one means the end of the turn."""
    return _FINISHED.get(reason.lower(), "end_turn")


class StickyRoutes:
    """The models of conversations, by server and feature set, so that they stay the same.

    Each is kept for `life` seconds after its last use. `most` limits those of one server, because
    servers choose the ids of conversations and must not push out those of another server. The
    entries of a server that has used none for `life` seconds are removed.
    """

    def __init__(self, *, life: float, most: int = 1000) -> None:
        self._life = life
        self._most = most
        self._kept: dict[str, TtlDict[_Key, str]] = {}

    def model(self, server: str, feature_set: str, conversation: str, *, now: float) -> str | None:
        """Return the model of the conversation, or None if it is not kept at `now`."""
        kept = self._kept.get(server)
        return None if kept is None else kept.get((feature_set, conversation), now=now)

    def keep(
        self, server: str, feature_set: str, conversation: str, model: str, *, now: float
    ) -> None:
        """Keep the model of a conversation."""
        for kept in self._kept.values():
            kept.expire(now=now)
        self._kept = {one: kept for one, kept in self._kept.items() if kept}
        if server not in self._kept:
            self._kept[server] = TtlDict(self._life, limit=self._most)
        self._kept[server].put((feature_set, conversation), model, now=now)


class UsageLimiter:
    """Limits the inferences that each server has running, and the tokens of its feature sets."""

    def __init__(self, *, at_once: int, budgets: Mapping[str, int]) -> None:
        """Start with nothing spent. `budgets` are tokens by `PATTERN` or `SERVER/PATTERN`.

        Raises:
            ValueError: a pattern is invalid.
        """
        self._most = [(ServerPattern.read(text), most) for text, most in budgets.items()]
        self._limit = ConcurrencyLimit[str](at_once)
        self._budget = Budget[tuple[PeerIdentity, str]](self._most_of)
        self._usage: dict[tuple[str, str], TokenUsage] = {}

    @property
    def spent(self) -> Mapping[tuple[str, str], TokenUsage]:
        """The tokens used so far, by key of the server and feature set."""
        return self._usage

    def enter(self, server: PeerIdentity, feature_set: str) -> str | None:
        """Return why no inference may begin, as one word; after None, `leave` must be called."""
        if self._budget.is_spent((server, feature_set)):
            return "budget_spent"
        return None if self._limit.enter(server.key) else "busy"

    def leave(self, server: PeerIdentity, feature_set: str, usage: TokenUsage | None) -> None:
        """End an inference, and count the tokens that it has used."""
        self._limit.leave(server.key)
        if usage is not None:
            self.count(server, feature_set, usage)

    def count(self, server: PeerIdentity, feature_set: str, usage: TokenUsage) -> None:
        """Count tokens that were used."""
        self._budget.spend((server, feature_set), usage.input_tokens + usage.output_tokens)
        key = server.key, feature_set
        before = self._usage.get(key, TokenUsage(input_tokens=0, output_tokens=0))
        self._usage[key] = TokenUsage(
            input_tokens=before.input_tokens + usage.input_tokens,
            output_tokens=before.output_tokens + usage.output_tokens,
        )

    def forget(self, server: PeerIdentity, feature_set: str) -> None:
        """Begin again with nothing spent."""
        self._budget.forget((server, feature_set))
        self._usage.pop((server.key, feature_set), None)

    def _most_of(self, key: tuple[PeerIdentity, str]) -> int | None:
        server, name = key
        most = (most for one, most in self._most if one.matches(server.server_id, name))
        return min(most, default=None)
