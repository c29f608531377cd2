"""Every block of the specifications lives in a document or is a frame: valid, read, written back.

`fenced.py` says what the rows of `blocks/<protocol>.json` mean.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kinwire_codegen.load.document import Reference, resolve
from tests.each import each
from tests.generated.messages import DOCUMENTS, alone, validator
from tests.spec.fenced import Block, at, blocks_of, covers, rows_of, values_of
from tests.spec.ledger import SPECIFICATIONS
from tests.spec.texts import text_of

DOCUMENT = {document.name: document for document in DOCUMENTS}


def rows_that_are(*kinds: str) -> pytest.MarkDecorator:
    rows = [
        pytest.param(protocol, row, id=f"{protocol}-{row['block']}-{row.get('part', 1)}")
        for protocol in SPECIFICATIONS
        for row in rows_of(protocol)
        if row["is"] in kinds
    ]
    return pytest.mark.parametrize(("protocol", "row"), rows)


@cache
def blocks(protocol: str) -> dict[int, Block]:
    return {block.number: block for block in blocks_of(text_of(protocol))}


def written(protocol: str, row: dict[str, Any]) -> Any:
    """Return the value of the block that the row is about."""
    return values_of(blocks(protocol)[row["block"]])[row.get("part", 1) - 1]


def text(value: Any) -> str:
    # Python takes 1, 1.0 and True for equal; on the wire they are not.
    return json.dumps(value, sort_keys=True)


def check(reference: Reference, value: Any) -> None:
    """Check that a value is valid by its type, is read, and is written as it was."""
    validator(*reference).validate(value)
    assert text(alone(*reference, value)) == text(value)


def type_of(protocol: str, method: str, part: str) -> Reference:
    """Return the type of a part of a method, which may be of a protocol that this one extends."""
    waiting = [protocol]
    for name in waiting:
        if method in DOCUMENT[name].content["methods"]:
            return resolve(DOCUMENT[name].content["methods"][method][part], name)
        waiting += DOCUMENT[name].extends
    raise LookupError(f"{protocol} has no method {method}")


def added(protocol: str, method: str, part: str, value: Any) -> Iterator[tuple[Reference, Any]]:
    """Yield what the protocol has put into a part of another's message, with its type."""
    content = DOCUMENT[protocol].content
    for augment in content.get("augments", ()):
        if augment["to"] == {"method": method, "part": part} and augment["member"] in value:
            yield resolve(augment["schema"]["$ref"], protocol), value[augment["member"]]
    if method == "initialize" and content.get("offers"):
        side = "client" if part == "params" else "server"
        place = "/capabilities/" + content["capability"].replace(".", "/")
        yield resolve(content["offers"][side], protocol), at(value, place)


@each("protocol", SPECIFICATIONS)
def test_every_value_of_every_block_has_a_row(protocol: str) -> None:
    expected = {
        (block.number, block.line, part)
        for block in blocks(protocol).values()
        for part in range(1, 1 + max(1, len(values_of(block))))
    }
    found = {(row["block"], row["line"], row.get("part", 1)) for row in rows_of(protocol)}
    assert found == expected


@rows_that_are("example")
def test_a_block_that_is_an_example_is_one_of_its_type(protocol: str, row: dict[str, Any]) -> None:
    block, place = written(protocol, row), row.get("at", "")
    reference = Reference(row.get("protocol", protocol), row["of"])
    if place in ("/params", "/result"):
        method = row.get("method") or block["method"]
        assert type_of(protocol, method, place.removeprefix("/")) == reference
    examples = DOCUMENT[reference.protocol].definitions[reference.name]["examples"]
    found = [example for example in examples if covers(at(block, place), example)]
    assert found, f"no example of {reference.name} is {text(at(block, place))}"
    check(reference, found[0])


@rows_that_are("frame")
def test_a_block_that_is_a_frame_is_a_message_of_its_method(
    protocol: str, row: dict[str, Any]
) -> None:
    message, block = row["message"], written(protocol, row)
    # The specifications show messages without their envelope, and parts without their siblings.
    there = at(message, row.get("within", ""))
    filled_in = there.keys() if "within" in row else {"jsonrpc", "id"}
    shown = {name: there[name] for name in there if name in block or name not in filled_in}
    assert covers(block, shown)

    method = row.get("method") or message["method"]
    check(Reference("jsonrpc", "Envelope"), message)
    for part in {"params", "result"} & message.keys():
        check(type_of(protocol, method, part), message[part])
        for reference, value in added(protocol, method, part, message[part]):
            check(reference, value)
    if "error" in message:
        check_error(protocol, message["error"])


def check_error(protocol: str, found: dict[str, Any]) -> None:
    """Check that an error is one of the protocol's, with the data that belongs to it."""
    errors = {
        error["code"]: (name, error)
        for name in ("jsonrpc", *DOCUMENT[protocol].extends, protocol)
        for error in DOCUMENT[name].content["errors"].values()
    }
    home, error = errors[found["code"]]
    if "data" in error and "data" in found:
        check(resolve(error["data"], home), found["data"])


@rows_that_are("definition")
def test_a_block_that_is_a_definition_has_one_that_says_the_same(
    protocol: str, row: dict[str, Any]
) -> None:
    reference = Reference(row.get("protocol", protocol), row["of"])
    assert reference.name in DOCUMENT[reference.protocol].definitions
    values = values_of(blocks(protocol)[row["block"]])
    if not values:  # an interface: test_interfaces.py compares those
        return
    (value,) = values
    if value.keys() & {"oneOf", "properties"}:  # a schema, which has to take what ours takes
        kind = Draft202012Validator(value)
        for example in DOCUMENT[reference.protocol].definitions[reference.name]["examples"]:
            kind.validate(example)
    else:
        check(reference, value)
