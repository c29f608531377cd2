"""What is called breaking fails, what is called safe does not: old and new bindings talk.

Bindings are made of both sides of each edit. Old ones send to new ones and new ones to old ones:
requests, results, notifications. Who is refused has to be whom the verdict named, and nobody else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from kinwire_codegen.compare import DocumentChange
from kinwire_codegen.compare.rules import RULES
from kinwire_codegen.compare.verdict import Level
from kinwire_protocols.base import to_wire
from kinwire_protocols.jsonrpc import InvalidParamsError
from tests.codegen.compare.edits import CASES
from tests.codegen.compare.pets import shared_types
from tests.codegen.compare.two_sides import Sides, two_sides
from tests.codegen.documents import protocol

Node = dict[str, Any]

# Bindings of two sides are made first.
pytestmark = pytest.mark.slow

IDS = [case.what for case in CASES]
TYPES = ("Params", "Result", "Notified")
NOT_IN_BINDINGS = {"B329", "B330", "B331", "B332", "B333", "B334", "B335"}
"""Rules of closed objects, which bindings do not have, and of params by position."""


def document(side: str) -> Node:
    """Return a document with a request and a notification of the server for each case."""
    row = {"section": "1", "summary": "It."}
    methods: Node = {}
    types: Node = shared_types(side)
    for number, case in enumerate(CASES):
        for kind in TYPES:
            node = json.loads(json.dumps(getattr(case, side)))
            types[f"C{number}{kind}"] = node
        methods[f"c{number}/ask"] = row | {
            "kind": "request",
            "from": "client",
            "params": f"#/$defs/C{number}Params",
            "result": f"#/$defs/C{number}Result",
        }
        methods[f"c{number}/notified"] = row | {
            "kind": "notification",
            "from": "server",
            "params": f"#/$defs/C{number}Notified",
        }
    return protocol(
        types={name: {"description": "A type."} | node for name, node in types.items()},
        methods=methods,
    )


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    """The bindings of both sides, and what the comparison says of them."""
    with two_sides(tmp_path_factory, document("old"), document("new")) as made:
        yield made


async def refused(sender: ModuleType, receiver: ModuleType, wire: str, message: Node) -> bool:
    """Return whether the receiver's handlers refuse what the sender's types wrote."""
    row = sender.methods.PROTOCOL.methods[wire]
    frame = json.loads(json.dumps(to_wire(row.decode_params(message))))
    base = receiver.ServerHandlers if row.sender == "client" else receiver.ClientHandlers

    async def handle(self: Any, params: Any) -> None:
        return None

    handlers = type("Handlers", (base,), {known.attribute: handle for known in base.rows.values()})
    try:
        await handlers().dispatch(row.name, frame)
    except InvalidParamsError:
        return True
    return lacks_a_constant(receiver.methods.PROTOCOL.methods[wire].decode_params, frame)


def misread(writer: ModuleType, reader: ModuleType, wire: str, message: Node) -> bool:
    """Return whether the reader of a result refuses what the writer's types wrote."""
    result = writer.methods.PROTOCOL.methods[wire].decode_result(message)
    frame = json.loads(json.dumps(to_wire(result)))
    try:
        reader.methods.PROTOCOL.methods[wire].decode_result(frame)
    except ValidationError:
        return True
    return lacks_a_constant(reader.methods.PROTOCOL.methods[wire].decode_result, frame)


def lacks_a_constant(decode: Any, frame: Node) -> bool:
    """Return whether a message is only read leniently: documents and verdicts refuse it."""
    found: list[str] = []
    decode(frame, lambda reading, *_: found.append(reading.name))
    return "missing-constant" in found


def has_null_read_as_absent(reads: Node, message: Node) -> bool:
    """Return whether a message has null where the document refuses it, and bindings do not."""
    shared = {"$defs": shared_types("old")}
    nodes = [reads["properties"].get(name, {}) for name in message if message[name] is None]
    return not all(Draft202012Validator(node | shared).is_valid(None) for node in nodes)


def broken(sides: Sides, number: int, kind: str) -> set[str]:
    """Return who of the old ones is refused, or cannot read, on one way of a case."""
    case = CASES[number]
    ways = (
        (sides.old, sides.new, case.old_values, "old", case.new),
        (sides.new, sides.old, case.new_values, "new", case.old),
    )
    found = set()
    for writer, reader, values, wrote, reads in ways:
        for message in values:
            if kind == "Result":
                failed = misread(writer, reader, f"c{number}/ask", message)
                victims = {"old": "old receivers", "new": "old senders"}
            else:
                wire = f"c{number}/{'ask' if kind == 'Params' else 'notified'}"
                failed = asyncio.run(refused(writer, reader, wire, message))
                victims = {"old": "old senders", "new": "old receivers"}
            if failed or has_null_read_as_absent(reads, message):
                found.add(victims[wrote])
    return found


def victims_of(change: DocumentChange, kind: str) -> set[str]:
    exhaustive = "old senders" if kind == "Result" else "old receivers"
    groups = {victim.group for victim in change.breaks}
    return {exhaustive if group == "exhaustive readers" else group for group in groups}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("number", range(len(CASES)), ids=IDS)
def test_who_is_refused_is_whom_the_verdict_named(sides: Sides, number: int, kind: str) -> None:
    about = [change for change in sides.changes if f"C{number}{kind}" in change.place]
    named = set().union(*(victims_of(change, kind) for change in about))
    really = broken(sides, number, kind)
    assert really == named
    if any(change.level is Level.BREAKING for change in about):
        assert really
    if all(change.level is Level.SAFE for change in about):
        assert not really


def test_the_cases_meet_every_level_and_every_rule_of_types(sides: Sides) -> None:
    assert {change.level for change in sides.changes} == set(Level)
    met = {change.rule.id for change in sides.changes if change.rule.of_types}
    assert met == {found.id for found in RULES.values() if found.of_types} - NOT_IN_BINDINGS


def test_another_default_is_what_readers_take_for_absent(sides: Sides) -> None:
    number = IDS.index("another default")
    read = [
        side.methods.PROTOCOL.methods[f"c{number}/ask"].decode_params({}).a
        for side in (sides.old, sides.new)
    ]
    (change,) = [one for one in sides.changes if f"C{number}Params" in one.place]
    assert (read, change.rule.name) == (["x", "y"], "default-changed")
