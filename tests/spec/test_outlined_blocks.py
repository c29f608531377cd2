"""The blocks of MCP-lite that are not JSON alone: requests, event streams, Protocol Buffers.

Their rows in `blocks/mcp-lite.json` are about one value each, as those of `fenced.py`:

- `{"is": "http", "path"}`: a request to that path of the document.
- `{"is": "sse"}`: an event of the document.
- `{"is": "proto"}`: declarations that the document's gRPC mapping has.
- `{"is": "protobuf", "of": "Type", "value", "rpc"?}`: a message that stands for that JSON value.
- `{"is": "status", "error"}`: a status of gRPC that stands for that error.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from kinwire_codegen.load.document import Reference, resolve
from tests.each import each
from tests.generated.messages import DOCUMENTS, alone, validator
from tests.spec.fenced import Block, blocks_of, rows_of, values_of
from tests.spec.outlined import ANYTHING, language_of
from tests.spec.protobuf import as_json, declared_in, fits
from tests.spec.texts import text_of

PROTOCOL = "mcp-lite"
CONTENT: dict[str, Any] = next(one.content for one in DOCUMENTS if one.name == PROTOCOL)
GRPC: dict[str, Any] = CONTENT["grpc"]
HTTP: dict[str, Any] = CONTENT["http"]


# What the text shows in a block of that number, and says nowhere else.
SHOWN = {
    2: ["mcp-lite-5.1-1"],
    7: ["mcp-lite-A.1-4"],
    10: ["mcp-lite-A.2-4"],
    11: ["mcp-lite-A.2-3"],
    15: ["mcp-lite-A.3-3", "mcp-lite-5.3-1"],
    17: ["mcp-lite-5.3-2"],
    21: ["mcp-lite-A.4-4"],
    23: ["mcp-lite-A.5-2"],
}


def rows_that_are(kind: str) -> pytest.MarkDecorator:
    rows = [
        pytest.param(
            row,
            marks=[pytest.mark.spec(claimed) for claimed in SHOWN.get(row["block"], ())],
            id=f"{row['block']}-{row.get('part', 1)}",
        )
        for row in rows_of(PROTOCOL)
        if row["is"] == kind
    ]
    return pytest.mark.parametrize("row", rows)


@pytest.fixture(scope="module")
def blocks() -> dict[int, Block]:
    """Every block of the text by its number."""
    return {one.number: one for one in blocks_of(text_of(PROTOCOL))}


def written(blocks: dict[int, Block], row: dict[str, Any]) -> Any:
    return values_of(blocks[row["block"]])[row.get("part", 1) - 1]


def check(reference: Reference, value: Any) -> None:
    """Check that a value is valid by its type, is read, and is written as it was."""
    validator(*reference).validate(value)
    assert alone(*reference, value) == value


@rows_that_are("http")
def test_a_request_goes_to_a_path_of_the_document(
    row: dict[str, Any], blocks: dict[int, Block]
) -> None:
    request, path = written(blocks, row), HTTP["paths"][row["path"]]
    method = CONTENT["methods"][path["method"]]
    assert request["path"].removeprefix("/") in (row["path"], *path["aliases"])
    assert request["verb"] == HTTP["verb"]
    assert request["headers"]["Content-Type"] == HTTP["contentType"]
    if path["envelope"] == "jsonrpc":
        check(Reference("jsonrpc", "Request"), request["body"])
        assert request["body"]["method"] == path["method"]
    params = request["body"] if path["envelope"] == "none" else request["body"]["params"]
    check(resolve(method["params"], PROTOCOL), params)


@rows_that_are("sse")
def test_an_event_is_one_of_the_document(row: dict[str, Any], blocks: dict[int, Block]) -> None:
    event = written(blocks, row)
    check(resolve(HTTP["events"][event["event"]]["data"], PROTOCOL), event["data"])


@rows_that_are("proto")
def test_declarations_have_the_numbers_of_the_document(
    row: dict[str, Any], blocks: dict[int, Block]
) -> None:
    text = blocks[row["block"]].text
    for name, declared in declared_in(text).items():
        if name in GRPC["enums"]:
            values = GRPC["enums"][name]["values"]
            assert declared.items() <= {value: values[value]["number"] for value in values}.items()
            continue
        fields = GRPC["messages"][name]["fields"]
        facts = ("number", "type", "repeated")
        assert declared == {
            field: {fact: fields[field][fact] for fact in facts if fact in fields[field]}
            for field in fields
            if fields[field]["number"] < 10  # from there on they are ours
        }


@rows_that_are("proto")
def test_declared_calls_are_those_of_the_document(
    row: dict[str, Any], blocks: dict[int, Block]
) -> None:
    text = blocks[row["block"]].text
    calls = re.findall(r"rpc (\w+)\((\w+)\) returns \((stream )?(\w+)\);", text)
    expected = [
        (name, call["request"], "stream " if call.get("stream") else "", call["response"])
        for name, call in GRPC["rpcs"].items()
        if call.get("status") != "considered"
    ]
    named = re.findall(r"(?:package|service) (\w+)", text)
    assert (calls, named) in [(expected, [GRPC["package"], GRPC["service"]]), ([], [])]


@rows_that_are("protobuf")
def test_a_message_stands_for_its_json(row: dict[str, Any], blocks: dict[int, Block]) -> None:
    ((name, message),) = written(blocks, row).items()
    assert fits(as_json(GRPC, name, message), row["value"])
    check(Reference(PROTOCOL, row["of"]), row["value"])
    if "rpc" in row:
        assert f"stub.{row['rpc']}(" in blocks[row["block"]].text
        assert GRPC["rpcs"][row["rpc"]]["request"] == name


@rows_that_are("status")
def test_a_status_stands_for_its_error(row: dict[str, Any], blocks: dict[int, Block]) -> None:
    status = written(blocks, row)["Status"]
    codes = {code["code"]: code.get("error") for code in GRPC["codes"]}
    assert codes[status["code"]] == row["error"]
    assert status["message"].startswith(CONTENT["errors"][row["error"]]["message"])


def test_every_declared_name_of_the_text_is_compared(blocks: dict[int, Block]) -> None:
    declared = {
        name
        for row in rows_of(PROTOCOL)
        if row["is"] == "proto"
        for name in declared_in(blocks[row["block"]].text)
    }
    considered = {"Prompt", "PromptParameter", "PromptsList"}
    assert declared == {*GRPC["messages"], *GRPC["enums"]} - considered


@each(
    ("message", "value", "same"),
    [
        ({"a": {ANYTHING: None}}, {"a": ["x"]}, True),
        ({"a": {ANYTHING: None}}, {"a": []}, False),
        ({"a": "x..."}, {"a": "xyz"}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": [1, 2]}, {"a": [1]}, False),
    ],
)
def test_a_value_fits_what_was_written_and_fills_in_what_was_not(
    message: Any, value: Any, same: bool
) -> None:
    assert fits(message, value) is same


def test_a_block_that_begins_like_nothing_known_is_refused() -> None:
    with pytest.raises(ValueError, match="GET /tools"):
        language_of("GET /tools HTTP/1.1\n\n")


def test_a_field_that_the_mapping_lacks_is_reported() -> None:
    with pytest.raises(KeyError, match="colour"):
        as_json(GRPC, "Tool", {"colour": "red"})
