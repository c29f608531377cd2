"""What runs models for a host, and one that only says what it was given."""

from __future__ import annotations

__all__ = ("OnDelta", "Provider", "ScriptedProvider")

import re
from collections.abc import Awaitable, Callable
from typing import Protocol

from kinwire.mcpl.rules.model_requests import ModelAnswer, ModelRequest

OnDelta = Callable[[str], Awaitable[None]]
"""Takes a piece of the answer as soon as it is there."""


class Provider(Protocol):
    """Runs models. It is cancelled when nobody waits for the answer any more."""

    async def answer(self, request: ModelRequest, on_delta: OnDelta | None) -> ModelAnswer:
        """Return the whole answer; hand on its pieces before, if there is an `on_delta`.

        Raises:
            ProviderError: there is no answer, for a reason that the server may know.
            UnsupportedMessageError: the model cannot be given such messages.
            Exception: anything else; the server learns only that the model failed.
        """
        ...


class ScriptedProvider:
    """A provider that says what it was given, word by word: for tests."""

    def __init__(self, *answers: ModelAnswer) -> None:
        self._answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def answer(self, request: ModelRequest, on_delta: OnDelta | None) -> ModelAnswer:
        """Return the next answer.

        Raises:
            IndexError: there is none left.
        """
        self.requests.append(request)
        if not self._answers:
            raise IndexError("the script has no answer left: give ScriptedProvider one a request")
        answer = self._answers.pop(0)
        if on_delta is not None:
            for word in re.findall(r"\s*\S+\s*", answer.content):
                await on_delta(word)
        return answer
