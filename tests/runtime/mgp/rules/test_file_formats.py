"""Small texts that would take minutes, or a gigabyte, are refused immediately."""

from __future__ import annotations

from time import perf_counter

import pytest

from kinwire.mgp.rules.config_problem import ConfigError
from kinwire.mgp.rules.file_formats import file_node, toml_node
from kinwire.mgp.rules.file_places import DEEPEST

MANY = 4000
KEY = ".".join(["a"] * MANY)
MIXED = " . ".join(["a", '"b # c"', "'d'", '"\\"."'] * (MANY // 8))
ITEMS = ",".join(["1"] * MANY)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{KEY} = 1", id="a key"),
        pytest.param(f"x = '''\n'''\n{MIXED} = 1", id="a key of parts in quotes"),
        pytest.param(f"[[servers]]\n[{KEY}]", id="a table"),
        pytest.param(f"[[{KEY}]]", id="an array of tables"),
        pytest.param(f'x = {{ y = """ " """, {KEY} = 1 }}', id="a key in a table in one line"),
        pytest.param(f"x = {'[' * DEEPEST}{ITEMS}{']' * DEEPEST}", id="arrays"),
        pytest.param(f'{{"x": {"[" * DEEPEST}{ITEMS}{"]" * DEEPEST}}}', id="arrays of JSON"),
    ],
)
def test_paths_have_a_longest_length(text: str) -> None:
    with pytest.raises(ConfigError, match="too deep in one another"):
        file_node(text, "f")


@pytest.mark.parametrize("quotes", ['"', '"""', "'", "'''", "#"])
def test_text_with_many_dots_is_no_long_key(quotes: str) -> None:
    dotted = ".".join(["a"] * 3 * DEEPEST)
    text = f"# {dotted}" if quotes == "#" else f"k = {quotes}{dotted}{quotes}"
    assert toml_node(f"{text}\nn = 1.5", "f").table()["n"].value == 1.5


@pytest.mark.parametrize(
    "text", ['"\\"' * 9 * MANY, '"' * 9 * MANY, "a-" * 9 * MANY, "a ." * 30 * MANY]
)
def test_a_text_that_is_not_toml_takes_no_long_time(text: str) -> None:
    began = perf_counter()
    with pytest.raises(ConfigError):
        toml_node(text, "f")
    assert perf_counter() - began < 5
