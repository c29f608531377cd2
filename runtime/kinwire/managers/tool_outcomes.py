"""What a tool function may return or raise in addition to values, in all protocols with tools.

Over MCP a promise is awaited, and questions are an error that the caller's model reads. Over
MCP-lite each is a kind of response of its own (MCP-lite 0.042 section 3.4).
"""

from __future__ import annotations

__all__ = ("MoreResources", "NeedsAnswers", "Promised", "ToolError", "ToolQuestion")

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kinwire.support.arguments import (
    FUNCTION,
    SECONDS,
    TEXT,
    TEXTS,
    ArgumentCheck,
    instance_of,
    list_of,
)

_PROMISED = ArgumentCheck(
    "Promised",
    "Promised(work, estimated_seconds=60)",
    {"work": FUNCTION, "estimated_seconds": SECONDS.or_none},
)
_QUESTION = ArgumentCheck(
    "ToolQuestion",
    'ToolQuestion("format", "Which format?", options=["short", "long"])',
    {"id": TEXT, "text": TEXT, "options": TEXTS},
    type=TEXT.or_none,
)
_TOOL_ERROR = ArgumentCheck("ToolError", 'ToolError("...", code="OUT_OF_STOCK")', {"code": TEXT})


class ToolError(Exception):
    """Raise this in a tool that ran and failed: the caller's model reads the text as the result.

    `code` is a word that programs tell failures apart by, and `data` any JSON value: protocols
    that have a place for them send both.
    """

    def __init__(self, *text: object, code: str = "TOOL_FAILED", data: Any = None) -> None:
        _TOOL_ERROR.check(code=code)
        super().__init__(*text)
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True)
class Promised:
    """The answer of a tool whose work takes long: `return Promised(work, estimated_seconds=60)`.

    `work` is an async function without parameters, which returns what a tool function may return.
    It runs after the function has returned. `estimated_seconds` is how long it may take; None if
    nobody knows.
    """

    work: Callable[[], Awaitable[Any]]
    estimated_seconds: float | None = None

    def __post_init__(self) -> None:
        """Check the types.

        Raises:
            TypeError, ValueError: a value is not of its type.
        """
        _PROMISED.check(work=self.work, estimated_seconds=self.estimated_seconds)


@dataclass(frozen=True, slots=True)
class ToolQuestion:
    """One question that a tool asks; the answer comes back under its `id`.

    `type` says how it is answered: `text`, `single_select` or `multi_select`. Without it a question
    with `options` is a `single_select`, and one without is answered by any text.
    """

    id: str
    text: str
    type: str | None = None
    options: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check the types.

        Raises:
            TypeError: a value is not of its type.
        """
        _QUESTION.check(id=self.id, text=self.text, type=self.type, options=self.options)


@dataclass(frozen=True, slots=True)
class NeedsAnswers:
    """The answer of a tool that has to know more first: `text` says what, `questions` ask for it.

    `state` is any JSON value: it comes back with the answers as it was, and nobody can change it on
    the way. The server keeps nothing.
    """

    text: str
    questions: Sequence[ToolQuestion] = ()
    state: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        """Check the types.

        Raises:
            TypeError: a value is not of its type.
        """
        _NEEDS.check(text=self.text, questions=self.questions)


@dataclass(frozen=True, slots=True)
class MoreResources:
    """A wish for more resources, as a service behind this one has sent it: it is passed on."""

    result: dict[str, Any]
    """The whole result, as JSON."""


_NEEDS = ArgumentCheck(
    "NeedsAnswers",
    'NeedsAnswers("Which format?", [ToolQuestion("format", "Which?")])',
    {
        "text": TEXT,
        "questions": list_of(
            instance_of(ToolQuestion, "ToolQuestion", 'ToolQuestion("format", "Which?")'),
            "several questions",
        ),
    },
)
