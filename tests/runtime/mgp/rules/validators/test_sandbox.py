"""What `sandbox` refuses: lists that must be refused, lists that must not be, and mutations."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp.rules.validators.shell_lexer import LONGEST_COMMAND, read_line
from tests.absent import shared
from tests.each import each
from tests.runtime.mgp.rules.validators.fixtures_vectors import (
    known,
    reasons,
    shell_lines,
    vectors,
)

MORE = vectors("more_shell.json")
BLOCKED = [*shell_lines("shell_must_block.txt"), *MORE["blocked"]]
ALLOWED = [*shell_lines("shell_must_allow.txt"), *MORE["allowed"]]
GUIDE = Path(__file__).parents[5] / "docs" / "mgp.md"

SHAPES: list[Callable[[str], dict[str, Any]]] = [
    lambda line: {"command": line},
    lambda line: {"x": line},
    lambda line: {"options": {"inner": [{"cmd": line}]}},
    lambda line: {"shell_script": line, "description": "it's about; this"},
    lambda line: {"commands": ["ls", line]},
    lambda line: {"steps": [["ls"], [line]]},
]


@each("shape", SHAPES)
def test_the_lists_are_separated_in_every_shape_of_arguments(
    shape: Callable[[str], dict[str, Any]],
) -> None:
    tool = known("tool")
    assert [line for line in BLOCKED if not reasons("sandbox", shape(line), tool)] == []
    if shape is SHAPES[-1]:  # an array holds one word each
        return
    falsely = {line: reasons("sandbox", shape(line), tool) for line in ALLOWED}
    assert {line: why for line, why in falsely.items() if why} == {}


def tldr_lines() -> Iterator[str]:
    text = shared("corpora/tldr-commands/commands.tsv").read_text("utf-8")
    return (line.split("\t")[2] for line in text.splitlines())


def test_the_rate_over_commands_of_a_manual_is_the_documented_one() -> None:
    tool, lines = known("run"), list(tldr_lines())
    refused = sum(bool(reasons("sandbox", {"command": line}, tool)) for line in lines)
    writing = sum(bool(reasons("readonly", {"command": line}, tool)) for line in lines)
    assert refused <= 747  # only smaller numbers are written here
    assert writing <= 1734
    said = re.findall(r"(\d+) % of the 2,154 commands", GUIDE.read_text("utf-8"))
    assert said == [str(round(100 * count / len(lines))) for count in (refused, writing)]


ARGUMENTS: list[tuple[dict[str, Any], bool]] = [
    ({"command": "rm", "args": ["-rf", "/"]}, False),
    ({"command": "rm", "args": "-rf /"}, False),
    ({"program": "sh", "arguments": ["-c", "id"]}, False),
    ({"argv": ["rm", "-rf", "/"]}, False),
    ({"args": ["rm", "-rf", "/"]}, False),
    ({"args": "rm -rf /"}, False),
    ({"command": ["ls", ";", "rm", "-rf", "/"]}, False),
    ({"command": "ls", "args": ["; rm -rf /"]}, False),
    ({"command": "ls", "args": ["$(id)"]}, False),
    ({"command": ["find", ".", "-delete"]}, False),
    ({"args": {"run": "rm -rf /"}}, False),
    ({"command": ["ls", 5, "\x00"]}, False),
    ({"rm -rf /": 1}, False),
    ({"command": "ls", "env": {"LD_PRELOAD": "x"}}, False),
    ({"command": "ls", "env": ["PATH=."]}, False),
    ({"command": "ls", "env": {"LANG": "$(id)"}}, False),
    ({"command": "ls", "cwd": "/tmp; id"}, False),
    ({"command": "ls", "cwd": "/tmp/$(id)"}, False),
    ({"command": "cat", "path": "/etc/shadow"}, False),
    ({"command": "ls", "shell": "perl -e 1"}, False),
    ({"command": "ls", "stdin": "rm -rf /"}, False),
    ({"command": "x" * LONGEST_COMMAND + "y"}, False),
    ({"command": "\u00e9" * LONGEST_COMMAND}, False),
    ({"command": "ls " * 501}, False),
    ({"command": ["ls", *["x"] * 501]}, False),
    ({"command": "rm -rf /", "description": "ls"}, False),
    ({"command": "ls", "args": ["-la"]}, True),
    ({"command": "ls -l", "args": ["src"]}, True),
    ({"command": ["which", "python3"]}, True),
    ({"command": "which", "args": ["python3"]}, True),
    ({"argv": ["git", "log"]}, True),
    ({"command": "ls", "description": "It's the list; really & truly"}, True),
    ({"command": "ls", "cwd": "/home/me/my project (old)"}, True),
    (
        {"command": "ls", "env": {"LC_ALL": "C", "TZ": "UTC"}, "timeout": 5, "background": False},
        True,
    ),
    ({"command": "ls", "shell": "/bin/bash"}, True),
    ({"command": ""}, True),
    ({}, True),
]


def test_arguments_are_read_by_their_names() -> None:
    wrong = [one for one, passes in ARGUMENTS if bool(reasons("sandbox", one)) is passes]
    assert wrong == []


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("git", {"args": ["-c", "core.pager=!id", "log"]}), ("run_rm", {"args": ["-rf", "x"]})],
)
def test_a_tool_that_is_named_after_a_program_is_that_program(
    tool: str, arguments: dict[str, Any]
) -> None:
    assert reasons("sandbox", arguments, tool)
    assert not reasons("sandbox", arguments, "list")


def test_a_violation_names_the_place_and_never_the_value() -> None:
    arguments = {"a": [{"cmd": "curl -K s3cret"}], "b": "echo 's3cret"}
    found = reasons("sandbox", arguments)
    assert [one.partition(":")[0] for one in found] == ["a[0].cmd", "b"]
    assert "s3cret" not in str(found)


WORDS: list[tuple[list[str], bool]] = [
    (["git", "commit", "-m", "fix: a; b && c | d (e)"], True),
    (["git", "commit", "-m", "it's done"], True),
    (["grep", "a && b", "f"], True),
    (["echo", "it costs $5"], True),
    (["cut", "-d;", "-f1", "f"], True),
    (["ls", ";", "rm", "-rf", "/"], False),
    (["ls", "a; rm -rf /"], False),
    (["ls", "it's; rm -rf /"], False),
    (["ls", "$(id)"], False),
    (["ls", "`id`"], False),
    (["ls", "it's $(id)"], False),
    (["echo", "x", ">", "f"], False),
    (["cat", "a|sh"], False),
    (["ls", ";", "rm -rf x", "#", "'"], False),
    (["ls", "\n"], False),
]


def test_words_of_an_array_must_be_harmless_as_one_line_too() -> None:
    wrong = [one for one, passes in WORDS if bool(reasons("sandbox", {"argv": one})) is passes]
    assert wrong == []


ALLOWING: list[tuple[str, Any, bool]] = [
    ("make test", "make test", True),
    ("make test", "make  'test'", True),
    ("make test", ["make", "test"], True),
    ("make test", "make test x", False),
    ("make test", "make", False),
    ("make test", "make test; id", False),
    ("make test", "make test $(id)", False),
    ("python3 scripts/check.py *", "python3 scripts/check.py a", True),
    ("python3 scripts/check.py *", "python3 scripts/check.py -x", False),
    ("python3 scripts/check.py *", "python3 other.py a", False),
]


def test_configured_commands_may_run_word_by_word() -> None:
    for allowed, command, passes in ALLOWING:
        found = reasons("sandbox", {"command": command}, allowed_commands=(allowed,))
        assert bool(found) is not passes, (allowed, command)


def test_words_may_have_shell_syntax_where_no_shell_runs() -> None:
    arguments = {"command": "git", "args": ["commit", "-m", "see $(id) > x"]}
    assert reasons("sandbox", arguments)
    assert not reasons("sandbox", arguments, without_shell=True)
    assert reasons("sandbox", {"command": "sh", "args": ["-c", "id"]}, without_shell=True)
    assert reasons("sandbox", {"command": ["ls", "\x07"]}, without_shell=True)
    assert reasons("sandbox", {"command": "ls; id"}, without_shell=True)


# -- mutations --

WRAPPERS = ("", "env ", "nice -n 5 ", "timeout 5 ", "command ", "env A=b nice ", "time -p ")
PLAIN = [line for line in BLOCKED if line.isascii() and line.isprintable() and line[0].isalpha()]
UNQUOTED = [line for line in PLAIN if not re.search(r"[^\w\s./:=@,-]", line)]


@given(st.sampled_from(PLAIN), st.sampled_from(WRAPPERS), st.data())
def test_blocked_commands_stay_blocked_when_they_are_spelled_differently(
    line: str, wrapper: str, data: st.DataObject
) -> None:
    line = data.draw(st.sampled_from(["", " ", "   "])) + wrapper + line
    line += data.draw(st.sampled_from(["", " ", " && ls", ";", " | cat", "\n"]))
    shape = data.draw(st.sampled_from(SHAPES))
    assert reasons("sandbox", shape(line)), line


@given(st.sampled_from(UNQUOTED), st.data())
def test_blocked_commands_stay_blocked_with_quotes_and_escapes(
    line: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(line) - 1))
    sign = line[at]
    forms = [f"'{sign}'", f'"{sign}"', f"\\{sign}", f"''{sign}", f'{sign}""']
    new = data.draw(st.sampled_from(forms if sign != " " else ["  ", "   "]))
    assert reasons("sandbox", {"command": line[:at] + new + line[at + 1 :]}), (line, new)
    words = json.loads(json.dumps(line.split()))
    assert reasons("sandbox", {"command": words}), words


@given(st.sampled_from(UNQUOTED), st.data())
def test_blocked_commands_stay_blocked_in_other_forms_of_unicode(
    line: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(line) - 1))
    wide = "\u3000" if line[at] == " " else chr(ord(line[at]) + 0xFEE0)
    hidden = data.draw(st.sampled_from("\u200b\u200d\u00ad\u202e\u2060\ufeff\u00a0\x00\t\r\n"))
    assert reasons("sandbox", {"command": line[:at] + wide + line[at + 1 :]})
    assert reasons("sandbox", {"command": line[:at] + hidden + line[at:]})


@given(st.text(max_size=60))
def test_what_is_read_without_problems_keeps_its_characters(text: str) -> None:
    line = read_line(text)
    if line.problems or line.operators:
        return
    words = [word.text for command in line.commands for word in command]
    assert sum(map(len, words)) <= 4 * len(text) + 4
    again = read_line(" ".join("'" + word.replace("'", "'\\''") + "'" for word in words))
    assert [word.text for command in again.commands for word in command] == words
