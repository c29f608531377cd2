"""Validate messages by the method tables: shape, direction, and replies by their request.

Pure: it takes messages in their order and remembers which requests wait for a reply. Not checked:
gates, and the order of a handshake.
"""

from __future__ import annotations

__all__ = (
    "LineReport",
    "MessageValidator",
    "Side",
    "ValidatedMessage",
    "lenient_text_of",
    "report_of",
    "text_of",
)

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import ValidationError
from pydantic_core import from_json

from kinwire.rpc.codec import FrameError, Id, decode, is_id, is_object
from kinwire_cli.validation.nulls import nulls_read_as_absent
from kinwire_cli.validation.parts import AnyTool, MessageParts, Row
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.jsonrpc.models import ErrorObject
from kinwire_protocols.lenient import (
    ABSENT_PARAMS,
    INTEGRAL_NUMBER,
    NULL_ERROR,
    NULL_RESULT,
    LenientReading,
    Noticed,
)
from kinwire_protocols.nearest import nearest
from kinwire_protocols.peer import ProtocolTable
from kinwire_protocols.problems import Problem, problems, shown

if TYPE_CHECKING:
    from kinwire_protocols.base import JsonObject

Side = Literal["client", "server"]
Finding = dict[str, str]
"""A lenient reading: the name of its row as `reading`, and the fields of a `Problem`."""
Key = tuple[Side | None, bool, Id]
_SHOWN = 60  # characters of a line that is not JSON


@dataclass(frozen=True, slots=True)
class ValidatedMessage:
    """A message with its problems."""

    kind: Literal["request", "notification", "response"] | None
    """None if it is not a JSON-RPC message."""
    row: Row | None
    """The method, for a reply that of its request; None if it is not known."""
    matched: bool | None
    """For a reply, whether its request was seen; else None."""
    problems: tuple[Problem, ...]
    tool: AnyTool | None = None
    """The tool that is called, for a reply that of its request, if a protocol defines it."""
    lenient: tuple[Finding, ...] = ()
    """What is accepted, and should have been written in another way."""

    @property
    def protocol(self) -> str | None:
        """Whose message it is; None if that is not known."""
        about = self.tool or self.row
        return None if about is None else about.protocol

    @property
    def ok(self) -> bool:
        """Return whether nothing is wrong with it."""
        return not self.problems


class MessageValidator:
    """Validates the messages of one connection, in order.

    The document of the protocol decides; what sessions read leniently is listed apart with
    `lenient`, and is a problem without it.
    """

    def __init__(self, protocols: Iterable[ProtocolTable], *, lenient: bool = False) -> None:
        self._lenient = lenient
        tables = list(protocols)
        rows = [row for table in tables for row in table.methods.values()]
        self._parts = MessageParts(tables)
        # Where two protocols have a method of one name, it is that of the first one.
        self._rows = {name: row for row in rows[::-1] for name in (row.name, *row.aliases)}
        self._pending: dict[Key, tuple[Row | None, AnyTool | None]] = {}

    def validate(self, message: JsonObject, sender: Side | None = None) -> ValidatedMessage:
        """Return `message` with its problems; its direction is checked if `sender` is known."""
        lenient: list[Finding] = []
        message = _without_nulls(message, lenient)
        problem = _envelope_problem(message)
        if problem is not None:
            return ValidatedMessage(None, None, None, (problem,))
        judge = self._validate_call if "method" in message else self._validate_reply
        found = judge(message, sender, lenient)
        if self._lenient:
            return replace(found, lenient=tuple(lenient))
        strict = [Problem(one["pointer"], one["expected"], one["got"]) for one in lenient]
        return replace(found, problems=(*found.problems, *strict))

    def _validate_call(
        self, message: JsonObject, sender: Side | None, lenient: list[Finding]
    ) -> ValidatedMessage:
        row = self._rows.get(message["method"])
        found = list(_call_problems(row, message, sender, lenient))
        tool = None if row is None else self._parts.tool(row, message.get("params"))
        if row is None:
            found.append(self._unknown(message["method"]))
        elif not found:
            found += self._parts.call_problems(row, tool, message.get("params", {}))
        if "id" not in message:
            return ValidatedMessage("notification", row, None, tuple(found), tool)
        key = _key(sender, message["id"])
        if key in self._pending:
            found.append(Problem("/id", "an id that is not in use", shown(message["id"])))
        self._pending[key] = row, tool
        return ValidatedMessage("request", row, None, tuple(found), tool)

    def _validate_reply(
        self, message: JsonObject, sender: Side | None, lenient: list[Finding]
    ) -> ValidatedMessage:
        if message["id"] is None:  # the peer could not tell which request it was
            return ValidatedMessage("response", None, False, tuple(_error_problems(message)))
        for requester in _requesters(sender):
            key = _key(requester, message["id"])
            if key in self._pending:
                row, tool = self._pending.pop(key)
                found = list(_reply_problems(row, message, lenient))
                if row is not None and not found:
                    found += self._parts.reply_problems(row, tool, message)
                return ValidatedMessage("response", row, True, tuple(found), tool)
        stray = Problem("/id", "the id of a request that waits", shown(message["id"]))
        return ValidatedMessage("response", None, False, (stray, *_error_problems(message)))

    def _unknown(self, name: str) -> Problem:
        near = nearest(name, self._rows)
        hint = f" ({near}?)" if near else ""
        return Problem("/method", f"a method of the protocols{hint}", shown(name))


