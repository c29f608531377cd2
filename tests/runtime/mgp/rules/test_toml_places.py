"""The place of each key and value of a TOML text, compared with what `tomllib` reads."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

from hypothesis import given, strategies as st

from kinwire.mgp.rules.file_places import Path
from kinwire.mgp.rules.toml_places import TomlPlaces

TEXT = """\
a.b = 1
"x y".'z"' = 'q' # c
[servers.files] # [no]
trust = "standard"
n = [1, 2, [3, {k = "v", m.n = 4}],
  # c ]
  "]}", \"\"\"mul"" ti
line\"\"\"\"]
d = 1979-05-27 07:32:00
"esc\\"aped\\u0041" = '''it's
so'''
[[arr]]
p = 1
[arr.sub]
q=2
[[arr]]
p = 2
[[arr.in]]
w = {}
[servers]
z = -inf
"""
PLACES: list[tuple[Path, tuple[int, int], tuple[int, int]]] = [
    (("a", "b"), (1, 3), (1, 7)),
    (("x y", 'z"'), (2, 7), (2, 14)),
    (("servers", "files"), (3, 10), (3, 10)),
    (("servers", "files", "trust"), (4, 1), (4, 9)),
    (("servers", "files", "n", 2, 1, "m", "n"), (5, 28), (5, 32)),
    (("servers", "files", "n", 3), (7, 3), (7, 3)),
    (("servers", "files", "n", 4), (7, 9), (7, 9)),
    (("servers", "files", "d"), (9, 1), (9, 5)),
    (("servers", "files", 'esc"apedA'), (10, 1), (10, 21)),
    (("arr", 0, "p"), (13, 1), (13, 5)),
    (("arr", 0, "sub", "q"), (15, 1), (15, 3)),
    (("arr", 1), (16, 1), (16, 1)),
    (("arr", 1, "in", 0, "w"), (19, 1), (19, 5)),
    (("servers", "z"), (21, 1), (21, 5)),
    (("servers", "z", "not there"), (21, 1), (21, 1)),
    (("not there",), (1, 1), (1, 1)),
]


def paths_of(value: Any, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, below in value.items():
            yield from paths_of(below, (*path, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from paths_of(below, (*path, index))


def test_places_of_keys_and_values() -> None:
    for text in (TEXT, TEXT.replace("\n", "\r\n")):
        places = TomlPlaces(text)
        assert places.paths == {*paths_of(tomllib.loads(text))}
        for path, key, value in PLACES:
            assert (places.of_key(path), places.of_value(path)) == (key, value), path


KEYS = st.one_of(
    st.sampled_from(["a", "b-c", "1"]),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=3).map(
        lambda key: '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
    ),
)
SCALARS = st.sampled_from(
    [
        *("1", "-0.5", "true", "07:32:00", "1979-05-27T07:32:00Z", "inf", "0xff"),
        *('"a"', '"]}#\\""', "'\"'", "''", '"""x"""', '"""\n a ]"""', "'''#\n'''", '""""a""""'),
    ]
)
BLANKS = st.sampled_from(["", " ", "\n", " # ]}\n\t"])


def arrays(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.tuples(BLANKS, values, BLANKS), max_size=3).map(
        lambda items: "[" + ",".join(map("".join, items)) + "]"
    )


def inline(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.dictionaries(KEYS, values, max_size=3).map(
        lambda fields: "{ " + ", ".join(f"{key} = {value}" for key, value in fields.items()) + " }"
    )


VALUES = st.recursive(SCALARS, lambda below: arrays(below) | inline(below), max_leaves=6)
HEADERS = st.builds("[{}]".format, st.lists(KEYS, min_size=1, max_size=2).map(" . ".join))
TABLES = st.builds("[[{}]]".format, st.sampled_from(["t", "t.u", "t . v"]))
PAIRS = st.builds(
    "{} = {} # c".format, st.lists(KEYS, min_size=1, max_size=2).map(".".join), VALUES
)


@given(st.lists(HEADERS | TABLES | PAIRS, max_size=8).map("\n".join))
def test_every_key_has_a_place_in_any_text_that_is_toml(text: str) -> None:
    try:
        wanted = {*paths_of(tomllib.loads(text))}
    except tomllib.TOMLDecodeError:
        return
    places = TomlPlaces(text)
    assert places.paths == wanted
    lines = text.split("\n")
    for path in wanted:
        line, column = places.of_value(path)
        assert lines[line - 1][column - 1].strip() != ""
