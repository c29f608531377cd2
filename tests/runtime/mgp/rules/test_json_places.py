"""The place of each key and value of a JSON text, compared with what `json` reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp.rules.config_problem import ConfigError
from kinwire.mgp.rules.file_formats import file_node
from kinwire.mgp.rules.file_places import Path
from kinwire.mgp.rules.json_places import JsonPlaces
from tests.each import each

TEXT = """\
{"a": {"b\\"}": [1, -2.5e3, {"c": null}],
  "d" : "x, ] }", "e":{},"f":[ ]
 },
 "g": true }"""
PLACES: list[tuple[Path, tuple[int, int], tuple[int, int]]] = [
    ((), (1, 1), (1, 1)),
    (("a",), (1, 2), (1, 7)),
    (("a", 'b"}'), (1, 8), (1, 16)),
    (("a", 'b"}', 1), (1, 20), (1, 20)),
    (("a", 'b"}', 2, "c"), (1, 29), (1, 34)),
    (("a", "d"), (2, 3), (2, 9)),
    (("a", "f"), (2, 26), (2, 30)),
    (("g",), (4, 2), (4, 7)),
    (("g", "not there"), (4, 2), (4, 2)),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=2), below),
    max_leaves=10,
)


def paths_of(value: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    below: Any = value.items() if isinstance(value, dict) else ()
    for key, one in enumerate(value) if isinstance(value, list) else below:
        yield from paths_of(one, (*path, key))


def test_places_of_keys_and_values() -> None:
    for text in (TEXT, TEXT.replace("\n", "\r\n")):
        places = JsonPlaces(text)
        assert places.paths == {*paths_of(json.loads(text))}
        for path, key, value in PLACES:
            assert (places.of_key(path), places.of_value(path)) == (key, value), path


@given(JSON, st.sampled_from([None, 1]), st.booleans())
def test_every_path_of_any_json_has_a_place(value: Any, indent: int | None, plain: bool) -> None:
    text = json.dumps({"top": value}, indent=indent, ensure_ascii=plain)
    places = JsonPlaces(text)
    assert places.paths == {*paths_of({"top": value})}
    assert places.repeated == []


@each(
    ("text", "problem"),
    [
        ("{", "f:1:2: not JSON"),
        ('{"a": 1,\n "b" 2}', "f:2:6: not JSON"),
        ('{"a": 1,\n "b": {"c": 1, "c": 2}}', "f:2:16: the key 'c' is there twice"),
        ('{"a": ' + "[" * 100_000, "f:1:1: values are too deep"),
        ('{"a": ' + "9" * 5000 + "}", "f:1:1: not JSON: Exceeds the limit"),
    ],
)
def test_a_text_that_is_not_json_is_refused_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(ConfigError) as refused:
        file_node(text, "f")
    assert str(refused.value).startswith(problem)
