"""MGP errors and what they say about recovery."""

from __future__ import annotations

import pytest

from kinwire.mgp.errors import recovery_of, refusal, rule_of, typed
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.mgp import errors
from kinwire_protocols.mgp.methods import PROTOCOL
from kinwire_protocols.mgp.tables import ERROR_RULES
from tests.each import each


def test_refusals_carry_the_defaults_of_their_row() -> None:
    for rule in ERROR_RULES.values():
        error = refusal(PROTOCOL.errors[rule.error], "no")
        said: JsonObject = {"category": rule.category, "retryable": rule.retryable}
        if rule.retry_strategy:
            said["retry_strategy"] = rule.retry_strategy
        assert (error.code, error.data, rule_of(error)) == (rule.code, {"_mgp": said}, rule)
    assert len(ERROR_RULES) == len(PROTOCOL.errors) == 19


def test_a_message_is_one_line_whatever_names_are_in_it() -> None:
    error = refusal(errors.AccessDeniedError, "no \x1b[2J\n\u202e\ud800 caf\u00e9")
    assert error.message == r"no \x1b[2J\n\u202e\ud800 café"


def test_what_is_passed_is_on_the_wire() -> None:
    details: JsonObject = {"limit": 10}
    error = refusal(
        errors.RateLimitedError, "slow down", details=details, retry_after=5.0, max_retries=3
    )
    assert error.data == {
        "_mgp": {
            "category": "resource",
            "retryable": True,
            "retry_strategy": "exponential_backoff",
            "retry_after_ms": 5000,
            "max_retries": 3,
            "details": {"limit": 10},
        }
    }
    final = refusal(errors.RateLimitedError, "stop", retryable=False, fallback_tool="other")
    assert final.data["_mgp"] == {
        "category": "resource",
        "retryable": False,
        "fallback_tool": "other",
    }


def test_classes_and_values_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(TypeError, match="expected an error class of MGP, got the class RpcError"):
        refusal(RpcError, "no")
    with pytest.raises(ValueError, match="retry_after: expected seconds"):
        refusal(errors.RateLimitedError, "no", retry_after=-1)


@each(
    ("error", "said"),
    [
        (RpcError("?", code=3000), {"retryable": False}),
        (RpcError("?", code=3000, data=["_mgp"]), {"retryable": False}),
        (RpcError("?", code=3000, data={"_mgp": "yes"}), {"retryable": False}),
        (RpcError("?", data={"_mgp": {"retryable": True}}), {"retryable": True}),
        (
            errors.UpstreamTimeoutError("?", data={"_mgp": {"max_retries": -1, "retryable": "no"}}),
            {"category": "external", "retryable": True, "retry_strategy": "exponential_backoff"},
        ),
        (
            RpcError("?", data={"_mgp": {"category": "upstream", "retry_strategy": "exponential"}}),
            {"category": "external", "retryable": False, "retry_strategy": "exponential_backoff"},
        ),
        (
            errors.RateLimitedError("?", data={"_mgp": {"retryable": False, "more": 1}}),
            {
                "category": "resource",
                "retryable": False,
                "retry_strategy": "exponential_backoff",
                "more": 1,
            },
        ),
    ],
)
def test_recovery_is_read_leniently_and_has_defaults(error: RpcError, said: JsonObject) -> None:
    assert recovery_of(error).model_dump(exclude_none=True) == said


def test_raw_errors_get_the_class_of_their_code() -> None:
    raw = RpcError("slow down", code=3000, data={"_mgp": {"retry_after_ms": 5}})
    found = typed(raw)
    assert type(found) is errors.RateLimitedError
    assert (found.message, found.data) == (raw.message, raw.data)
    named = errors.AccessDeniedError("no", code=3000)
    assert typed(named) is named
    other = RpcError("?", code=7)
    assert typed(other) is other
