"""Code that cannot be read is blocked, in bounded time; reading has no effect on the process."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

from kinwire.mgp.rules.code_safety.check import check_code
from kinwire.mgp.rules.code_safety.levels import effective_rules
from kinwire.mgp.rules.code_safety.parsing import MOST_BYTES
from tests.each import each
from tests.runtime.fixtures_steps import assert_linear
from tests.runtime.mgp.rules.code_safety.fixtures_code import violations

UNREADABLE = {
    "minus": "-" * 99_000 + "1",  # MemoryError
    "plus": "1+" * 49_000 + "1",  # RecursionError
    "calls": "f" + "()" * 49_000,
    "brackets": "(" * 5000 + ")" * 5000,
    "fields of an f-string": "f'" + "{1}" * 30_000 + "'",
    "a NUL": "x = 1\0",
    "half a character": "x = '\ud800'",
    "not Python": "SELECT 1 FROM t",
    "a magic of notebooks": "!id",
    "unexpected indent": "x = 1\n    y = 2",
    "a digit too many": "x = " + "1" * 5000,
    "another encoding": "#!/bin/python\n# -*- coding: utf-7 -*-\nx = 1",
    "a script of a shell": "#!/bin/sh\nreboot",
    "a script of another Python": "#!/usr/bin/env -S sh -c python\nreboot",
    "too large": "x = 1\n" * 10_000,
}


def test_unreadable_code_is_blocked_at_every_level() -> None:
    for name, code in UNREADABLE.items():
        for level in ("standard", "strict", "readonly"):
            assert violations(code, level), name


def test_code_that_is_indented_as_a_whole_is_read() -> None:
    assert violations("    x = 1\n    y = 2", "strict") == []
    assert violations("    import subprocess", "strict") == ["Blocked import: 'subprocess'"]


def test_a_script_of_python_is_read() -> None:
    for first in ("#!/usr/bin/env python3", "#!/usr/local/bin/python3.11", "#! /bin/python", "#!x"):
        assert bool(violations(f"{first}\nx = 1", "strict")) is (first == "#!x"), first


def test_the_largest_code_is_read_and_one_byte_more_is_not() -> None:
    code = "#" + "é" * ((MOST_BYTES - 2) // 2) + "\n"
    assert len(code.encode()) == MOST_BYTES
    assert violations(code, "standard") == []
    assert violations(code + "\n", "standard") == [
        f"Code too large: {MOST_BYTES + 1} bytes, at most {MOST_BYTES}"
    ]
    assert violations("x" * 10_001, "strict") == ["Code too large: 10001 bytes, at most 10000"]


def test_warnings_about_code_are_not_those_of_the_process() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_code(r"x = '\d' is 'a'", effective_rules("standard", None)) == []


@each(
    "line",
    [
        "def f(x):\n    return [y * 2 for y in x if y.name == 'a']\nprint('{}'.format(f([1])))\n",
        "import json\njson.loads('1')\n",
        "t = 'x'\nt.format(1)\n",
        "class A: pass\nmatch x:\n    case A(): pass\n",
        "y = 'a'\ngetattr(x, y)\n",
        "a.b.c.d.e.f.g.h\n",
    ],
)
def test_the_work_grows_with_the_size_and_not_faster(line: str) -> None:
    rules = effective_rules("standard", None)
    assert_linear(lambda size: lambda: check_code(line * size, rules), 500 // len(line))


def test_modules_of_the_standard_library_are_read_as_harmless() -> None:
    home = Path(ast.__file__).parent
    rules = effective_rules("standard", None)
    for name in ("textwrap", "calendar", "colorsys"):
        assert check_code((home / f"{name}.py").read_text(encoding="utf-8"), rules) == [], name
