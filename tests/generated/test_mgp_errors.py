"""Errors of MGP: their codes, names and categories, and what they say about trying again."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire_protocols import jsonrpc, mgp
from kinwire_protocols.base import RpcError, from_wire, to_wire
from kinwire_protocols.mgp import augments, tables

ERRORS = [
    (1000, "PERMISSION_DENIED", mgp.PermissionDeniedError),
    (1001, "ACCESS_DENIED", mgp.AccessDeniedError),
    (1002, "AUTH_REQUIRED", mgp.AuthRequiredError),
    (1003, "AUTH_EXPIRED", mgp.AuthExpiredError),
    (1010, "VALIDATION_BLOCKED", mgp.ValidationBlockedError),
    (1011, "CODE_SAFETY_VIOLATION", mgp.CodeSafetyViolationError),
    (2000, "SERVER_NOT_READY", mgp.ServerNotReadyError),
    (2001, "SERVER_DRAINING", mgp.ServerDrainingError),
    (2002, "SERVER_RESTARTING", mgp.ServerRestartingError),
    (3000, "RATE_LIMITED", mgp.RateLimitedError),
    (3001, "RESOURCE_EXHAUSTED", mgp.ResourceExhaustedError),
    (3002, "QUOTA_EXCEEDED", mgp.QuotaExceededError),
    (3003, "TIMEOUT", mgp.TimedOutError),
    (4000, "INVALID_TOOL_ARGS", mgp.InvalidToolArgsError),
    (4001, "TOOL_NOT_FOUND", mgp.ToolNotFoundError),
    (4002, "TOOL_DISABLED", mgp.ToolDisabledError),
    (5000, "UPSTREAM_ERROR", mgp.UpstreamError),
    (5001, "UPSTREAM_TIMEOUT", mgp.UpstreamTimeoutError),
    (5002, "UPSTREAM_UNAVAILABLE", mgp.UpstreamUnavailableError),
]

RANGES = [
    (1000, "security"),
    (2000, "lifecycle"),
    (3000, "resource"),
    (4000, "validation"),
    (5000, "external"),
]


def of(row: str, *values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.spec(f"mgp-{row}"), id=str(values[1]))


@pytest.mark.parametrize(
    ("code", "name", "kind"), [of(f"14.3-{row}", *error) for row, error in enumerate(ERRORS, 1)]
)
def test_an_error_has_a_code_a_name_and_a_class(code: int, name: str, kind: type[RpcError]) -> None:
    error, rule = kind(), tables.ERROR_RULES[name]
    assert (error.code, error.protocol, error.name) == (code, "mgp", rule.error)
    assert mgp.PROTOCOL.errors[rule.error] is kind
    assert rule.code == code


@pytest.mark.parametrize(
    ("lowest", "category"), [of(f"14.2-{row}", *one) for row, one in enumerate(RANGES, 3)]
)
def test_a_range_of_codes_is_about_one_thing(lowest: int, category: str) -> None:
    (found,) = [one for one in tables.ERROR_RANGES if one.lowest == lowest]
    assert (found.highest, found.category) == (lowest + 99, category)
    rules = tables.ERROR_RULES.values()
    inside = {rule.category for rule in rules if lowest <= rule.code <= found.highest}
    assert inside == {category}


@pytest.mark.spec("mgp-14.2-1", "mgp-14.2-2")
def test_the_codes_of_json_rpc_are_left_alone() -> None:
    reserved = range(-32768, -31999)
    assert all(kind.default_code in reserved for kind in jsonrpc.PROTOCOL.errors.values())
    assert all(kind.default_code > 0 for kind in mgp.PROTOCOL.errors.values())
    assert (tables.ERROR_RANGES[0].lowest, tables.ERROR_RANGES[0].highest) == (-32603, -32600)


RECOVERY = {
    "category": "resource",
    "retryable": True,
    "retry_after_ms": 5000,
    "retry_strategy": "exponential_backoff",
    "max_retries": 3,
    "fallback_tool": "search_offline",
    "details": {"limit": 10, "window_secs": 60, "current": 12},
}


@pytest.mark.spec("mgp-14.4-1", "mgp-14.5-2", "mgp-14.5-6")
def test_an_error_says_in_its_data_what_to_do_about_it() -> None:
    error = mgp.RateLimitedError("10 requests per minute", data={"x-other": 1, "_mgp": RECOVERY})
    recovery = augments.EVERY_ERROR_MGP.read(error)
    assert recovery is not None
    assert (recovery.retryable, recovery.fallback_tool) == (True, "search_offline")
    assert to_wire(recovery) == RECOVERY


def test_any_error_can_say_what_to_do_about_it() -> None:
    recovery = from_wire(mgp.ErrorRecovery, RECOVERY)
    written = augments.EVERY_ERROR_MGP.write(jsonrpc.InternalError(), recovery)
    assert written.data == {"_mgp": RECOVERY}
    assert augments.EVERY_ERROR_MGP.read({"code": -32603, "message": "no data"}) is None


@pytest.mark.parametrize(
    ("word", "meant"), [("upstream", "external"), ("exponential", "exponential_backoff")]
)
def test_a_word_of_known_kernels_is_read_and_has_its_meaning(word: str, meant: str) -> None:
    member = "category" if meant == "external" else "retry_strategy"
    data = {**RECOVERY, member: word}
    assert to_wire(from_wire(mgp.ErrorRecovery, data)) == data
    assert tables.WORD_ALIASES[word].means == meant


def test_what_is_not_tried_again_has_no_strategy() -> None:
    rules = tables.ERROR_RULES.values()
    assert all(rule.retryable == (rule.retry_strategy is not None) for rule in rules)
