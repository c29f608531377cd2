"""Examples of the reference as Python."""

from __future__ import annotations

import ast

from kinwire_codegen.docs.reference.python import literal
from tests.each import each


@each(
    ("text", "shown"),
    [
        ("a", '"a"'),
        ("it's", '"it\'s"'),
        ('"a"', "'\"a\"'"),
        ("a\nb\\c", r'"a\nb\\c"'),
        ("", '""'),
    ],
)
def test_a_text_is_in_double_quotes_and_escapes_no_more_than_it_has_to(
    text: str, shown: str
) -> None:
    assert literal(text) == shown
    assert ast.literal_eval(literal(text)) == text
    assert ast.literal_eval(literal({text: [text]})) == {text: [text]}


def test_a_text_with_both_quotes_is_python() -> None:
    text = "'\""
    assert ast.literal_eval(literal(text)) == text
