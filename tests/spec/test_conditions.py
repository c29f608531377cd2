"""The mutants of conditions: which there are, how code is changed, and which are left out."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from tests.spec.mutation.chosen import SOURCES, equivalents
from tests.spec.mutation.conditions import mutants_of, mutated_tree
from tests.spec.mutation.patching import Functions, probed_tree

CHANGES = [
    pytest.param("if x: pass", {"x -> not x"}, id="if"),
    pytest.param("while not x: pass", {"not x -> x"}, id="not"),
    pytest.param("return 1 if x else 2", {"x -> not x"}, id="either"),
    pytest.param("if x < 1: pass", {"x < 1 -> x <= 1", "x < 1 -> x >= 1"}, id="less"),
    pytest.param("return x is None", {"x is None -> x is not None"}, id="a comparison anywhere"),
    pytest.param("return x or 2", {"x or 2 -> 2", "x or 2 -> x"}, id="or"),
    pytest.param(
        "if x and y: pass",
        {"x and y -> x", "x and y -> y", "x and y -> not (x and y)", "x -> not x", "y -> not y"},
        id="and",
    ),
    pytest.param("return [a for a in x if a]", {"a -> not a"}, id="in a comprehension"),
    pytest.param("assert x", set(), id="an assertion"),
    pytest.param("return x", set(), id="nothing"),
]


@pytest.mark.parametrize(("statement", "expected"), CHANGES)
def test_each_condition_is_changed_in_each_way(
    statement: str, expected: set[str], tmp_path: Path
) -> None:
    file = tmp_path / "a.py"
    source = f"def f(x, y):\n    {statement}\n"
    file.write_text(source, encoding="utf-8")
    found = mutants_of(tmp_path, file)
    assert {one.id.removeprefix("a.py f: ") for one in found} == expected
    for mutant in found:
        changed = ast.unparse(mutated_tree(source, mutant.index))
        assert changed != ast.unparse(ast.parse(source))
        assert mutant.after in changed


def test_equal_changes_of_a_function_are_numbered(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(
        "class C:\n    def f(self, x):\n        if x: return 1\n        if x: return 2\n"
    )
    assert [one.id for one in mutants_of(tmp_path, file)] == [
        "a.py C.f: x -> not x",
        "a.py C.f: x -> not x (2)",
    ]


def test_a_function_that_exists_gets_the_changed_code(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    source = "def f(x):\n    return [one for one in x if one > 1]\n"
    file.write_text(source, encoding="utf-8")
    names: dict[str, object] = {}
    exec(compile(source, str(file), "exec"), names)
    function, functions = names["f"], Functions(tmp_path)
    assert callable(function)
    hits: list[tuple[str, int]] = []
    mutants = mutants_of(tmp_path, file)
    functions.probe("a.py", probed_tree(source, mutants), lambda *hit: hits.append(hit))
    assert function([1, 2]) == [2]
    assert hits == [("a.py", mutants[0].probe)] * 2
    functions.change("a.py", mutated_tree(source, mutants[0].index))
    assert function([1, 2]) == [1, 2]


def test_functions_of_one_line_are_not_mixed_up(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    source = "pair = (lambda one: one or 5, lambda other: other + 1)\n"
    file.write_text(source, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(source, str(file), "exec"), names)
    Functions(tmp_path).change("a.py", mutated_tree(source, mutants_of(tmp_path, file)[0].index))
    first, second = names["pair"]
    assert (first(3), second(3)) == (5, 4)


def test_what_is_left_out_is_there_and_has_a_reason() -> None:
    known = {one.id for path in SOURCES.rglob("*.py") for one in mutants_of(SOURCES, path)}
    assert [id for id in equivalents() if id not in known] == []
    assert all(len(reason) > 20 for reason in equivalents().values())
