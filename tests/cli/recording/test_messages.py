"""Where two values differ, and what may."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire_cli.failure import UsageError
from kinwire_cli.recording.messages import Ignored, differences
from tests.each import each


def found(recorded: Any, came: Any, *ignored: str) -> list[str]:
    without = [Ignored.from_text(text) for text in ignored]
    return [str(one) for one in differences(recorded, came, "tools/call", without)]


@each(
    ("recorded", "came", "expected"),
    [
        ({"a": 1, "b": [1]}, {"b": [1], "a": 1.0}, []),
        ({"a": 1}, {"a": True}, ["/a: expected 1, got true"]),
        ({"a": 1}, {}, ["/a: expected 1, got nothing"]),
        ({}, {"a/b": None}, ["/a~1b: expected nothing, got null"]),
        ([1, 2], [1], ["/1: expected 2, got nothing"]),
        ([1], {"0": 1}, [": expected an array, got an object"]),
        ("a" * 50 + "b", "a" * 50 + "c", [
            f': expected "\\u2026{"a" * 20}b", got "\\u2026{"a" * 20}c"'
        ]),
    ],
)  # fmt: skip
def test_differences_are_found_by_pointer(recorded: Any, came: Any, expected: list[str]) -> None:
    assert found(recorded, came) == expected


@each(
    ("ignored", "left"),
    [
        ("/content/*/text", ["/content/0/type"]),
        ("/content/0", ["/content/1/text"]),
        ("tools/call#/content", []),
        ("tools/list#/content", ["/content/0/text", "/content/0/type", "/content/1/text"]),
        ("/content/0/text/more", ["/content/0/text", "/content/0/type", "/content/1/text"]),
    ],
)
def test_what_is_ignored_may_differ(ignored: str, left: list[str]) -> None:
    recorded = {"content": [{"text": "a", "type": "b"}, {"text": "a"}]}
    came = {"content": [{"text": "c", "type": "d"}, {"text": "e"}]}
    assert [one.partition(":")[0] for one in found(recorded, came, ignored)] == left


def test_no_pointer_is_a_slip() -> None:
    with pytest.raises(UsageError, match="--ignore text: expected a pointer"):
        Ignored.from_text("text")


def test_of_very_many_differences_the_first_are_shown() -> None:
    assert len(found(list(range(1000)), list(range(1, 1001)))) == 50
