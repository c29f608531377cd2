"""Texts of other descriptions: first sentences, and links of JSDoc."""

from __future__ import annotations

from kinwire_codegen.imports.names import summary_and_rest, without_links
from tests.each import each


@each(
    ("text", "summary", "rest"),
    [
        ("", "", ""),
        ("Find", "Find.", ""),
        ("Find all.\nAnd more.\n", "Find all.", "And more."),
        ("Set many (e.g. `a`, i.e. all). Then go.", "Set many (e.g. `a`, i.e. all).", "Then go."),
        ("Version 1.2 of it\n\nMore: this. That.", "Version 1.2 of it.", "More: this. That."),
        ("Two\nlines. - one\n- two", "Two lines.", "- one\n- two"),
    ],
)
def test_a_summary_is_the_first_sentence_and_is_not_repeated(
    text: str, summary: str, rest: str
) -> None:
    assert summary_and_rest(text) == (summary, rest)


@each(
    ("text", "plain"),
    [
        ("A {@link Position} there", "A `Position` there"),
        ("{@link Item Item[]} or {@linkcode List}", "`Item[]` or `List`"),
        ("{@link Item.detail `detail`}, {@link A the other}", "`detail`, the other"),
        ("{@link https://example.org}", "https://example.org"),
        ("{@link} {a: 1}", "{@link} {a: 1}"),
    ],
)
def test_links_of_jsdoc_become_names(text: str, plain: str) -> None:
    assert without_links(text) == plain
