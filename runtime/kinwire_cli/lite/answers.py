"""Answers of a command line to the questions of a tool: `--answer ID=VALUE`."""

from __future__ import annotations

__all__ = ("GivenAnswers", "add_answer")

import shlex
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinwire_cli.failure import UsageError, did_you_mean

if TYPE_CHECKING:
    from kinwire.mcplite import LiteElicitation, LiteOutcome
    from kinwire.mcplite.client.outcomes import LiteQuestion
    from kinwire_protocols.base import JsonObject


def add_answer(parser: ArgumentParser) -> None:
    """Add the option that answers questions."""
    text = (
        "answers a question of a tool of MCP-lite; once for each question, and for each choice of "
        "one that takes several"
    )
    parser.add_argument("--answer", action="append", default=[], metavar="ID=VALUE", help=text)


class GivenAnswers:
    """What --answer says, until it is used: a tool may ask more than once."""

    def __init__(self, words: Sequence[str], *, raw: bool) -> None:
        """Read the words.

        Raises:
            UsageError: one has no id, or --raw wants the questions as they come.
        """
        if words and raw:
            raise UsageError("--raw prints questions as they come.", "Leave out --answer or --raw.")
        self._values: dict[str, list[str]] = {}
        for word in words:
            id, equals, value = word.partition("=")
            if not id or not equals:
                hint = "Write --answer ID=VALUE, as in --answer style=short."
                raise UsageError(f"--answer: {word!r:.100} has no ID or no value.", hint)
            self._values.setdefault(id, []).append(value)

    def to(self, asked: LiteElicitation) -> JsonObject:
        """Return the answers to these questions, and use them up; it is empty without any.

        Raises:
            UsageError: there are answers, and to none of these questions; or too many to one.
        """
        questions = {question.id: question for question in asked.questions}
        found = [id for id in self._values if id in questions or not questions]
        if self._values and not found:
            id = next(iter(self._values))
            hint = did_you_mean(id, questions, f"It asks: {', '.join(questions)}.")
            raise UsageError(f"--answer: there is no question {id!r:.100}.", hint)
        return {id: _value(id, self._values.pop(id), questions.get(id)) for id in found}

    def note(self, outcome: LiteOutcome) -> str:
        """Return what to say about the outcome: what is still asked, or was not."""
        from kinwire.mcplite import LiteElicitation

        if isinstance(outcome, LiteElicitation):
            wanted = [question.id for question in outcome.questions] or ["ID"]
            words = " ".join(f"--answer {shlex.quote(id)}=..." for id in wanted)
            return f"the tool has to know more first: call it again, and add {words}"
        left = ", ".join(self._values)
        return f"it was not asked, so --answer did not matter: {left}" if left else ""


def _value(id: str, given: list[str], question: LiteQuestion | None) -> object:
    if question is not None and question.type == "multi_select":
        return given
    if len(given) > 1:
        raise UsageError(f"--answer: {id!r:.100} takes one answer.", "Write it once.")
    return given[0]
