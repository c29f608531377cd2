"""The lint of plain English finds its phrases where people read them, and nowhere else."""

from __future__ import annotations

from tests.each import each
from tests.plain_english import RULES, findings_in

BAD = {
    "that is none": "is none",
    "a tool that is no function": "is no function",
    "the peer is told": "told",
    "how to mend it": "mend",
    "mended": "mended",
    "it begins anew": "anew",
    "all of it at once": "at once",
    "beside MCP": "beside",
    "and besides": "besides",
    "Meanwhile others run": "Meanwhile",
    "whoever calls": "whoever",
    "files and its like": "its like",
    "so many seconds": "so many",
    "what servers say unasked": "unasked",
    "this would be a hole": "a hole",
}

GOOD = (
    "there is no such method",
    "it is no longer open",
    "the value is None",
    "There is no such tool",
    "recommended",
    "to sell",
    "amended by hand",
)


def phrases(text: str, *, python: bool = False) -> list[str]:
    return [found.phrase for found in findings_in(text, python=python)]


@each(("text", "phrase"), BAD.items())
def test_a_phrase_is_found(text: str, phrase: str) -> None:
    assert phrases(text) == [phrase]


@each("text", GOOD)
def test_plain_english_is_left_alone(text: str) -> None:
    assert phrases(text) == []


def test_every_rule_has_an_example() -> None:
    assert len(RULES) <= len(BAD)


def test_python_is_read_in_comments_and_strings() -> None:
    source = 'told = 1  # it is told\nmend(told, """anew\n\n  whoever""")\n'
    found = list(findings_in(source, python=True))
    assert [(one.line, one.phrase) for one in found] == [(1, "told"), (2, "anew"), (4, "whoever")]
