"""Every message that the document of MCPL or its text gives as an example, as one exchange each.

A message is what is sent and, where it is a request, what is answered. Examples of parts of
messages are put into a message that has such a part. What is added to the document is here by
itself.
"""

from __future__ import annotations

__all__ = ("CARRIED", "EXCHANGES", "OFFERED", "Exchange", "Side", "text")

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, Literal, NamedTuple

from kinwire_codegen.load.document import Reference, resolve
from kinwire_protocols.base import JsonObject
from tests.generated.messages import DOCUMENTS
from tests.spec.fenced import at, rows_of

Side = Literal["client", "server"]

_DOCUMENTS = {document.name: document for document in DOCUMENTS}
_METHODS = _DOCUMENTS["mcpl"].content["methods"]

CARRIED = {
    "StateUpdate": ("tools/call", "/result/state"),
    "Blocks": ("push/event", "/params/payload/content"),
    "Content": ("context/beforeInference", "/result/contextInjections/0/content"),
    "ChannelDescriptor": ("channels/register", "/params/channels/0"),
    "ChannelContext": ("context/beforeInference", "/params/channels"),
}
"""Types whose examples are parts of messages: the method, and the place of the part there."""

_CALL: JsonObject = {"params": {"name": "add_note", "arguments": {}}, "result": {"content": []}}


class Exchange(NamedTuple):
    """A message, and what it is answered."""

    method: str
    sender: Side
    params: JsonObject
    answer: JsonObject | None
    """`{"result": ...}` or `{"error": ...}`; None for a notification."""

    def __str__(self) -> str:
        return self.method


def text(value: Any) -> str:
    """Return a value as JSON: Python takes 1, 1.0 and True for equal."""
    return json.dumps(value, sort_keys=True)


def _exchanges() -> Iterator[Exchange]:
    for method, row in _METHODS.items():
        params, results = _examples(row["params"]), _examples(row.get("result"))
        for number in range(max(len(params), len(results))):
            pair = {
                "params": params[number % len(params)],
                "result": results[number % len(results)] if results else None,
            }
            yield from _sent(method, pair)
    yield from _carried()
    for row in rows_of("mcpl"):
        if row["is"] == "frame" and _method_of(row) != "initialize":
            yield from _framed(row)


def _sent(method: str, pair: JsonObject) -> Iterator[Exchange]:
    """Yield an exchange for each side that may send it, and for each kind that it may be."""
    row = _METHODS.get(method, {"from": "client", "kind": "request"})
    senders: tuple[Side, ...] = ("client", "server") if row["from"] == "both" else (row["from"],)
    for sender in senders:
        if row["kind"] != "notification":
            answer: JsonObject = {name: pair[name] for name in ("result", "error") if name in pair}
            yield Exchange(method, sender, pair["params"], answer)
        if row["kind"] != "request":
            yield Exchange(method, sender, pair["params"], None)


def _carried() -> Iterator[Exchange]:
    for kind, (method, place) in CARRIED.items():
        whole, _, name = place.rpartition("/")
        for example in _DOCUMENTS["mcpl"].definitions[kind]["examples"]:
            pair = deepcopy(_any_of(method))
            part = at(pair, whole)
            part[int(name) if isinstance(part, list) else name] = example
            yield from _sent(method, pair)


def _framed(row: JsonObject) -> Iterator[Exchange]:
    message, method = row["message"], _method_of(row)
    pair = {name: message[name] for name in ("params", "result", "error") if name in message}
    missing = {name: value for name, value in _any_of(method).items() if name not in pair}
    if "error" in pair:
        missing.pop("result")
    yield from _sent(method, {**missing, **pair})


def _method_of(row: JsonObject) -> str:
    """Return the method of a frame, or what it answers."""
    method: str = row.get("method") or row["message"]["method"]
    return method


def _any_of(method: str) -> JsonObject:
    """Return some params of a method and some result."""
    if method not in _METHODS:
        return _CALL
    row = _METHODS[method]
    return {part: _examples(row[part])[0] for part in ("params", "result") if part in row}


def _examples(pointer: str | None) -> list[Any]:
    if pointer is None:
        return []
    return _examples_of(resolve(pointer, "mcpl"))


def _examples_of(reference: Reference) -> list[Any]:
    examples: list[Any] = _DOCUMENTS[reference.protocol].definitions[reference.name]["examples"]
    return examples


EXCHANGES = list(_exchanges())

_SHAKEN = [
    at(row["message"], "/params" if "params" in row["message"] else "/result")
    for row in rows_of("mcpl")
    if row["is"] == "frame" and _method_of(row) == "initialize"
]

OFFERED: list[JsonObject] = [
    *_examples_of(Reference("mcpl", "McplCapability")),
    *(at(one, "/capabilities/experimental/mcpl") for one in _SHAKEN),
]
"""What a side offers in the handshake, in each example."""
