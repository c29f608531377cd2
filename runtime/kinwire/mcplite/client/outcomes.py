"""What a call comes to, to be matched by its class (MCP-lite 0.042 section 3.4).

match await client.call("report", {"topic": "results"}):
    case LiteAnswer(content): ...
    case LitePromise() as promise: ...
    case LiteElicitation(text, questions) as elicitation: ...
    case LiteFailure(code, message): ...
"""

from __future__ import annotations

__all__ = (
    "LiteAnswer",
    "LiteElicitation",
    "LiteFailure",
    "LiteOutcome",
    "LitePart",
    "LiteQuestion",
    "LiteResourceRequest",
    "LiteUnknown",
    "OutcomeFields",
    "text_in",
)

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from kinwire.mcplite.client.transport import OutgoingCall
from kinwire.rpc.codec import is_object
from kinwire.support.arguments import OBJECT, SECONDS, ArgumentCheck
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcplite.models import ResponseMeta
from kinwire_protocols.nearest import nearest

if TYPE_CHECKING:
    from kinwire.mcplite.client.promise import LitePromise

_ANSWER = ArgumentCheck(
    "LiteElicitation.answer",
    'elicitation.answer({"format": "short"})',
    {"answers": OBJECT},
    timeout=SECONDS.or_none,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeFields:
    """What every outcome has."""

    meta: ResponseMeta = field(repr=False)
    """When it was made, how long that took, and by which version; any of it may be None."""
    result: JsonObject = field(repr=False)
    """The whole result, as JSON."""


@dataclass(frozen=True, slots=True)
class LiteAnswer(OutcomeFields):
    """The tool is done."""

    content: list[JsonObject]
    """The result: objects of the tool's own shapes, or content blocks as MCP has them."""

    @property
    def text(self) -> str:
        """The text of all text blocks, a line break between them."""
        return text_in(self.content)


@dataclass(frozen=True, slots=True)
class LiteFailure(OutcomeFields):
    """The tool failed; the protocol did not."""

    code: str | None
    """A word that programs tell failures apart by; None if the server gives none."""
    message: str
    """What went wrong, for people and models."""
    data: Any = None
    """Further facts, of any shape that the tool likes."""


@dataclass(frozen=True, slots=True)
class LiteResourceRequest(OutcomeFields):
    """The server wants more resources; the specification does not say which, or how to give them.

    Such a result is passed on as it is.
    """

    content: list[JsonObject]


@dataclass(frozen=True, slots=True)
class LiteUnknown(OutcomeFields):
    """A kind of response that this version does not know."""

    response_type: str
    """What the server calls it, in small letters."""


@dataclass(frozen=True, slots=True)
class LiteQuestion:
    """One question of a server."""

    id: str
    """Its name: the answer is given by it."""
    text: str
    type: str = "text"
    """`text`, `single_select` or `multi_select`; any other is answered by any text."""
    options: tuple[str, ...] = ()
    """What can be selected."""


class CallsTools(Protocol):
    """What outcomes need of the client that they came from."""

    async def send(self, call: OutgoingCall, timeout: float | None) -> LiteOutcome:
        """Send a call and return what it comes to."""
        ...


@dataclass(frozen=True, slots=True)
class LiteElicitation(OutcomeFields):
    """The server has to know more first. `answer` sends the call once more, with the answers."""

    text: str
    """What to tell the person or the model that answers."""
    questions: tuple[LiteQuestion, ...]
    """What is asked, one by one; empty if the text alone asks."""
    call: OutgoingCall = field(kw_only=True, repr=False)
    caller: CallsTools = field(kw_only=True, repr=False)

    async def answer(
        self, answers: Mapping[str, Any], *, timeout: float | None = None
    ) -> LiteOutcome:
        """Send the same call with answers by the ids of the questions, and return its outcome.

        Of a `multi_select` the answer is a list. The server may leave out what it has to know
        otherwise, so not all questions need an answer.

        Args:
            answers: the answers; where there are no questions, by any name.
            timeout: see `LiteClient.call`.

        Raises:
            TypeError: an argument is not of its type.
            ValueError: there is no question of an id, or its options do not have the answer.
            RpcError, KinwireError: see `LiteClient.call`.
        """
        _ANSWER.check(answers=answers, timeout=timeout)
        self._check(answers)
        meta = {name: one for name, one in self.call.meta.items() if name in _PASSED_ON}
        meta["elicitation_answers"] = dict(answers)
        asked: JsonObject = self.result.get("elicitation") or {}
        given: JsonObject = self.result.get("_meta") or {}
        for name, fields, key in (
            ("elicitation_context", asked, "context"),
            ("session_context", given, "session_context"),
        ):
            if key in fields:
                meta[name] = fields[key]
        return await self.caller.send(self.call._replace(meta=meta), timeout)

    def _check(self, answers: Mapping[str, Any]) -> None:
        known = {question.id: question for question in self.questions}
        for name, value in answers.items() if known else ():
            if name not in known:
                near = nearest(name, known) or ", ".join(known)
                raise ValueError(
                    f"answers: there is no question {name!r:.100}. Write {near!r:.500}."
                )
            _must_be_option(known[name], value)


_PASSED_ON = ("session_context",)  # an idempotency key is that of the first call


def _must_be_option(question: LiteQuestion, value: object) -> None:
    if question.type not in ("single_select", "multi_select") or not question.options:
        return
    chosen = [value]
    if question.type == "multi_select":
        if not isinstance(value, list | tuple):
            raise ValueError(f"answers: expected a list of options for {question.id!r:.100}.")
        chosen = list(cast("Sequence[object]", value))
    for one in chosen:
        if one not in question.options:
            raise ValueError(
                f"answers: expected one of {', '.join(question.options)} for "
                f"{question.id!r:.100}, got {one!r:.100}."
            )


@dataclass(frozen=True, slots=True)
class LitePart:
    """A part of a result that is being made."""

    text: str
    """The next piece of the text; empty if the part has another thing."""
    value: JsonObject = field(repr=False)
    """The whole part, as JSON."""

    def __repr__(self) -> str:
        progress = self.progress
        shown = f"text={self.text!r}" if progress is None else f"progress={progress!r}"
        return f"LitePart({shown})"

    @property
    def progress(self) -> JsonObject | None:
        """How far the work of a promise has come: `progress`, `total`, `message`; else None."""
        found = self.value.get("progress")
        return found if is_object(found) else None


LiteOutcome: TypeAlias = (
    "LiteAnswer | LitePromise | LiteElicitation | LiteFailure | LiteResourceRequest | LiteUnknown"
)
"""What a call comes to."""


def text_in(content: Sequence[JsonObject]) -> str:
    """Return the text of text blocks, a line break between them."""
    texts = (one["text"] for one in content if one.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))
