"""Which arguments of a call are code."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mgp.rules.code_safety.levels import effective_rules
from kinwire.mgp.rules.code_safety.rejection import violations_of_call

BAD = "import subprocess"
PROSE = "Please summarise the report (in English) for the import of goods."


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def nested(value: Any, levels: int) -> Any:
    for _ in range(levels):
        value = [value]
    return value


CASES: list[tuple[str, dict[str, Any], dict[str, Any], bool]] = [
    ("by its name", {"code": BAD}, {}, True),
    ("by a word of its name", {"pythonCode": BAD}, {}, True),
    ("in an object", {"job": {"script": BAD}}, {}, True),
    ("in a list", {"cells": ["x = 1", BAD]}, {}, True),
    ("in lines", {"code": ["import \\", "subprocess"]}, {}, True),
    ("in objects of a list", {"steps": [{"code": BAD}]}, {}, True),
    ("by its media type", {"x": "SELECT 1"}, schema(x={"contentMediaType": "text/x-python"}), True),
    ("by its format", {"x": "SELECT 1"}, schema(x={"format": "python"}), True),
    ("by what is said of it", {"x": "a b"}, schema(x={"description": "Python code to run"}), True),
    ("by its looks, next to code", {"code": "x = 1", "note": f"{BAD}\nf()"}, {}, True),
    ("the only argument, if long", {"text": "x " * 200}, {}, True),
    ("the only argument, in lines", {"text": "a b\nc d"}, {}, True),
    ("prose next to code", {"code": "x = 1", "note": PROSE}, {}, False),
    ("a path next to code", {"code": "x = 1", "path": "../a file.txt"}, {}, False),
    ("words next to code", {"code": "x = 1", "mode": "exec", "name": "os.system"}, {}, False),
    ("a short text", {"text": "two words"}, {}, False),
    ("its language", {"code": "x = 1", "language": "Python3"}, {}, False),
    ("its length", {"code": "x = 1", "code_length": "not many"}, {}, False),
    ("a number", {"code": 5}, {}, False),
    ("without arguments", {}, {}, False),
    ("another language", {"code": "x = 1", "language": "bash"}, {}, True),
    ("another runtime", {"code": "x = 1", "runtime": "node"}, {}, True),
    ("another language, further inside", {"job": [{"lang": "sh", "code": "reboot"}]}, {}, True),
    ("one of several languages", {"code": "x = 1", "languages": ["python", "sh"]}, {}, True),
    ("a language that begins like it", {"code": "x = 1", "language": "python|sh"}, {}, True),
    ("its language with a version", {"code": "x = 1", "language": " CPython 3.11"}, {}, False),
    ("a key", {"code": {f"{BAD}\nf()": 1}}, {}, True),
    ("a key that calls", {"code": {"__import__('os').system('id')": 1}}, {}, True),
    ("names of files as keys", {"code": {"my file.txt": "x = 1"}}, {}, False),
    ("40 levels deep", {"code": nested("x = 1", 40)}, {}, False),
    ("60 levels deep", {"code": nested("x = 1", 60)}, {}, True),
    ("60 levels deep in another argument", {"code": "x", "more": nested(BAD, 60)}, {}, True),
]


@pytest.mark.spec("mgp-4.5-4")
def test_code_is_found_among_the_arguments() -> None:
    rules = effective_rules("strict", None)
    for name, arguments, known, expected in CASES:
        found = violations_of_call(arguments, known, rules)
        assert bool(found) == expected, (name, found)


def test_the_configuration_says_which_arguments_are_code() -> None:
    rules = effective_rules("strict", None)
    arguments = {"formula": "two words", "code": "three more words"}
    assert violations_of_call(arguments, {}, rules, ["code"])
    assert not violations_of_call({**arguments, "code": "1"}, {}, rules, ["code"])
    assert violations_of_call({**arguments, "code": "1"}, {}, rules, ["formula"])


def test_unrestricted_takes_any_language() -> None:
    rules = effective_rules("unrestricted", None)
    assert violations_of_call({"code": "rm -rf /", "language": "bash"}, {}, rules) == []
