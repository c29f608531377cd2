"""The levels, and a tool's own rules, which narrow those of the kernel and never widen them."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp.rules.code_safety.check import MOST_VIOLATIONS, check_code
from kinwire.mgp.rules.code_safety.levels import LEVELS, effective_rules, kernel_rules
from kinwire.mgp.rules.code_safety.parsing import MOST_BYTES
from kinwire.mgp.rules.code_safety.rejection import rejected
from kinwire_protocols.base import to_wire
from kinwire_protocols.mgp.models import CodeSafety
from tests.runtime.mgp.rules.code_safety.fixtures_code import vectors

CODE = [row["code"] for row in vectors("code_must_block")][::4]
MODULES = st.lists(st.sampled_from(["os", "json", "subprocess", "numpy", "sys", "httpx"]))


def found(code: str, own: str, **declared: object) -> list[str]:
    return check_code(code, effective_rules(own, CodeSafety.model_validate(declared)))


@given(
    level=st.sampled_from(LEVELS),
    declared=st.builds(
        CodeSafety,
        level=st.sampled_from([*LEVELS, "lenient"]),
        max_code_size_bytes=st.none() | st.integers(0, 10**9),
        blocked_imports=st.none() | MODULES,
        allowed_imports=st.none() | MODULES,
        blocked_patterns=st.none() | st.lists(st.sampled_from(["eval(", "print(", "while True"])),
    ),
)
@pytest.mark.spec("mgp-7.3-2")
def test_a_declaration_only_narrows(level: str, declared: CodeSafety) -> None:
    own, both = kernel_rules(level), effective_rules(level, declared)
    assert LEVELS.index(both.level) >= LEVELS.index(level)
    assert both.most_bytes <= own.most_bytes
    assert set(both.blocked_imports) >= set(own.blocked_imports)
    assert set(both.blocked_patterns) >= set(own.blocked_patterns)
    if own.allowed_imports is not None:
        assert both.allowed_imports is not None
        assert set(both.allowed_imports) <= set(own.allowed_imports)
    assert all(check_code(code, both) for code in CODE if check_code(code, own))


@pytest.mark.spec("mgp-7.3-2")
def test_each_part_of_a_declaration_counts() -> None:
    assert not found("import csv", "standard", level="standard")
    assert found("import csv", "standard", level="standard", blocked_imports=["csv"]) == [
        "Blocked import: 'csv'"
    ]
    assert found("import csv", "standard", level="strict", allowed_imports=["json"]) == [
        "Blocked import: 'csv'"
    ]
    assert not found("import csv", "standard", level="standard", allowed_imports=["json"])
    assert found("x = 12345", "standard", level="standard", max_code_size_bytes=5) == [
        "Code too large: 9 bytes, at most 5"
    ]
    assert found("x = 1", "standard", level="standard", language="javascript") == [
        "Blocked language: 'javascript'"
    ]
    assert found("x = 1", "unrestricted", level="unrestricted", language="javascript") == []
    assert found("import numpy", "strict", level="strict", allowed_imports=["numpy"])
    assert found("import subprocess", "strict", level="strict", allowed_imports=["subprocess"])
    assert found("import glob", "standard", level="of a later version")  # the strictest
    assert found("x = 1", "unrestricted", level="strict") == []
    assert found("import glob", "unrestricted", level="strict")


@pytest.mark.spec("mgp-7.3-2")
def test_blocked_patterns_are_tokens_and_not_substrings() -> None:
    cases: list[tuple[str, str, bool]] = [
        ("print(", "print ('x')", True),
        ("print(", "x.print('x')", False),
        ("print(", "def print(x): pass", False),
        ("print(", "# print('x')\ny = 'print('", False),
        ("print(", "p = print", True),
        ("json.loads", "from json import loads as l\nl('1')", True),
        ("json.loads", "import json as j\nj . loads('1')", True),
        ("json.loads", "x = 'json.loads'", False),
        ("while True", "while   True: pass", True),
        ("while True", "while Truth: pass", False),
        ("os.environ", "import os\nos.environ['A']", True),
        ("time.sleep(", "import time\ntime.sleep(1)", True),
        ("'", "x = 'a'", False),
        ("", "x = 1", False),
    ]
    for pattern, code, expected in cases:
        violations = found(code, "standard", level="standard", blocked_patterns=[pattern])
        assert bool(violations) == expected, (pattern, code, violations)


@pytest.mark.spec("mgp-7.4-1", "mgp-7.4-2", "mgp-7.4-3")
def test_a_rejection_is_that_of_the_specification() -> None:
    rules = effective_rules("standard", None)
    rejection = to_wire(rejected(check_code("import subprocess\neval('1')", rules), rules))
    assert rejection == {
        "status": "rejected",
        "reason": "Code validation failed",
        "violations": ["Blocked import: 'subprocess'", "Blocked pattern: 'eval('"],
        "hints": {
            "blocked_imports": ["subprocess", "shutil", "socket", "ctypes"],
            "max_code_size_bytes": MOST_BYTES,
        },
    }
    rules = effective_rules("strict", CodeSafety(level="strict", allowed_imports=["json", "os"]))
    hints = to_wire(rejected([], rules))["hints"]
    assert hints["allowed_imports"] == ["json", "os"]
    assert hints["max_code_size_bytes"] == 10_000


def test_violations_are_counted_once_and_are_not_endless() -> None:
    rules = effective_rules("standard", None)
    assert check_code("eval('1')\neval('2')", rules) == ["Blocked pattern: 'eval('"]
    many = "\n".join(f"x.__a{number}__" for number in range(100))
    assert len(check_code(many, rules)) == MOST_VIOLATIONS


def test_readonly_blocks_sending_and_changes_of_the_environment() -> None:
    cases: list[tuple[str, bool]] = [
        ("import httpx\nhttpx.get('https://example.com/')", False),
        ("import httpx\nhttpx.post('https://example.com/', json={})", True),
        ("import httpx\nhttpx.request('DELETE', 'https://example.com/')", True),
        ("import httpx\nclient = httpx.Client()\nclient.put('https://example.com/')", True),
        ("import urllib.request as r\nr.urlopen('https://example.com/', b'x')", True),
        ("d.put(1)\nd.send(2)", False),
        ("import os\nprint(os.environ['A'], os.environ.get('B'), 'C' in os.environ)", False),
        ("import os\nos.environ['A'] = 'b'", True),
        ("import os\ndel os.environ['A']", True),
        ("import os\nos.environ.update(A='b')", True),
        ("from os import environ as e\ne.pop('A')", True),
        ("import os\nx = os.environ", True),
        ("import xml.etree.ElementTree as E\nE.ElementTree(x).write('f.xml')", True),
        ("import sys\nsys.stdout.write('x')", False),
        ("print('x')", False),
    ]
    for code, expected in cases:
        assert bool(check_code(code, kernel_rules("readonly"))) == expected, code
        writes = [one for one in check_code(code, kernel_rules("strict")) if "write" in one]
        assert writes == [], code


def test_an_unknown_level_of_the_kernel_is_an_error() -> None:
    with pytest.raises(ValueError, match="code safety level: expected one of unrestricted, "):
        kernel_rules("strictest")
