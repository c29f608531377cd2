"""Which model runs an inference that a server asks for, and whether it may (MCPL 11.3, 11.5)."""

from __future__ import annotations

__all__ = (
    "UsageLimiter",
    "check_routing",
    "estimated_tokens",
    "estimated_usage",
    "finish_reason",
    "route",
    "up_tiered",
)

from collections.abc import Mapping, Sequence
from math import inf

from kinwire.mcpl.rules.injections import blocks_of
from kinwire.mcpl.rules.names import checked_pattern, matches
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

_FINISHED: Mapping[str, FinishReason] = {
    "end_turn": "end_turn",
    "stop": "end_turn",
    "eos": "end_turn",
    "max_tokens": "max_tokens",
    "length": "max_tokens",
    "model_length": "max_tokens",
    "stop_sequence": "stop_sequence",
}


def check_routing(policy: RoutingPolicy, larger: Mapping[str, tuple[int, str]]) -> None:
    """Return if both can be followed.

    Raises:
        ValueError: an entry would never count, or larger models lead round in a circle.
    """
    for pattern in policy.wildcards or {}:
        checked_pattern(pattern)
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
    policy: RoutingPolicy, server: str, feature_set: str, conversation: str | None
) -> str | None:
    """Return the model of an inference; None if the policy has none for it.

    What is more particular decides: the conversation, then the set of that server (`SERVER/SET`),
    the set, the longest wildcard that names it, and the default. An empty default is none.
    """
    overrides, by_feature = policy.overrides or {}, policy.by_feature or {}
    override = None if conversation is None else overrides.get(_CONVERSATION + conversation)
    # A set called "trusted/x" would get what the policy gives to the server "trusted" alone.
    names = () if "/" in feature_set else (f"{server}/{feature_set}", feature_set)
    wildcards = policy.wildcards or {}
    wild = max((one for one in wildcards if matches(one, feature_set)), key=len, default="")
    models = (override, *map(by_feature.get, names), wildcards.get(wild), policy.default)
    return next((model for model in models if model), None)


def up_tiered(model: str, tokens: float, larger: Mapping[str, tuple[int, str]]) -> str:
    """Return the model that so many tokens call for, where `model` would do for fewer.

    Raises:
        ValueError: one leads to another round in a circle.
    """
    seen = [model]
    while model in larger and tokens >= larger[model][0]:
        model = larger[model][1]
        if model in seen:
            raise ValueError(f"larger: expected larger and larger models, got {seen} and {model!r}")
        seen.append(model)
    return model


def estimated_tokens(messages: Sequence[InferenceMessage]) -> int:
    """Return about how many tokens the messages are; rather too many than too few.

    A picture costs models about the same, however many bytes it has.
    """
    blocks = [block for one in messages for block in blocks_of(one.content)]
    pictures = sum(1 for block in blocks if isinstance(block, ImageBlock))
    others = [text(to_wire(block)) for block in blocks if not isinstance(block, ImageBlock)]
    return _tokens_of(*others) + _TOKENS_A_PICTURE * pictures


def estimated_usage(messages: Sequence[InferenceMessage], said: str) -> TokenUsage:
    """Return about what an inference has used, where its provider does not say."""
    return TokenUsage(input_tokens=estimated_tokens(messages), output_tokens=_tokens_of(said))


def _tokens_of(*texts: str) -> int:
    size = sum(len(one.encode(errors="replace")) for one in texts)
    return int(size / _BYTES_A_TOKEN) + 1


def finish_reason(reason: str) -> FinishReason:
    """Return what a provider's own reason comes to; one that is not known ended the turn."""
    return _FINISHED.get(reason.lower(), "end_turn")


class UsageLimiter:
    """How much each server has running, and has spent by feature set."""

    def __init__(self, *, at_once: int, budgets: Mapping[str, int]) -> None:
        """Begin with nothing spent. `budgets` are tokens by pattern of feature sets.

        Raises:
            ValueError: a pattern is none.
        """
        self._at_once = at_once
        self._budgets = {checked_pattern(pattern): most for pattern, most in budgets.items()}
        self._running: dict[str, int] = {}
        self._spent: dict[tuple[str, str], TokenUsage] = {}

    @property
    def spent(self) -> Mapping[tuple[str, str], TokenUsage]:
        """What was used by server and feature set."""
        return self._spent

    def enter(self, server: str, feature_set: str) -> str | None:
        """Return why no inference may begin, as the word for it; if None, `leave` has to follow."""
        used = self._spent.get((server, feature_set))
        tokens = 0 if used is None else used.input_tokens + used.output_tokens
        most = [self._budgets[one] for one in self._budgets if matches(one, feature_set)]
        if most and tokens >= min(most):
            return "budget_spent"
        if self._running.get(server, 0) >= self._at_once:
            return "busy"
        self._running[server] = self._running.get(server, 0) + 1
        return None

    def leave(self, server: str, feature_set: str, usage: TokenUsage | None) -> None:
        """End an inference, and count what it has used."""
        self._running[server] -= 1
        if usage is None:
            return
        before = self._spent.get((server, feature_set), TokenUsage(input_tokens=0, output_tokens=0))
        self._spent[server, feature_set] = TokenUsage(
            input_tokens=before.input_tokens + usage.input_tokens,
            output_tokens=before.output_tokens + usage.output_tokens,
        )
