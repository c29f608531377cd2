"""Recorded messages compared: what one is about, where two differ, and which differences count."""

from __future__ import annotations

__all__ = (
    "Ignored",
    "differences",
    "is_request",
    "key_of",
    "reported_token",
    "subject_of",
    "token_of",
    "turned",
    "unnumbered",
)

import json
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from typing import Any, NamedTuple, TypeGuard

from kinwire.rpc.codec import is_object
from kinwire.support.json_values import pointer_below
from kinwire_cli.failure import UsageError
from kinwire_protocols.base import JsonObject
from kinwire_protocols.problems import Problem, shown

_MOST = 50  # differences of one message
_BEFORE = 20  # characters of what two texts share that are shown before they part
_NOTHING: Any = object()
_SUBJECTS = ("name", "uri", "ref")  # of tools and prompts, of resources, of what is completed


class Ignored(NamedTuple):
    """A member that may differ: `[METHOD#]POINTER`, in which `*` is any one step."""

    method: str | None
    steps: tuple[str, ...]

    @classmethod
    def from_text(cls, text: str) -> Ignored:
        """Return what `text` says.

        Raises:
            UsageError: it holds no pointer.
        """
        method, _, pointer = text.rpartition("#")
        if not pointer.startswith("/"):
            raise UsageError(
                f"--ignore {text}: expected a pointer.",
                "Write it as a replay shows it, such as /result/content/*/text, or "
                "tools/call#/result for one method.",
            )
        return cls(method or None, tuple(pointer[1:].split("/")))

    def covers(self, method: str | None, pointer: str) -> bool:
        """Return whether `pointer` is that member of that method, or lies in it."""
        steps = pointer[1:].split("/")
        return (
            self.method in (None, method)
            and len(steps) >= len(self.steps)
            and all(own in ("*", step) for own, step in zip(self.steps, steps, strict=False))
        )


_NUMBER = Ignored(None, ("error", "data", "correlationId"))
"""What kinwire's servers make up for each internal error; its message has the number, too."""


def differences(
    recorded: object, came: object, method: str | None, ignored: Iterable[Ignored] = ()
) -> list[Problem]:
    """Return where `came` is not what was `recorded`, the first of them if there are many."""
    without = tuple(ignored)
    recorded, came = _without_its_number(recorded), _without_its_number(came)
    found = (
        problem
        for problem in _between(recorded, came, "")
        if not any(one.covers(method, problem.pointer) for one in (_NUMBER, *without))
    )
    return list(islice(found, _MOST))


def _without_its_number(message: object) -> object:
    error = message.get("error") if is_object(message) else None
    if not is_object(message) or not is_object(error):
        return message
    match error:
        case {"message": str(text), "data": {"correlationId": str(number)}} if number:
            return {**message, "error": {**error, "message": text.replace(number, "...")}}
        case _:
            return message


def turned(recorded: JsonObject, came: JsonObject) -> list[Problem]:
    """Return the problem that one is an error and the other a result, if so."""
    match recorded, came:
        case {"result": _}, {"error": {"code": code, "message": text}}:
            return [Problem("/error", "a result", f"error {shown(code)}, {shown(text)}")]
        case {"error": {"code": code, "message": text}}, {"result": _}:
            return [Problem("/result", f"error {shown(code)}, {shown(text)}", "a result")]
        case _:
            return []


def _between(recorded: Any, came: Any, place: str) -> Iterator[Problem]:
    if is_object(recorded) and is_object(came):
        for name in dict.fromkeys((*recorded, *came)):
            inner = recorded.get(name, _NOTHING), came.get(name, _NOTHING)
            yield from _between(*inner, pointer_below(place, name))
    elif _is_array(recorded) and _is_array(came):
        for index, inner in enumerate(zip_longest(recorded, came, fillvalue=_NOTHING)):
            yield from _between(*inner, f"{place}/{index}")
    elif not _same(recorded, came):
        yield Problem(place, *_apart(recorded, came))


def _is_array(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _same(recorded: object, came: object) -> bool:
    # For JSON 1 is 1.0; for Python it is also True.
    return recorded == came and isinstance(recorded, bool) == isinstance(came, bool)


def _apart(recorded: Any, came: Any) -> tuple[str, str]:
    if isinstance(recorded, str) and isinstance(came, str):
        pairs = enumerate(zip(recorded, came, strict=False))
        parting = next((place for place, (a, b) in pairs if a != b), min(len(recorded), len(came)))
        if parting > _BEFORE:
            begin = parting - _BEFORE
            recorded, came = "…" + recorded[begin:], "…" + came[begin:]
    expected, got = ("nothing" if one is _NOTHING else shown(one) for one in (recorded, came))
    return expected, got


def is_request(message: JsonObject) -> bool:
    """Return whether `message` asks for an answer."""
    return "method" in message and "id" in message


def key_of(message: JsonObject) -> str:
    """Return the id as a key: the number 1 is not the text "1"."""
    return json.dumps(message.get("id"))


def reported_token(message: JsonObject) -> str | None:
    """Return the token of the request whose progress `message` reports."""
    match message:
        case {"method": "notifications/progress", "params": {"progressToken": token}}:
            return json.dumps(token)
        case _:
            return None


def token_of(message: JsonObject) -> str | None:
    """Return the progress token of a request."""
    match message:
        case {"params": {"_meta": {"progressToken": token}}}:
            return json.dumps(token)
        case _:
            return None


def subject_of(message: JsonObject) -> JsonObject:
    """Return which tool, prompt or resource a request is about, as its params say it."""
    params = message.get("params")
    return {name: params[name] for name in _SUBJECTS if name in params} if is_object(params) else {}


def unnumbered(message: JsonObject) -> JsonObject:
    """Return `message` without them."""
    plain = _without(message, "id")
    if token_of(message) is not None:
        meta = _without(message["params"]["_meta"], "progressToken")
        plain["params"] = _without(message["params"], "_meta") | ({"_meta": meta} if meta else {})
    return plain if plain.get("params") else _without(plain, "params")


def _without(value: JsonObject, name: str) -> JsonObject:
    return {one: value[one] for one in value if one != name}
