"""Lints of data outside messages: tables, machines, sequences, limits, and the two bindings.

`examples.py` checks that rows of tables fit their type.
"""

from __future__ import annotations

__all__ = ("DATA_RULES",)

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from kinwire_codegen.load.document import CONSTANTS, Document, Documents, Rule, resolve
from kinwire_codegen.load.findings import Fault, Place, pointer
from kinwire_codegen.load.names import snake_name
from kinwire_codegen.load.places import at
from kinwire_codegen.load.sequences import Named, named_row

PROTO_TYPES = frozenset(
    {
        *("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64"),
        *("fixed32", "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes"),
        *("google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"),
    }
)


def data_names_stay_apart(document: Document, documents: Documents) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for table in CONSTANTS:
        for name in document.table(table):
            place = pointer(table, name)
            first = seen.setdefault(snake_name(name), place)
            if first != place:
                what = f"it is {snake_name(name).upper()!r} in Python, as is {first}"
                yield place, what, "Rename one of them."


def keys_are_distinct(document: Document, documents: Documents) -> Iterator[Fault]:
    for name, table in document.table("tables").items():
        if "key" not in table:
            continue
        keys = [row.get(table["key"]) for row in table["rows"]]
        if not all(isinstance(key, str) for key in keys):
            hint = "Give each row one that is text, or remove the key."
            yield pointer("tables", name, "key"), f"a row has no text {table['key']!r}", hint
        else:
            for key in _twice(keys):
                yield pointer("tables", name), f"two rows have the key {key!r}", "Remove one."


def machines_run(document: Document, documents: Documents) -> Iterator[Fault]:
    for name, machine in document.table("machines").items():
        place = ("machines", name)
        kind = documents.definition(resolve(machine["states"], document.name))
        states = kind.get("enum")
        if states is None:
            yield pointer(*place, "states"), "the type is not an enum", "Name an enum."
            continue
        for where, state in _states(machine):
            if state not in states:
                hint = f"Name one of {', '.join(map(str, states))}."
                yield pointer(*place, *where), f"{state!r} is not a state", hint
        steps = [(step["from"], step["on"]) for step in machine["transitions"]]
        for start, event in _twice(steps):
            what = f"{event!r} leads from {start!r} to two states"
            yield pointer(*place, "transitions"), what, "Remove one, or name the events apart."
        for state in sorted({start for start, _ in steps} & set(machine.get("final", ()))):
            what = f"{state!r} is final, but a transition leaves it"
            yield pointer(*place, "final"), what, "Remove one of the two."
        for state in sorted(set(map(str, states)) - _reachable(machine)):
            what = f"{state!r} is never reached from {machine['initial']!r}"
            yield pointer(*place, "transitions"), what, "Add a transition, or remove the state."


def _states(machine: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    yield ("initial",), machine["initial"]
    for index, state in enumerate(machine.get("final", ())):
        yield ("final", index), state
    for index, step in enumerate(machine["transitions"]):
        yield ("transitions", index, "from"), step["from"]
        yield ("transitions", index, "to"), step["to"]


def _reachable(machine: dict[str, Any]) -> set[str]:
    found = {machine["initial"]}
    for _ in machine["transitions"]:  # a path passes each at most once
        found |= {step["to"] for step in machine["transitions"] if step["from"] in found}
    return found


def sequences_name_messages(document: Document, documents: Documents) -> Iterator[Fault]:
    for name, sequence in document.table("sequences").items():
        sent: set[str] = set()
        for index, step in enumerate(sequence["steps"]):
            place, text = ("sequences", name, "steps", index), step["message"]
            named = named_row(document, documents, text)
            if named is None:
                hint = "Name one of this document, or one that it extends as mcp#tools/call."
                yield pointer(*place, "message"), f"{text!r} is not a method or tool", hint
            elif "answer" in step:
                yield from _answered(place, named, step, text in sent)
            else:
                yield from _sent(place, named, step)
            sent.add(text)


def _answered(place: Place, named: Named, step: dict[str, Any], was_sent: bool) -> Iterator[Fault]:
    if "result" not in named.row:
        yield pointer(*place, "answer"), "a notification has no answer", "Remove the step."
    elif not was_sent:
        what = f"{named.wire!r} is answered before it is sent"
        yield pointer(*place, "answer"), what, "Put the message before its answer."
    for key in sorted({"from", "repeats"} & step.keys()):
        what = "an answer comes once, from the end that did not ask"
        yield pointer(*place, key), what, "Remove it."


def _sent(place: Place, named: Named, step: dict[str, Any]) -> Iterator[Fault]:
    if named.sender == "both" and "from" not in step:
        yield pointer(*place), f"either end may send {named.wire!r}", "Say with from which one."
    elif named.sender != "both" and step.get("from", named.sender) != named.sender:
        what = f"{named.wire!r} is sent by the {named.sender}"
        yield pointer(*place, "from"), what, "Remove it."


def bindings_name_what_there_is(document: Document, documents: Documents) -> Iterator[Fault]:
    methods = document.content["methods"]
    for binding, table in (("http", "paths"), ("grpc", "rpcs")):
        for name, row in document.content.get(binding, {}).get(table, {}).items():
            if row["method"] not in methods:
                place = pointer(binding, table, name, "method")
                yield place, f"{row['method']!r} is not a method", "Name one of this document."


def messages_compile(document: Document, documents: Documents) -> Iterator[Fault]:
    grpc = document.content.get("grpc", {})
    messages, enums = grpc.get("messages", {}), grpc.get("enums", {})
    for pattern in ("rpcs/*/request", "rpcs/*/response"):
        for place, name in at(grpc, pattern):
            if name not in messages:
                hint = "Define it under messages."
                yield pointer("grpc", *place), f"{name!r} is not a message", hint
    known = PROTO_TYPES | messages.keys() | enums.keys()
    for place, kind in at(grpc, "messages/*/fields/*/type"):
        if kind not in known:
            what = f"{kind!r} is not a proto3 type, a message or an enum"
            yield pointer("grpc", *place), what, "Correct it, or define it."


def numbers_are_distinct(document: Document, documents: Documents) -> Iterator[Fault]:
    grpc = document.content.get("grpc", {})
    for pattern in ("messages/*/fields", "enums/*/values"):
        for place, nodes in at(grpc, pattern):
            for number in _twice(node["number"] for node in nodes.values()):
                what = f"the number {number} is there twice"
                yield pointer("grpc", *place), what, "Renumber one."
    for place, values in at(grpc, "enums/*/values"):
        first: dict[str, Any] = next(iter(values.values()), {})
        if first.get("number") != 0:
            what = "the first value is not 0"
            yield pointer("grpc", *place), what, "proto3 requires it: change the number to 0."


def _twice(values: Iterable[Any]) -> list[Any]:
    return [value for value, count in Counter(values).items() if count > 1]


DATA_RULES: tuple[Rule, ...] = (
    data_names_stay_apart,
    keys_are_distinct,
    machines_run,
    sequences_name_messages,
    bindings_name_what_there_is,
    messages_compile,
    numbers_are_distinct,
)
