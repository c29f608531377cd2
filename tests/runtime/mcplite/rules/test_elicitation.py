"""What a tool asked with comes back as it was, for the same call of the same caller, in time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from kinwire.managers.tool_outcomes import NeedsAnswers, ToolError, ToolQuestion
from kinwire.mcplite.rules.elicitation import AnswerSeal, Asked, binding_of
from tests.each import each

SECRET = b"a secret that two processes share"
SEAL = AnswerSeal(SECRET, life=60.0, most=1000)
BINDING = binding_of("report", {"topic": "x"}, "owner")
ASKED = NeedsAnswers("Which?", [ToolQuestion("format", "?"), ToolQuestion("n", "?")], state=[1])

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(JSON)
def test_the_state_comes_back_as_it_was(state: Any) -> None:
    context = SEAL.seal(NeedsAnswers("?", state=state), BINDING, now=0.0)
    assert AnswerSeal(SECRET, life=1.0, most=1).open(context, BINDING, now=59.0) == Asked((), state)


CONTEXT = SEAL.seal(ASKED, BINDING, now=0.0)


@pytest.mark.spec("mcp-lite-3.8-1", "mcp-lite-7.2-4")
def test_the_answers_need_nothing_that_the_server_keeps() -> None:
    assert SEAL.open(CONTEXT, BINDING, now=59.9) == Asked(("format", "n"), [1])


@each(
    ("context", "binding", "now", "seal"),
    [
        (CONTEXT, BINDING, 60.0, SEAL),
        (CONTEXT, binding_of("other", {"topic": "x"}, "owner"), 1.0, SEAL),
        (CONTEXT, binding_of("report", {"topic": "y"}, "owner"), 1.0, SEAL),
        (CONTEXT, binding_of("report", {"topic": "x"}, "another"), 1.0, SEAL),
        (CONTEXT, BINDING, 1.0, AnswerSeal(b"another secret", life=60.0, most=1000)),
        (None, BINDING, 1.0, SEAL),
        (5, BINDING, 1.0, SEAL),
        ("", BINDING, 1.0, SEAL),
        (".", BINDING, 1.0, SEAL),
        ("\ud800.\ud800", BINDING, 1.0, SEAL),
        (CONTEXT.partition(".")[0], BINDING, 1.0, SEAL),
        (CONTEXT + "A", BINDING, 1.0, SEAL),
        ("A" + CONTEXT, BINDING, 1.0, SEAL),
        (CONTEXT.swapcase(), BINDING, 1.0, SEAL),
    ],
)
def test_a_context_that_is_not_valid_is_refused(
    context: object, binding: str, now: float, seal: AnswerSeal
) -> None:
    with pytest.raises(ToolError) as caught:
        seal.open(context, binding, now=now)
    assert caught.value.code == "ANSWERS_UNAVAILABLE"


@given(st.integers(0, len(CONTEXT) - 1), st.sampled_from("Az0_-."))
def test_a_context_with_another_character_is_refused(place: int, character: str) -> None:
    changed = CONTEXT[:place] + character + CONTEXT[place + 1 :]
    if changed != CONTEXT:
        with pytest.raises(ToolError):
            SEAL.open(changed, BINDING, now=1.0)


def test_a_state_that_is_too_large_or_not_json_is_refused_where_it_is_made() -> None:
    with pytest.raises(ValueError, match="at most 1000 characters"):
        SEAL.seal(NeedsAnswers("?", state="x" * 1000), BINDING, now=0.0)
    with pytest.raises(ValueError, match="JSON"):
        SEAL.seal(NeedsAnswers("?", state=object()), BINDING, now=0.0)
