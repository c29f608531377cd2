"""Headers on the command line: where values come from, and that no message repeats one."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinwire_cli.failure import UsageError
from kinwire_cli.headers import headers_from
from tests.each import each

SECRET = "s3cret"
ENVIRONMENT = {"TOKEN": SECRET, "TWICE": "${TOKEN}", "LINES": f"{SECRET}\r\nX-Other: 1"}


@each(
    ("words", "headers"),
    [
        pytest.param([], {}, id="none"),
        pytest.param(["X-One: 1", "x-two:2"], {"X-One": "1", "x-two": "2"}, id="two"),
        pytest.param(["X-One: 1", "x-one: 2"], {"x-one": "2"}, id="the last of a name"),
        pytest.param(["X: a:b"], {"X": "a:b"}, id="a colon in the value"),
        pytest.param(["X:"], {"X": ""}, id="an empty value"),
        pytest.param(["A: Bearer ${TOKEN}!"], {"A": f"Bearer {SECRET}!"}, id="a variable"),
        pytest.param(["A: ${TWICE}"], {"A": "${TOKEN}"}, id="one expansion, not two"),
        pytest.param(["A: $TOKEN"], {"A": "$TOKEN"}, id="no braces, no variable"),
    ],
)
def test_a_header_is_a_name_and_a_value(words: list[str], headers: dict[str, str]) -> None:
    assert headers_from(words, ENVIRONMENT) == headers


def test_a_file_has_a_header_on_each_line(tmp_path: Path) -> None:
    file = tmp_path / "headers"
    file.write_text("Authorization: Bearer ${TOKEN}\n\nX-Tenant: 7\n", encoding="utf-8")
    expected = {"Authorization": f"Bearer {SECRET}", "X-Tenant": "7"}
    assert headers_from([f"@{file}"], ENVIRONMENT) == expected


@each(
    ("word", "message"),
    [
        pytest.param(f"Bearer {SECRET}", "expected a name", id="no colon"),
        pytest.param(f"Bearer {SECRET}: x", "expected a name", id="a space in the name"),
        pytest.param(f"X: {SECRET}\n", None, id="an end of line at the end is not part of it"),
        pytest.param(f"X: {SECRET}\nY: 1", "characters", id="two lines in one"),
        pytest.param("X: ${LINES}", "characters", id="two lines in a variable"),
        pytest.param(f"X: {SECRET}\u2028", "characters", id="a foreign letter"),
        pytest.param("X: ${MISSING}", "MISSING is not set", id="no such variable"),
        pytest.param("@/nowhere/headers", "/nowhere/headers: No such file", id="no such file"),
    ],
)
def test_an_invalid_header_is_refused_without_its_value(word: str, message: str | None) -> None:
    if message is None:
        assert headers_from([word], ENVIRONMENT) == {"X": SECRET}
        return
    with pytest.raises(UsageError, match=message) as refused:
        headers_from([word], ENVIRONMENT)
    assert SECRET not in f"{refused.value}{refused.value.hint}"
    assert refused.value.hint