def _key(requester: Side | None, identifier: Id) -> Key:
    return requester, isinstance(identifier, str), identifier  # the number 1 is not the text "1"


def _without_nulls(message: JsonObject, lenient: list[Finding]) -> JsonObject:
    """Return `message` without what is read as absent."""
    given = dict(message)
    if "method" in given:
        if "params" in given and (given["params"] is None or given["params"] == []):
            _notice(lenient, ABSENT_PARAMS, Problem("/params", "an object", shown(given["params"])))
            given["params"] = {}
    elif given.keys() >= {"result", "error"}:
        if given["error"] is None and is_object(given["result"]):
            _notice(lenient, NULL_ERROR, Problem("/error", "nothing", "null"))
            del given["error"]
        elif given["result"] is None and is_object(given["error"]):
            _notice(lenient, NULL_RESULT, Problem("/result", "nothing", "null"))
            del given["result"]
    return given


def _noticing(lenient: list[Finding], place: str) -> Noticed:
    def noticed(reading: LenientReading, _: str, problem: Problem) -> None:
        below = replace(problem, pointer=place + problem.pointer)
        _notice(lenient, reading, below)

    return noticed


def _notice(lenient: list[Finding], reading: LenientReading, problem: Problem) -> None:
    if reading is not INTEGRAL_NUMBER:  # in JSON Schema, 100.0 is an integer
        lenient.append({"reading": reading.name, **problem.to_json()})


def _notice_nulls(lenient: list[Finding], value: object, read: object, place: str) -> None:
    found = nulls_read_as_absent(value, to_wire(read), place)
    lenient += ({"reading": "null-field", **problem.to_json()} for problem in found)


def _envelope_problem(message: JsonObject) -> Problem | None:
    if message.get("jsonrpc") != "2.0":
        return Problem("/jsonrpc", '"2.0"', _shown_member(message, "jsonrpc"))
    if "method" in message:
        if type(message["method"]) is not str:
            return Problem("/method", "a string", shown(message["method"]))
        usable = "id" not in message or is_id(message["id"])
    elif ("result" in message) == ("error" in message):
        got = "both" if "result" in message else "neither"
        return Problem("", "a method, or one of result and error", got)
    else:
        no_id = "error" in message and message.get("id", 0) is None
        usable = no_id or is_id(message.get("id"))
    got = _shown_member(message, "id")
    return None if usable else Problem("/id", "a string or an integer", got)


def _shown_member(message: JsonObject, name: str) -> str:
    return shown(message[name]) if name in message else "nothing"


def _call_problems(
    row: Row | None, message: JsonObject, sender: Side | None, lenient: list[Finding]
) -> Iterable[Problem]:
    if row is None:
        return
    if sender is not None and row.sender not in ("both", sender):
        yield Problem("/method", f"a method that the {sender} may send", shown(row.name))
    if row.kind == "request" and "id" not in message:
        yield Problem("/id", "an id: the method is a request", "nothing")
    if row.kind == "notification" and "id" in message:
        yield Problem("/id", "none: the method is a notification", shown(message["id"]))
    try:
        given = message.get("params")
        read = row.decode_params(given, _noticing(lenient, "/params"))
        _notice_nulls(lenient, given, row.params_to_wire(read), "/params")
    except ValidationError as error:
        yield from _below("/params", problems(error, message.get("params", {})))


