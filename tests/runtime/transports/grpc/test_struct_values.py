"""JSON through a Struct and back: nothing changes on the way, or it is refused with its place."""

from __future__ import annotations

import math
import re
from collections import OrderedDict
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct, Value
from hypothesis import given, strategies as st

from kinwire.transports.grpc.struct_rules import DEPTH, LARGEST
from kinwire.transports.grpc.struct_values import from_struct, from_value
from kinwire.transports.grpc.struct_writer import encoded_struct, encoded_value

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-LARGEST, LARGEST)
    | st.floats(-1e15, 1e15).filter(lambda number: not number.is_integer())
    | st.text()
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


def there_and_back(value: dict[str, Any]) -> dict[str, Any]:
    """Return what a peer gets that parses what is sent."""
    return from_struct(Struct.FromString(encoded_struct(value)))


def nested(levels: int, *, lists: bool = False) -> dict[str, Any]:
    value: Any = [] if lists else {}
    for _ in range(levels - 2):
        value = [value] if lists else {"a/b": value}
    return {"a/b": value}


@given(st.dictionaries(st.text(), JSON))
def test_every_object_comes_back_equal(value: dict[str, Any]) -> None:
    back = there_and_back(value)
    assert back == value
    assert sorted(map(repr, _leaves(back))) == sorted(map(repr, _leaves(value)))


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in _leaves(inner)]
    if isinstance(value, list):
        return [leaf for inner in value for leaf in _leaves(inner)]
    return [value]


def test_whole_numbers_are_integers_again() -> None:
    numbers = [5, 5.5, 5.0, LARGEST, -LARGEST, 0, True]
    back = there_and_back({"numbers": numbers})["numbers"]
    assert repr(back) == repr([5, 5.5, 5, LARGEST, -LARGEST, 0, True])


REFUSED: list[tuple[Any, str]] = [
    ({"a": [1, {"b/c": 2**53}]}, "/a/1/b~1c: expected a number of at most 2^53 - 1"),
    ({"a": -(2**53)}, "/a: expected a number of at most"),
    ({"a": 10**400}, "/a: expected a number of at most"),
    ({"a": 1e300}, "/a: expected a number of at most"),
    ({"a": math.nan}, "/a: expected a number that JSON has, got nan"),
    ({"a": [-math.inf]}, "/a/0: expected a number that JSON has, got -inf"),
    ({"a": "\ud800"}, "/a: expected text of Unicode"),
    ({"\ud800": 1}, "/: expected text of Unicode"),
    ({"a": {5: 1}}, "/a: expected text for a name, got 5"),
    ({"a": {1, 2}}, "/a: expected a value of JSON, got set"),
    ({"a": b"x"}, "/a: expected a value of JSON, got bytes"),
]


def test_what_does_not_go_through_is_refused_with_its_place() -> None:
    for value, message in REFUSED:
        with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
            encoded_struct(value)


def test_numbers_that_a_peer_may_have_rounded_are_refused() -> None:
    for number in (2.0**53, -(2.0**53), 9007199254740993, 1e300, math.inf, math.nan):
        struct = Struct()
        struct.fields["limits"].list_value.values.add().number_value = number
        with pytest.raises(ValueError, match=r"^/limits/0: expected a number"):
            from_struct(struct)


def test_depth_is_bounded_both_ways_and_the_decoder_takes_what_we_send() -> None:
    for lists in (False, True):
        deepest = nested(DEPTH, lists=lists)
        assert there_and_back(deepest) == deepest
        with pytest.raises(ValueError, match=f"/a~1b/.*at most {DEPTH} nested"):
            encoded_struct(nested(DEPTH + 1, lists=lists))
    deeper = Struct()
    deeper.fields["one"].struct_value.ParseFromString(encoded_struct(nested(DEPTH)))
    with pytest.raises(ValueError, match=f"/one/.*at most {DEPTH} nested"):
        from_struct(deeper)


def test_a_single_value_goes_through_too() -> None:
    values: list[Any] = [None, True, 0, 1.5, "text", [], {}, [{"a": [None]}]]
    for value in values:
        assert from_value(Value.FromString(encoded_value(value))) == value
    assert from_value(Value()) is None
    with pytest.raises(ValueError, match=r"^/: expected a number"):
        encoded_value(math.nan)
    with pytest.raises(ValueError, match=r"^/: expected a number"):
        from_value(Value(number_value=math.nan))


def test_values_of_classes_based_on_plain_ones_are_plain() -> None:
    class _Word(StrEnum):
        YES = "yes"

    class _Count(IntEnum):
        TWO = 2

    value = {"a": _Word.YES, "b": _Count.TWO, "c": (1, True), "d": OrderedDict(x=1.5)}
    assert there_and_back(value) == {"a": "yes", "b": 2, "c": [1, True], "d": {"x": 1.5}}


def test_the_library_reads_the_same_as_it_writes() -> None:
    value: Any = {"a": [None, True, 1, 2.5, "é" * 3000, {}, [], {"b": {"c": "x" * 5000}}]}
    theirs = Struct()
    theirs.update(value)
    assert Struct.FromString(encoded_struct(value)) == theirs
