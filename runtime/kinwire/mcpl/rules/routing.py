"""Which model runs an inference that a server asks for, and whether it may (MCPL 11.3, 11.5)."""

from __future__ import annotations

__all__ = ("Meter", "estimated_tokens", "finish_reason", "route")

from collections.abc import Mapping, Sequence

from kinwire.mcpl.rules.json_values import text
from kinwire.mcpl.rules.names import checked_pattern, matches
from kinwire_protocols.base import to_wire
from kinwire_protocols.mcpl.models import (
    FinishReason,
    InferenceMessage,
    RoutingPolicy,
    TokenUsage,
)

_BYTES_A_TOKEN = 3.5

_FINISHED: Mapping[str, FinishReason] = {
    "end_turn": "end_turn",
    "stop": "end_turn",
    "eos": "end_turn",
    "max_tokens": "max_tokens",
    "length": "max_tokens",
    "model_length": "max_tokens",
    "stop_sequence": "stop_sequence",
}


def route(
    policy: RoutingPolicy, server: str, feature_set: str, conversation: str | None
) -> str | None:
    """Return the model of an inference; None if the policy has none for it.

    What is more particular decides: the conversation, then the set of that server (`SERVER/SET`),
    the set, the longest wildcard that names it, and the default. An empty default is none.
    """
    by_feature = policy.by_feature or {}
    pinned = (policy.overrides or {}).get(f"conversation:{conversation}")
    wild = [one for one in policy.wildcards or {} if matches(one, feature_set)]
    return (
        (pinned if conversation is not None else None)
        or by_feature.get(f"{server}/{feature_set}")
        or by_feature.get(feature_set)
        or (policy.wildcards or {}).get(max(wild, key=len, default=""))
        or policy.default
        or None
    )


def estimated_tokens(messages: Sequence[InferenceMessage]) -> int:
    """Return about how many tokens the messages are; rather too many than too few."""
    size = sum(len(text(to_wire(one)).encode()) for one in messages)
    return int(size / _BYTES_A_TOKEN) + 1


def finish_reason(reason: str) -> FinishReason:
    """Return what a provider's own reason comes to; one that is not known ended the turn."""
    return _FINISHED.get(reason, "end_turn")


class Meter:
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
