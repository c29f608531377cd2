"""Which inference a host refuses while hooks are open."""

from __future__ import annotations

import pytest

from kinwire.mcpl.rules.open_hooks import OpenHooks

pytestmark = pytest.mark.spec("mcpl-10.7-3")


def test_only_the_conversation_of_an_open_hook_is_refused() -> None:
    hooks = OpenHooks()
    assert hooks.refusal("a") is None
    with hooks.waiting("a"), hooks.waiting("b"):
        for conversation in ("a", "b"):
            refusal = hooks.refusal(conversation)
            assert refusal is not None
            assert (refusal.code, refusal.data) == (-32600, {"retryable": True})
        assert hooks.refusal("c") is None
        assert hooks.refusal(None) is None
    assert hooks.refusal("a") is None


def test_a_conversation_is_refused_until_its_last_hook_is_answered() -> None:
    hooks = OpenHooks()
    with hooks.waiting("a"):
        with hooks.waiting("a"):
            assert hooks.refusal("a")
        assert hooks.refusal("a")
    assert hooks.refusal("a") is None


def test_answered_hooks_take_no_memory() -> None:
    hooks = OpenHooks()
    for number in range(100):
        with hooks.waiting(f"conv_{number}"):
            assert hooks.refusal("other") is None
    assert not vars(hooks)["_open"]
