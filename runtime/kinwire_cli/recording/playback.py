"""The rules of a replay: what of a recording is sent when, and what of the peer is as recorded.

Pure: the caller passes the frames that arrive, and reports a wait that is over. The played side
sends once all requests and answers have come that it had seen before, in whatever order they come.
Notifications are not waited for; they are validated and counted. Ids and progress tokens of the
peer take the place of the recorded ones.
"""

from __future__ import annotations

__all__ = ("Kind", "Playback", "ReplayOutcome")

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from kinwire.rpc.codec import FrameError, decode, encode
from kinwire_cli.recording.lines import RecordedStep
from kinwire_cli.recording.messages import (
    Ignored,
    differences,
    is_request,
    key_of,
    reported_token,
    subject_of,
    token_of,
    turned,
    unnumbered,
)
from kinwire_cli.validation.validator import MessageValidator, Side
from kinwire_protocols.base import JsonObject
from kinwire_protocols.problems import Problem, shown

_UNASKED = 1000  # outcomes of what nobody asked for: a peer may send without end
Kind = Literal["request", "notification", "response"]


class Playback:
    """One replay."""

    def __init__(
        self,
        steps: Iterable[RecordedStep],
        side: Side,
        validator: MessageValidator,
        ignored: Iterable[Ignored] = (),
    ) -> None:
        """`side` is the one that is played."""
        self._side: Side = side
        self._peer: Side = "server" if side == "client" else "client"
        self._steps = [step for step in steps if step.frame is None or step.sender == side]
        self._validator = validator
        self._ignored = tuple(ignored)
        self._next = 0
        self._replies: defaultdict[str, list[int]] = defaultdict(list)  # steps of the peer, by id
        self._requests: defaultdict[str, list[int]] = defaultdict(list)  # the same, by method
        self._recorded: Counter[str] = Counter()  # its notifications, by method
        self._notified: Counter[str] = Counter()  # those that came
        self._came: set[int] = set()  # steps of the peer that are there, or given up
        self._asked: dict[str, str] = {}  # methods of what the played side has asked, by id
        self._live: dict[str, _Live] = {}  # what the peer has asked, by the recorded id
        self._tokens: dict[str, Any] = {}  # progress tokens of these, by the recorded ones
        self._sent: set[int] = set()  # steps that were played out of turn
        self.outcomes: list[ReplayOutcome] = []
        self._unasked = 0  # outcomes that no line of the recording bounds
        self.missing = 0
        self.heard = False
        """Whether anything came."""
        self._look_through()

    @property
    def waits(self) -> bool:
        """Return whether a request or an answer is still to come."""
        return self._next < len(self._steps)

    @property
    def position(self) -> int:
        """Return the number of steps done: it rises when an awaited message came."""
        return self._next

    @property
    def notified(self) -> bool:
        """Return whether all recorded notifications came."""
        return not self._recorded - self._notified

    def frames(self) -> list[bytes]:
        """Return what is to be sent now, up to the next step that has to be waited for."""
        frames: list[bytes] = []
        while self._next < len(self._steps):
            step = self._steps[self._next]
            if step.sender == self._side:
                frames += self._played(self._next)
            elif self._is_awaited(self._next):
                if is_request(step.message):
                    frames += self._played_out_of_turn()
                break
            self._next += 1
        return frames

    def receive(self, frame: bytes) -> list[bytes]:
        """Validate what arrived; return what to send immediately."""
        if not frame.strip():
            return []
        self.heard = True
        try:
            message = decode(frame)
        except FrameError as error:
            got = f"{shown(frame.decode(errors='replace'))} ({error.error.message})"
            self._say("invalid", None, None, [Problem("", "a message", got)])
            return []
        problems = self._validator.validate(message, self._peer).problems
        if is_request(message):
            return self._receive_request(message, problems)
        if "method" not in message:
            self._receive_reply(message, problems)
        else:
            self._notified[message["method"]] += 1
            if problems:
                self._say("invalid", "notification", message["method"], problems)
        return []

    def give_up(self, why: str, *, at_end: bool = False) -> None:
        """Go on without the step that is waited for."""
        message, line = self._steps[self._next].message, self._steps[self._next].line
        self._came.add(self._next)
        self.missing += 1
        if is_request(message):
            method = str(message["method"])
            problems = [Problem("", "this request", why)]
            self._say("missing", "request", method, problems, line, at_end)
        else:
            method = self._asked.pop(key_of(message))
            self._say("missing", "response", method, [Problem("", "an answer", why)], line, at_end)

    def end(self, why: str) -> None:
        """Nothing will come any more: say what is missing, and how many notifications came."""
        while self.frames() or self.waits:
            if self.waits:
                self.give_up(why, at_end=True)
        for method in sorted({*self._recorded, *self._notified}):
            recorded, came = self._recorded[method], self._notified[method]
            if recorded != came:
                counts = Problem("", f"{recorded} as recorded", f"{came}")
                self._say("note", "notification", method, [counts])

    # -- the played side --

    def _played(self, index: int) -> list[bytes]:
        step = self._steps[index]
        if index in self._sent:
            return []
        if step.frame is not None:
            return [step.frame]
        message: JsonObject = dict(step.message)
        if is_request(message):
            self._asked[key_of(message)] = str(message["method"])
        elif "method" not in message:
            asked = self._live.pop(key_of(message), None)
            if asked is None:
                return []  # the peer has not asked
            message["id"] = asked.id
            if asked.token is not None:
                self._tokens.pop(asked.token, None)
        elif (token := reported_token(message)) in self._tokens:
            message["params"] = {**message["params"], "progressToken": self._tokens[token]}
        self._validator.validate(message, self._side)  # so that answers find their requests
        return [encode(message)]

    def _played_out_of_turn(self) -> list[bytes]:
        """Answer what was asked earlier than recorded: the peer may be waiting for it."""
        frames: list[bytes] = []
        for index in range(self._next, len(self._steps) if self._live else 0):
            step = self._steps[index]
            if step.sender != self._side or step.frame is not None or index in self._sent:
                continue
            answers = "method" not in step.message and key_of(step.message) in self._live
            if answers or reported_token(step.message) in self._tokens:
                frames += self._played(index)
                self._sent.add(index)
        return frames

    # -- the peer --

    def _look_through(self) -> None:
        for index, step in enumerate(self._steps):
            if step.sender != self._peer:
                continue
            if is_request(step.message):
                self._requests[str(step.message["method"])].append(index)
            elif "method" in step.message:
                self._recorded[str(step.message["method"])] += 1
            else:
                self._replies[key_of(step.message)].append(index)

    def _is_awaited(self, index: int) -> bool:
        message = self._steps[index].message
        if index in self._came:
            return False
        return is_request(message) or ("method" not in message and key_of(message) in self._asked)

    def _receive_reply(self, message: JsonObject, problems: Sequence[Problem]) -> None:
        method = self._asked.pop(key_of(message), None)
        left = [index for index in self._replies[key_of(message)] if index not in self._came]
        if method is not None and left:
            self._compare(left[0], message, method, "response", problems)
        elif problems:
            self._say("invalid", "response", method, problems)
        else:  # the recording may have ended before it came
            self._say("note", "response", method, [Problem("", "no answer, as recorded", "one")])

    def _receive_request(self, message: JsonObject, problems: Sequence[Problem]) -> list[bytes]:
        method: str = message["method"]
        left = [index for index in self._requests[method] if index not in self._came]
        if not left:
            return self._answer_unexpected(message, problems)
        index = self._meant(message, left)
        recorded = self._steps[index].message
        token = token_of(recorded)
        self._live[key_of(recorded)] = _Live(message["id"], token)
        if token is not None and (own := token_of(message)) is not None:
            self._tokens[token] = json.loads(own)
        self._compare(index, message, method, "request", problems)
        return []

    def _meant(self, message: JsonObject, left: Sequence[int]) -> int:
        """Return the recorded request: the equal one, else one about the same thing, else any."""
        for part in (unnumbered, subject_of):
            wanted = part(message)
            alike = (i for i in left if wanted and part(self._steps[i].message) == wanted)
            if (index := next(alike, None)) is not None:
                return index
        return left[0]

    def _answer_unexpected(self, message: JsonObject, problems: Sequence[Problem]) -> list[bytes]:
        method: str = message["method"]
        reply: JsonObject = {"jsonrpc": "2.0", "id": message["id"]}
        found = [*problems, Problem("", "no such request, as recorded", "one")]
        if method == "ping" and not problems:
            reply["result"] = {}
            self._say("note", "request", method, found)
        else:
            reply["error"] = {"code": -32603, "message": f"Not in the recording: {method:.60}"}
            self._say("unexpected", "request", method, found)
        self._validator.validate(reply, self._side)
        return [encode(reply)]

    def _compare(
        self, index: int, message: JsonObject, method: str, kind: Kind, problems: Sequence[Problem]
    ) -> None:
        self._came.add(index)
        step = self._steps[index]
        found = turned(step.message, message) or differences(
            unnumbered(step.message), unnumbered(message), method, self._ignored
        )
        verdict = "invalid" if problems else "differs" if found else "equal"
        self._say(verdict, kind, method, [*problems, *found], step.line)

    def _say(self, *outcome: Any) -> None:
        made = ReplayOutcome(*outcome)
        self._unasked += made.line is None
        if made.line is not None or self._unasked <= _UNASKED:
            self.outcomes.append(made)


class _Live(NamedTuple):
    """A request of the peer that is not answered yet: its own id, and its recorded token."""

    id: Any
    token: str | None


class ReplayOutcome(NamedTuple):
    """The result for a message of the peer, received or missing."""

    verdict: Literal["equal", "differs", "invalid", "missing", "unexpected", "note"]
    kind: Kind | None
    method: str | None
    problems: Sequence[Problem] = ()
    line: int | None = None
    """Of the recording."""
    at_end: bool = False
    """Whether it is missing since nothing could come any more."""

    @property
    def good(self) -> bool:
        """Return whether it is not a problem."""
        return self.verdict in ("equal", "note")

    def to_json(self) -> JsonObject:
        """Return it as a line of a report."""
        errors = [problem.to_json() for problem in self.problems]
        head = {"line": self.line, "verdict": self.verdict, "kind": self.kind}
        return {**head, "method": self.method, "errors": errors}
