"""How blocks are found in a text and read, and when a value is what a block writes down."""

from __future__ import annotations

from typing import Any

import pytest

from tests.each import each
from tests.spec.fenced import Block, at, blocks_of, covers, values_of

TEXT = """\
# A Protocol

```
a picture, {no message}
```

```jsonc
{ "a": 1 }
```

```toml
a = 1
```
"""


def read(text: str) -> list[Any]:
    return values_of(Block(1, 1, "jsonc", text))


def test_blocks_are_numbered_where_they_have_a_language() -> None:
    assert [block[:3] for block in blocks_of(TEXT)] == [(1, 7, "jsonc"), (2, 11, "toml")]
    assert [values_of(block) for block in blocks_of(TEXT)] == [[{"a": 1}], [{"a": 1}]]


@each(
    ("text", "values"),
    [
        ('// one\n{ "a": 1 } // two\n\n{ "b": [] }', [{"a": 1}, {"b": []}]),
        ('"content": "a"\n// or\n"content": []', [{"content": "a"}, {"content": []}]),
        ('{ "a": "iVBOR...", "b": "http://c" }', [{"a": "iVBOR...", "b": "http://c"}]),
        ('{ "a": "said \\"// no\\"" }', [{"a": 'said "// no"'}]),
    ],
)
def test_a_block_is_read_without_its_comments(text: str, values: list[Any]) -> None:
    assert read(text) == values


@each(
    ("text", "value", "expected"),
    [
        ('{ "a": 1 }', {"a": 1}, True),
        ('{ "a": 1 }', {"a": 1.0}, False),
        ('{ "a": 1 }', {"a": True}, False),
        ('{ "a": 1 }', {"a": 1, "b": 2}, False),
        ('{ "a": 1 }', {}, False),
        ('{ "a": 1, ... }', {"a": 1, "b": 2}, True),
        ('{ "a": 1, ... }', {"a": 1}, False),
        ('{ "a": { ... } }', {"a": {"b": 2}}, True),
        ('{ "a": { ... } }', {"a": {}}, False),
        ('{ "a": { MCPEvent } }', {"a": {"b": 2}}, True),
        ('{ "a": {} }', {"a": {"b": 2}}, False),
        ("[...]", [1], True),
        ("[ /* Channel[] */ ]", [], False),
        ("[1, ...]", [1, 2], True),
        ("[1, ...]", [2, 1], False),
        ("[1]", [1, 2], False),
        ("[]", {}, False),
    ],
)
def test_a_value_is_what_is_written_with_what_was_left_out(
    text: str, value: Any, expected: bool
) -> None:
    assert covers(read(text)[0], value) is expected


def test_a_pointer_leads_into_objects_and_lists() -> None:
    value = {"a/b": [{"c~d": 1}]}
    assert at(value, "") is value
    assert at(value, "/a~1b/0/c~0d") == 1
    with pytest.raises(LookupError):
        at(value, "/a")
