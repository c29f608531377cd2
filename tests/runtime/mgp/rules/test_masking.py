"""Audit events contain no secrets that can be recognized, stay on one line, and have a size."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

from hypothesis import given, strategies as st

from kinwire.mgp.rules.masking import MASK, masked, masked_text
from tests.each import each

SECRET = "hunter2xyz9"  # what must not be in any output

TEXTS = [
    f"Authorization: Bearer {SECRET}",
    f"authorization=Basic {SECRET}==",
    f"bearer {SECRET}",
    f"password={SECRET}",
    f"password: '{SECRET} more words'",
    f'{{"password": "{SECRET}", "n": 1}}',
    f"--password {SECRET}",
    f"--api-key={SECRET}",
    f"-token {SECRET}",
    f"https://user:{SECRET}@host/path",
    f"https://{SECRET}@host/path",
    f"https://host/?a=1&access_token={SECRET}&b=2",
    f"AWS_SECRET_ACCESS_KEY={SECRET}",
    f"client_secret:{SECRET}",
    f"Cookie: a=1; session={SECRET}",
    f"Set-Cookie: id={SECRET}; Path=/",
    f"x-api-key: {SECRET}",
    f"sk-{SECRET}{SECRET}",
    f"ghp_{SECRET}{SECRET}",
    f"github_pat_{SECRET}{SECRET}",
    f"glpat-{SECRET}{SECRET}",
    f"xoxb-{SECRET}{SECRET}",
    f"AKIA{SECRET.upper()}XYZABC",
    f"eyJhbGciOi.{SECRET}.{SECRET}",
    f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----",
    f"-----BEGIN PRIVATE KEY-----\n{SECRET}",
    f"mydb_dsn={SECRET}",
]


def test_secrets_with_a_known_form_are_masked_in_texts() -> None:
    left = [text for text in TEXTS if SECRET in masked_text(text).lower()]
    assert left == []
    assert all(MASK in masked_text(text) for text in TEXTS)
    assert masked_text(f"call https://u:{SECRET}@host/x now") == f"call https://{MASK}@host/x now"


@each(
    "text",
    [
        *["token limit exceeded", "the password is wrong", "basic auth needed", "pass the salt"],
        *["files/read", "agent.cloto_default", "550e8400-e29b-41d4-a716-446655440000"],
        *["sandbox: command substitution", "https://host/path?page=2", "skip-this-one-please"],
        *["12 of 10 calls a minute", "tokenizer", "", "a@b.example"],
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert masked_text(text) == text


NAMES = [
    *["password", "passwd", "apiKey", "api_key", "API-KEY", "x-api-key", "Authorization"],
    *["accessToken", "refresh_token", "client_secret", "clientSecretId", "privateKey", "cookie"],
    *["Set-Cookie", "sessionId", "credentials", "db_password", "dbPasswordHash", "pin", "jwt"],
]


def test_fields_with_the_name_of_a_secret_are_masked() -> None:
    values: list[Any] = [SECRET, [SECRET], {"a": {"b": SECRET}}, 12345]
    for name in NAMES:
        for value in values:
            assert masked({"a": [{name: value}]}) == {"a": [{name: MASK}]}, name
    shown = {"max_tokens": 5, "tokens": 7, "password": True, "secret": None, "author": SECRET}
    assert masked(shown) == shown


def test_a_secret_as_a_field_name_is_masked_too() -> None:
    assert masked({f"sk-{SECRET}{SECRET}": 1}) == {MASK: 1}


def test_control_characters_are_escaped() -> None:
    evil = "a\nb\r\x1b[31mred\x07\u2028\u202e\ud800\x00\x9b"
    shown = masked_text(evil)
    assert shown == r"a\nb\r\x1b[31mred\x07\u2028\u202e\ud800\x00\x9b"
    assert masked({evil: evil}) == {shown: shown}


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=8), JSON_VALUES, max_size=5))
def test_what_is_masked_is_json_on_one_printable_line(value: dict[str, Any]) -> None:
    line = json.dumps(masked(value), ensure_ascii=False, allow_nan=False)
    assert line.isprintable()
    assert json.loads(line) == masked(masked(value))


def test_big_values_are_cut() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = {"a": [deep]}
    big: list[dict[str, Any]] = [
        deep,
        {str(number): number for number in range(10_000)},
        {"list": list(range(10_000))},
        {"text": "x" * 1_000_000},
        {str(number): "y" * 900 for number in range(150)},
        {"n" * 100_000: 1, "big": 10**400, "small": -(10**400)},
    ]
    for value in big:
        text = json.dumps(masked(value))
        assert len(text) <= 16 * 1024
        assert "[cut]" in text


def test_long_texts_are_not_kept_in_memory() -> None:
    tracemalloc.start()
    try:
        for number in range(10):
            text = str(number) + "x" * 1_000_000
            assert len(masked_text(text)) < 1100
            assert len(masked({text: text})) == 1
        del text
        assert tracemalloc.get_traced_memory()[0] < 1_000_000
    finally:
        tracemalloc.stop()
