"""Which model, and whether: the policy of the specification, limits, and reasons to stop."""

from __future__ import annotations

import pytest

from kinwire.mcpl.rules.routing import Meter, estimated_tokens, finish_reason, route
from kinwire_protocols.mcpl import InferenceMessage, RoutingPolicy, TokenUsage

POLICY = RoutingPolicy(
    default="haiku",
    by_feature={
        "memory.consolidation": "haiku-2",
        "compliance.redaction": "opus",
        "trusted/memory.consolidation": "opus-2",
    },
    wildcards={"memory.*": "mini", "memory.deep.*": "large", "*": "any"},
    overrides={"conversation:conv_123": "pinned"},
)
ROUTED = [
    pytest.param("s", "memory.consolidation", "conv_123", "pinned", id="a conversation"),
    pytest.param("trusted", "memory.consolidation", None, "opus-2", id="a set of one server"),
    pytest.param("s", "memory.consolidation", "other", "haiku-2", id="a set"),
    pytest.param("s", "memory.x", None, "mini", id="a wildcard"),
    pytest.param("s", "memory.deep.x", None, "large", id="the longer wildcard"),
    pytest.param("s", "unknown", None, "any", id="the widest wildcard"),
]


@pytest.mark.parametrize(("server", "name", "conversation", "model"), ROUTED)
def test_what_is_more_particular_decides(
    server: str, name: str, conversation: str | None, model: str
) -> None:
    assert route(POLICY, server, name, conversation) == model


def test_without_a_route_there_is_no_model_and_not_the_dearest() -> None:
    assert route(RoutingPolicy(default="haiku"), "s", "x", None) == "haiku"
    assert route(RoutingPolicy(default=""), "s", "x", "conv") is None


REASONS = [
    ("end_turn", "end_turn"),
    ("stop", "end_turn"),
    ("length", "max_tokens"),
    ("max_tokens", "max_tokens"),
    ("stop_sequence", "stop_sequence"),
    ("content_filter", "end_turn"),
]


@pytest.mark.parametrize(("reason", "expected"), REASONS)
def test_every_reason_of_a_provider_is_one_of_the_three(reason: str, expected: str) -> None:
    assert finish_reason(reason) == expected


def test_tokens_are_estimated_rather_too_high() -> None:
    assert estimated_tokens([InferenceMessage(role="user", content="x" * 3500)]) > 1000
    assert estimated_tokens([]) == 1


def test_a_budget_is_for_each_set_of_each_server_and_the_smallest_counts() -> None:
    meter = Meter(at_once=9, budgets={"memory.*": 100, "memory.small": 10})
    used = TokenUsage(input_tokens=6, output_tokens=6)
    for name in ("memory.small", "memory.large", "other"):
        assert meter.enter("s", name) is None
        meter.leave("s", name, used)
    assert meter.enter("s", "memory.small") == "budget_spent"
    assert meter.enter("t", "memory.small") is None
    assert meter.enter("s", "memory.large") is None
    assert meter.enter("s", "other") is None
    assert meter.spent["s", "other"] == used


def test_so_many_run_at_once_for_a_server() -> None:
    meter = Meter(at_once=2, budgets={})
    assert [meter.enter("s", "x") for _ in range(3)] == [None, None, "busy"]
    assert meter.enter("t", "x") is None
    meter.leave("s", "x", None)
    assert meter.enter("s", "x") is None


def test_a_budget_for_what_is_no_pattern_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="expected a name"):
        Meter(at_once=1, budgets={"mem*": 1})
