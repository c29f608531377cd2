"""Which model, and whether: the policy of the specification, limits, and reasons to stop."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mcpl.rules.inference import (
    StickyRoutes,
    UsageLimiter,
    check_routing,
    estimated_tokens,
    estimated_usage,
    finish_reason,
    route,
    up_tiered,
)
from kinwire.rpc.identity import PeerIdentity
from kinwire_protocols import mcpl
from kinwire_protocols.mcpl import InferenceMessage, RoutingPolicy, TokenUsage
from tests.each import each

pytestmark = pytest.mark.spec("mcpl-11.5-1", "mcpl-11.5-8")

POLICY = RoutingPolicy(
    default="haiku",
    by_feature={
        "memory.consolidation": "haiku-2",
        "compliance.redaction": "opus",
        "trusted/memory.consolidation": "opus-2",
    },
    wildcards={"memory.*": "mini", "memory.deep.*": "large", "*": "any", "own/*": "own"},
    overrides={"conversation:conv_123": "pinned"},
)
S, T = PeerIdentity.of(None, "s"), PeerIdentity.of(None, "t")
NAMELESS = PeerIdentity.of("s")
ROUTED = [
    pytest.param("s", "memory.consolidation", "conv_123", "pinned", id="a conversation"),
    pytest.param("trusted", "memory.consolidation", None, "opus-2", id="a set of one server"),
    pytest.param("s", "memory.consolidation", "other", "haiku-2", id="a set"),
    pytest.param("s", "memory.x", None, "mini", id="a wildcard"),
    pytest.param("s", "memory.deep.x", None, "large", id="the longer wildcard"),
    pytest.param("s", "unknown", None, "any", id="the widest wildcard"),
    pytest.param("own", "memory.deep.x", None, "own", id="a wildcard of one server"),
    pytest.param("s", "own/x", None, "any", id="a set that is named like a server's"),
    pytest.param(None, "unknown", None, "any", id="a server without an id"),
]


@each(("server", "name", "conversation", "model"), ROUTED)
def test_what_is_more_particular_decides(
    server: str, name: str, conversation: str | None, model: str
) -> None:
    assert route(POLICY, server, name, conversation) == model


def test_without_a_route_no_model_is_chosen() -> None:
    assert route(RoutingPolicy(default="haiku"), "s", "x", None) == "haiku"
    assert route(RoutingPolicy(default=""), "s", "x", "conv") is None


def test_a_name_similar_to_a_set_of_another_server_gets_the_default() -> None:
    assert route(POLICY, "s", "trusted/memory.consolidation", None) == "any"
    only = RoutingPolicy(default="haiku", by_feature={"a/b/c": "opus"})
    assert route(only, "a", "b/c", None) == "haiku"
    assert route(only, "a/b", "c", None) == "opus"


UNUSABLE: list[Any] = [
    ({"wildcards": {"mem*": "m"}}, {}, "expected a name"),
    ({"by_feature": {"memory.*": "m"}}, {}, "Write it under wildcards"),
    ({"overrides": {"conv_1": "m"}}, {}, "expected conversation:ID"),
    ({}, {"a": (10, "b"), "b": (20, "a")}, "larger and larger"),
    ({}, {"a": (10, "a")}, "larger and larger"),
]


@each(("policy", "larger", "why"), UNUSABLE)
def test_an_entry_without_effect_is_refused_immediately(policy: Any, larger: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        check_routing(RoutingPolicy(default="m", **policy), larger)
    check_routing(POLICY, {"a": (10, "b"), "c": (5, "b")})


LARGER = {"small": (1000, "middle"), "middle": (5000, "large")}


@each(
    ("model", "tokens", "expected"),
    [
        ("small", 999, "small"),
        ("small", 1000, "middle"),
        ("small", 5000, "large"),
        ("large", 9000, "large"),
        ("other", 9000, "other"),
    ],
)
def test_a_large_context_has_a_larger_model(model: str, tokens: int, expected: str) -> None:
    assert up_tiered(model, tokens, LARGER) == expected


def test_a_conversation_keeps_its_model_for_a_while_and_for_its_set() -> None:
    routes = StickyRoutes(life=10)
    routes.keep("s", "a", "conv", "large", now=0)
    assert routes.model("s", "a", "conv", now=9.9) == "large"
    for server, name, conversation in (("t", "a", "conv"), ("s", "b", "conv"), ("s", "a", "other")):
        assert routes.model(server, name, conversation, now=1) is None
    routes.keep("s", "a", "conv", "large", now=9)
    assert routes.model("s", "a", "conv", now=18) == "large"
    assert routes.model("s", "a", "conv", now=19) is None


def test_a_server_with_many_conversations_pushes_out_its_own_and_no_others() -> None:
    routes = StickyRoutes(life=10, most=2)
    routes.keep("quiet", "a", "conv", "large", now=0)
    for number in range(5):
        routes.keep("busy", "a", f"conv_{number}", "large", now=0)
    kept = [routes.model("busy", "a", f"conv_{number}", now=1) for number in range(5)]
    assert kept == [None, None, None, "large", "large"]
    assert routes.model("quiet", "a", "conv", now=1) == "large"


def test_nothing_is_left_of_servers_that_have_gone() -> None:
    routes = StickyRoutes(life=10)
    for number in range(100):
        routes.keep(f"server_{number}", "a", "conv", "large", now=number)
        routes.keep("stays", "a", f"conv_{number}", "large", now=number)
    assert len(routes._kept) == 11
    assert routes.model("server_90", "a", "conv", now=99) == "large"


REASONS = [
    ("end_turn", "end_turn"),
    ("stop", "end_turn"),
    ("length", "max_tokens"),
    ("max_tokens", "max_tokens"),
    ("stop_sequence", "stop_sequence"),
    ("content_filter", "end_turn"),
    ("tool_calls", "end_turn"),
    ("MAX_TOKENS", "max_tokens"),
    ("", "end_turn"),
]


@each(("reason", "expected"), REASONS)
def test_every_reason_of_a_provider_is_one_of_the_three(reason: str, expected: str) -> None:
    assert finish_reason(reason) == expected


def test_tokens_are_estimated_rather_too_high() -> None:
    assert estimated_tokens([InferenceMessage(role="user", content="x" * 3500)]) > 1000
    assert estimated_tokens([]) == 1
    picture = mcpl.ImageBlock(data="A" * 1_000_000, mime_type="image/png")
    assert 1000 < estimated_tokens([InferenceMessage(role="user", content=[picture])]) < 10_000
    assert estimated_usage([], "x" * 3500).output_tokens > 1000
    assert estimated_usage([], "\ud800").output_tokens == 1  # half a character


def test_a_budget_is_for_each_set_of_each_server_and_the_smallest_counts() -> None:
    limiter = UsageLimiter(at_once=9, budgets={"memory.*": 100, "memory.small": 10})
    used = TokenUsage(input_tokens=6, output_tokens=6)
    for name in ("memory.small", "memory.large", "other"):
        assert limiter.enter(S, name) is None
        limiter.leave(S, name, used)
    assert limiter.enter(S, "memory.small") == "budget_spent"
    assert limiter.enter(T, "memory.small") is None
    assert limiter.enter(S, "memory.large") is None
    assert limiter.enter(S, "other") is None
    assert limiter.spent[S.key, "other"] == used


def test_a_budget_of_one_server_is_for_no_other_server() -> None:
    limiter = UsageLimiter(at_once=9, budgets={"s/memory.*": 10, "memory.*": 100})
    used = TokenUsage(input_tokens=6, output_tokens=6)
    for server in (S, T, NAMELESS):
        limiter.count(server, "memory.small", used)
    assert limiter.enter(S, "memory.small") == "budget_spent"
    assert limiter.enter(T, "memory.small") is None
    assert limiter.enter(NAMELESS, "memory.small") is None
    limiter.forget(S, "memory.small")
    assert limiter.enter(S, "memory.small") is None
    assert {key for key, _ in limiter.spent} == {T.key, NAMELESS.key}


def test_concurrent_runs_of_a_server_are_limited() -> None:
    limiter = UsageLimiter(at_once=2, budgets={})
    assert [limiter.enter(S, "x") for _ in range(3)] == [None, None, "busy"]
    assert limiter.enter(T, "x") is None
    limiter.leave(S, "x", None)
    assert limiter.enter(S, "x") is None


@each("text", ["mem*", "s/mem*", "s/", "/x", "*/x"])
def test_a_budget_with_an_invalid_pattern_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a "):
        UsageLimiter(at_once=1, budgets={text: 1})
