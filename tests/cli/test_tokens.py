"""Tokens of the clients of a gateway."""

from __future__ import annotations

import pytest

from kinwire_cli.failure import UsageError
from kinwire_cli.tokens import tokens_from

TOKEN = "x" * 16
OTHER = "é" * 40
KNOWN = {"A": TOKEN, "B": f" {OTHER}\n", "SHORT": "x" * 15, "SPLIT": "x" * 16 + " y", "EMPTY": ""}


def test_each_token_stands_for_its_agent() -> None:
    tokens = tokens_from(["agent.a=A", "agent=b=B"], KNOWN)
    assert tokens is not None
    assert [tokens(TOKEN), tokens(OTHER)] == ["agent.a", "agent=b"]
    assert {tokens(one) for one in ("", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "\ud800")} == {None}
    both = tokens_from(["agent.a=A", "agent.a=B", "agent.a=A"], KNOWN)
    assert both is not None
    assert both(OTHER) == both(TOKEN) == "agent.a"


def test_without_words_there_are_no_tokens() -> None:
    assert tokens_from([], KNOWN) is None


SECRET = "this-is-a-secret-token"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["agent.a"], "--token: expected an agent, = and the name of a variable."),
        ([SECRET], "--token: expected an agent, = and the name of a variable."),
        (["=A"], "--token: expected an agent, ="),
        (["agent.a="], "--token: expected an agent, ="),
        (["a\n=A"], "--token: expected an agent, ="),
        ([f"agent.a={SECRET}"], "--token: agent.a: the variable that is named there is not set"),
        (["agent.a=EMPTY"], "--token: agent.a: the variable that is named there is not set"),
        (["agent.a=SHORT"], "--token: agent.a: expected a token of 16 characters or more"),
        (["agent.a=SPLIT"], "--token: agent.a: expected a token of 16 characters or more"),
        (["a=A", "b=A"], "--token: a and b have the same token."),
    ],
)
def test_what_names_no_token_is_refused_and_not_repeated(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        tokens_from(words, KNOWN)
    said = f"{caught.value} {caught.value.hint}"
    assert message in said
    assert not any(secret in said for secret in (SECRET, *KNOWN.values()) if secret)
