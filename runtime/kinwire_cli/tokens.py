"""Tokens of the clients of a gateway: each stands for an agent.

A command line names the variable that holds a token: other users of a machine see the words of a
command, and a shell keeps them. No message repeats a token, or what may be one.
"""

from __future__ import annotations

__all__ = ("Tokens", "tokens_from")

import os
from collections.abc import Iterable, Mapping
from hashlib import sha256

from kinwire_cli.failure import UsageError

_SHORTEST = 16  # characters of a token: a shorter one is soon guessed
_EXAMPLE = "Write AGENT=VARIABLE, as in --token agent.helper=HELPER_TOKEN."


class Tokens:
    """Says for which agent a token stands, as `authenticate` of a listener."""

    def __init__(self, agents: Mapping[str, str]) -> None:
        """Take the agents by token."""
        self._agents = {_digest(token): agent for token, agent in agents.items()}

    def __call__(self, token: str) -> str | None:
        """Return the agent; None if the token is not known."""
        return self._agents.get(_digest(token))  # how long it takes says nothing of a token


def tokens_from(words: Iterable[str], environment: Mapping[str, str] = os.environ) -> Tokens | None:
    """Return the tokens that `words` name, `AGENT=VARIABLE` each; None without words.

    An agent may have several tokens.

    Raises:
        UsageError: a word is something else, or the variable holds no token.
    """
    agents = dict[str, str]()
    for word in words:
        agent, variable = _parts(word)
        token = environment.get(variable, "").strip()
        _must_be_secret(agent, token)
        if agents.setdefault(token, agent) != agent:
            text = f"--token: {agents[token]} and {agent} have the same token."
            raise UsageError(text, "Give each agent a token of its own.")
    return Tokens(agents) if agents else None


def _parts(word: str) -> tuple[str, str]:
    from kinwire.mgp.rules.access import is_name

    agent, equals, variable = word.rpartition("=")
    if not equals or not variable or not is_name(agent):
        raise UsageError("--token: expected an agent, = and the name of a variable.", _EXAMPLE)
    return agent, variable


def _must_be_secret(agent: str, token: str) -> None:
    if not token:
        text = f"--token: {agent}: the variable that is named there is not set, or is empty."
        raise UsageError(text, _EXAMPLE)
    if len(token) < _SHORTEST or any(character.isspace() for character in token):
        text = f"--token: {agent}: expected a token of {_SHORTEST} characters or more, no blanks."
        hint = "This makes one: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        raise UsageError(text, hint)


def _digest(token: str) -> bytes:
    return sha256(token.encode("utf-8", "surrogatepass")).digest()
