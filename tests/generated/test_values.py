"""Values are taken as they are or refused: nothing is converted, rounded or beautified.

The cases B016 (large integers), B017 (text that looks like JSON), B020 (NaN and Infinity), and B018
and B019 (times) as far as types are concerned: times stay the text that came.
"""

from __future__ import annotations

import inspect
import json
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from pydantic import ValidationError
from typing_extensions import TypeAliasType

from kinwire_protocols import jsonrpc, mcp
from kinwire_protocols.base import JsonObject, Message, from_wire, to_wire
from tests.each import each
from tests.generated.messages import DOCUMENTS, generated_type

TEXTS = ["12345", "007", "true", "null", "[1]", '{"a":1}', " 5 ", "2026-03-01T00:00:00.000Z", ""]
BIG = [2**53 + 1, -(2**63), 2**64, 10**20, -(10**40)]
NOT_FINITE = [float("nan"), float("inf"), float("-inf")]


@each("text", TEXTS)
def test_a_text_stays_a_text_whatever_it_looks_like(text: str) -> None:  # B017
    value = {"uri": text, "name": text, "description": text, "x-any": text}
    resource = from_wire(mcp.Resource, value)
    assert (resource.uri, resource.description) == (text, text)
    assert to_wire(resource) == value


@each("wrong", ["5", "", 0.5, 5.5, 1e400, True, [5], {"size": 5}])
def test_only_an_integer_is_an_integer(wrong: Any) -> None:  # B017
    with pytest.raises(ValidationError, match="size"):
        from_wire(mcp.Resource, {"uri": "u", "name": "n", "size": wrong})


@each("wrong", ["true", 1, 0, 1.0, "", []])
def test_only_true_and_false_are_booleans(wrong: Any) -> None:
    with pytest.raises(ValidationError, match="isError"):
        from_wire(mcp.CallToolResult, {"content": [], "isError": wrong})


@each("wrong", ["0.5", True, [0.5], {}])
def test_only_a_number_is_a_number(wrong: Any) -> None:
    with pytest.raises(ValidationError, match="progress"):
        from_wire(mcp.ProgressNotificationParams, {"progressToken": 1, "progress": wrong})


@each("wrong", [True, 1.5, None, [], {}])
@pytest.mark.spec("mcp-id-field-requirements-1", "mcp-id-field-requirements-2")
def test_an_id_is_a_text_or_an_integer(wrong: Any) -> None:
    with pytest.raises(ValidationError, match="id"):
        from_wire(jsonrpc.Request, {"jsonrpc": "2.0", "id": wrong, "method": "ping"})


@each("wrong", [(), "ab", {"a": 1}, {1: 2}.keys()])
def test_only_an_array_is_an_array(wrong: Any) -> None:
    with pytest.raises(ValidationError, match="content"):
        from_wire(mcp.CallToolResult, {"content": wrong})


@each("number", BIG)
def test_a_large_integer_keeps_its_digits_in_every_kind_of_member(number: int) -> None:  # B016
    value = {
        "progressToken": number,
        "progress": number,
        "total": number,
        "_meta": {"n": number},
        "x-any": [number],
    }
    params = from_wire(mcp.ProgressNotificationParams, value)
    assert (type(params.progress), type(params.progress_token)) == (int, int)
    assert json.dumps(to_wire(params)) == json.dumps(value)


@each("number", [0, 0.1, 1.0, -0.0, 1e300, 5e-324])
def test_a_number_keeps_its_kind(number: float) -> None:
    params = from_wire(mcp.ProgressNotificationParams, {"progressToken": 1, "progress": number})
    assert json.dumps(to_wire(params)["progress"]) == json.dumps(number)


@each("number", NOT_FINITE)
def test_infinite_values_are_not_numbers(number: float) -> None:  # B020
    with pytest.raises(ValidationError, match="finite"):
        from_wire(mcp.ProgressNotificationParams, {"progressToken": 1, "progress": number})
    with pytest.raises(ValidationError, match="finite"):
        mcp.ModelPreferences(cost_priority=number)


@each(("number", "fits"), [(0, True), (1, True), (0.5, True), (-0.1, False), (2, False)])
@pytest.mark.spec("mcp-model-preferences-1")
def test_a_priority_lies_between_0_and_1(number: float, fits: bool) -> None:
    value: JsonObject = {"costPriority": number}
    if fits:
        assert to_wire(from_wire(mcp.ModelPreferences, value)) == value
    else:
        with pytest.raises(ValidationError, match="costPriority"):
            from_wire(mcp.ModelPreferences, value)


def test_building_in_python_is_as_strict_as_reading() -> None:
    with pytest.raises(ValidationError, match="size"):
        mcp.Resource(uri="u", name="n", size="5")  # type: ignore[arg-type]


CLASSES = [
    kind
    for document in DOCUMENTS
    for name in document.definitions
    if isinstance(kind := generated_type(document.name, name), type)
]


def leaves(hint: Any) -> set[Any]:
    """Return the types that a hint is made of."""
    if isinstance(hint, TypeAliasType):
        return leaves(hint.__value__)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {type(value) for value in arguments}
    if origin is Annotated:
        return leaves(arguments[0])
    if origin in (list, dict, Union, UnionType):
        return {leaf for argument in arguments for leaf in leaves(argument)}
    return {hint}


@each("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_member_holds_what_json_holds_and_nothing_else(kind: type[Message]) -> None:  # B018, B019
    # No datetime, no URL, no bytes: those would rewrite what a peer sent, or refuse it.
    hints = {name: get_type_hints(kind, include_extras=True)[name] for name in kind.model_fields}
    found = {leaf for hint in hints.values() for leaf in leaves(hint)}
    plain = {leaf for leaf in found if not (inspect.isclass(leaf) and issubclass(leaf, Message))}
    assert {str(leaf) for leaf in plain} <= {
        str(leaf) for leaf in (str, int, float, bool, NoneType, Any)
    } | {"MISSING"}
