"""Callbacks: which answers fit a question, and what is remembered of them (MGP 13.4).

Both roles remember: a server which answers it has got, a kernel which it has given. So an answer
that comes again changes nothing, and a question that comes again is not asked again.
"""

from __future__ import annotations

__all__ = (
    "CHOICES",
    "CallbackQuestion",
    "CallbackRecord",
    "CallbackState",
    "Known",
    "Owner",
    "approves",
    "declined",
    "is_yes_or_no",
    "response_for",
    "response_problem",
)

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Protocol

from kinwire.mgp.rules.confirmations import escaped
from kinwire.support.json_values import strict_text

CONFIRM: Final = "confirm"
CANCEL: Final = "cancel"
CHOICES: Final = (CONFIRM, CANCEL)
"""The options of a confirmation that names none, as in the example of MGP 13.4."""

_YES: Final = frozenset(
    {"accept", "allow", "approve", "confirm", "continue", "ok", "okay", "proceed", "yes"}
)
_NO: Final = frozenset(
    {"abort", "cancel", "decline", "deny", "dismiss", "no", "refuse", "reject", "stop"}
)
_REMEMBERED = 300.0  # seconds after the end of the request
_MOST = 1_000  # callbacks of one connection


@dataclass(frozen=True, slots=True)
class CallbackQuestion:
    """What a server wants to know while a call of a tool is under way."""

    server: str
    """The kernel's name for the server."""
    agent: str | None
    """Who has called the tool: set by the kernel. None for a message whose call is over."""
    tool: str | None
    """The tool that asks; None for a message whose call is over."""
    type: str
    """`confirmation`, `input`, `selection`, `notification`, or another word of the server."""
    message: str
    """The question, as the server wrote it. Show people `shown`."""
    options: tuple[str, ...]
    """The answers to choose from; empty if there is no choice."""
    timeout: float
    """How long the answer is waited for, in seconds."""

    @property
    def shown(self) -> str:
        """The question on one line. Signs that are not visible are escaped."""
        return escaped(self.message)

    @property
    def is_yes_or_no(self) -> bool:
        """Whether True and False answer it: it is clear which option means which."""
        return is_yes_or_no(self.type, self.options)


def is_yes_or_no(type: str, options: Sequence[str]) -> bool:
    """Return whether True and False can answer a question: it is clear which option is which."""
    return type == "confirmation" and (not options or _approval(options) is not None)


def approves(response: object) -> bool:
    """Return whether an answer to a confirmation of ours is a yes."""
    return response is True or response == CONFIRM


def response_problem(type: str, options: Sequence[str], response: object) -> str | None:
    """Return why an answer does not fit a question, as a clause; None if it does.

    `null` fits every question: nobody answers it.
    """
    if response is None or (type == "confirmation" and isinstance(response, bool)):
        return None
    if type in ("confirmation", "selection") and options and response not in options:
        return f"expected one of {', '.join(map(repr, options)):.200}"
    return None


def response_for(type: str, options: Sequence[str], answer: object) -> Any:
    """Return what is sent for the answer of a person: to a confirmation also True or False.

    Raises:
        ValueError: the answer does not fit the question; the text is a clause.
    """
    if type == "confirmation" and isinstance(answer, bool):
        if not is_yes_or_no(type, options):
            raise ValueError("expected one of the options: which of them means yes is not clear")
        return _approval(options) if answer else _refusal(options)
    problem = response_problem(type, options, answer)
    if problem is not None:
        raise ValueError(problem)
    strict_text(answer)
    return answer


def declined(type: str, options: Sequence[str]) -> Any:
    """Return what is sent for a question that nobody answers: the option that refuses, or null."""
    return _refusal(options) if type == "confirmation" else None


def _approval(options: Sequence[str]) -> str | None:
    """Return the option that means yes; None if that is not clear."""
    if not options:
        return CONFIRM
    found = [one for one in options if one.strip().casefold() in _YES]
    if not found and len(options) == len(CHOICES) and _refusal(options) is not None:
        found = [one for one in options if one != _refusal(options)]
    return found[0] if len(found) == 1 and _refusal(options) is not None else None


def _refusal(options: Sequence[str]) -> str | None:
    """Return the option that means no; None if that is not clear."""
    if not options:
        return CANCEL
    found = [one for one in options if one.strip().casefold() in _NO]
    return found[0] if len(found) == 1 else None


class Owner(Protocol):
    """The request that a callback belongs to."""

    @property
    def ended(self) -> bool: ...


class CallbackState(Enum):
    """How far a callback is."""

    OPEN = "open"
    """It waits for an answer."""
    ANSWERED = "answered"
    OVER = "over"
    """It has no answer, and gets none any more."""


@dataclass(slots=True)
class Known:
    """What is known of a callback."""

    owner: Owner | None
    """Its request; None when that is over."""
    question: str
    """A digest of the question."""
    state: CallbackState = CallbackState.OPEN
    answer: Any = None
    ended_at: float | None = None
    """When its request was found to be over."""

    def answered(self, answer: Any) -> None:
        """Take the first answer."""
        self.state, self.answer = CallbackState.ANSWERED, answer

    def repeats(self, answer: Any) -> bool:
        """Return whether this is the answer that it has got."""
        return self.state is CallbackState.ANSWERED and self.answer == answer

    def end(self) -> None:
        """Stop waiting for an answer."""
        if self.state is CallbackState.OPEN:
            self.state = CallbackState.OVER


class CallbackRecord:
    """The callbacks of one connection: while their requests are open, and for 5 minutes after.

    There are at most 1,000. For one more, the oldest whose request has ended is forgotten, else the
    oldest. `now` is in seconds and must never decrease.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._known: dict[str, Known] = {}

    def __len__(self) -> int:
        return len(self._known)

    def find(self, id: str, *, now: float) -> Known | None:
        """Return what is known of a callback; None if it is unknown, or was forgotten."""
        known = self._known.get(id)
        if known is None or not self._has_expired(known, now):
            return known
        del self._known[id]
        return None

    def count(self, owner: Owner) -> int:
        """Return how many callbacks a request has."""
        return sum(known.owner is owner for known in self._known.values())

    def add(self, id: str, owner: Owner, question: str, *, now: float) -> Known:
        """Remember a callback that is asked now."""
        self._known = {
            name: known for name, known in self._known.items() if not self._has_expired(known, now)
        }
        if len(self._known) >= self._most:
            del self._known[self._least_needed()]
        known = self._known[id] = Known(owner, question)
        return known

    def _least_needed(self) -> str:
        ended = (name for name, known in self._known.items() if known.ended_at is not None)
        return next(ended, next(iter(self._known)))

    def _has_expired(self, known: Known, now: float) -> bool:
        if known.owner is not None and known.owner.ended:
            known.owner, known.ended_at = None, now
        return known.ended_at is not None and now - known.ended_at >= _REMEMBERED