def _reply_problems(
    row: Row | None, message: JsonObject, lenient: list[Finding]
) -> Iterable[Problem]:
    yield from _error_problems(message)
    if row is not None and row.result is not None and "result" in message:
        try:
            read = row.decode_result(message["result"], _noticing(lenient, "/result"))
            _notice_nulls(lenient, message["result"], read, "/result")
        except ValidationError as error:
            yield from _below("/result", problems(error, message["result"]))


def _error_problems(message: JsonObject) -> Iterable[Problem]:
    if "error" in message:
        try:
            from_wire(ErrorObject, message["error"])
        except ValidationError as error:
            yield from _below("/error", problems(error, message["error"]))


def _requesters(replier: Side | None) -> Sequence[Side | None]:
    # A recording may name the sender of some messages only.
    if replier is None:
        return (None, "client", "server")
    return ("server" if replier == "client" else "client", None)


def _below(place: str, found: Iterable[Problem]) -> Iterable[Problem]:
    return (Problem(place + one.pointer, one.expected, one.got) for one in found)


class LineReport(NamedTuple):
    """The result for a recorded line."""

    validated: ValidatedMessage | None
    """None if the line has no message to validate."""
    problems: Sequence[Problem]
    is_object: bool = True
    """Whether it is a JSON object at least."""

    def to_json(self, line: int) -> dict[str, Any]:
        """Return the report of line number `line` as JSON."""
        validated, row = self.validated, self.validated and self.validated.row
        return {
            "line": line,
            "ok": not self.problems,
            "protocol": validated.protocol if validated else None,
            "method": row.name if row else None,
            "kind": validated.kind if validated else None,
            "matched": validated.matched if validated else None,
            "errors": [problem.to_json() for problem in self.problems],
            **({"lenient": list(validated.lenient)} if validated and validated.lenient else {}),
        }


def lenient_text_of(finding: Finding) -> str:
    """Return a lenient reading as one line."""
    said = "{pointer}: expected {expected}, got {got}".format(**finding)
    return f"{said} (read leniently: {finding['reading']})"


def text_of(report: LineReport) -> str:
    """Return what is wrong with a line as one line: its first problem, and how many follow."""
    row = report.validated and report.validated.row
    about = f"{row.name}: " if row else ""
    more = len(report.problems) - 1
    return f"{about}{report.problems[0]}".removeprefix(": ") + (f" ({more} more)" if more else "")


def report_of(validator: MessageValidator, line: bytes) -> LineReport:
    """Validate the message in `line`, after those of the lines before it."""
    try:
        value = from_json(line, allow_inf_nan=False)
    except ValueError as error:
        return LineReport(None, [Problem("", "JSON", _unreadable(line, error))], is_object=False)
    if not is_object(value):
        return LineReport(None, [Problem("", "one JSON object", shown(value))], is_object=False)
    if "jsonrpc" not in value and "message" in value:
        return _wrapped(validator, value)
    if "jsonrpc" not in value and "unreadable" in value:
        text = _cut(str(value["unreadable"]), str(value.get("because")))
        return LineReport(None, [Problem("", "JSON", text)])
    validated = validator.validate(value)
    try:
        decode(line)  # also finds what a decoded object does not show: a repeated id
    except FrameError as error:
        if validated.ok:
            return LineReport(validated, [Problem("", "a message", error.error.message)])
    return LineReport(validated, validated.problems)


def _wrapped(validator: MessageValidator, line: JsonObject) -> LineReport:
    sender, message = line.get("from"), line["message"]
    if sender not in (None, "client", "server"):
        return LineReport(None, [Problem("/from", '"client" or "server"', shown(sender))])
    if not is_object(message):
        return LineReport(None, [Problem("/message", "one JSON object", shown(message))])
    validated = validator.validate(message, sender)
    return LineReport(validated, validated.problems)


def _unreadable(line: bytes, error: ValueError) -> str:
    return _cut(line.decode(errors="replace"), str(error))


def _cut(text: str, because: str) -> str:
    cut = text[:_SHOWN].replace("\n", "\\n") + ("…" if len(text) > _SHOWN else "")
    why = re.sub(r"at line \d+ column", "at column", because)
    return f"{cut} ({why})"
