"""How a text falls apart into headings and sentences."""

from __future__ import annotations

from tests.each import each
from tests.spec.ledger import MOST_CLAIMS, faults_of_claims, ledgers
from tests.spec.specification import id_stem, level_of, sections_of

MARKDOWN = """\
# A Protocol

## 1. First Things

Peers MUST greet. They may wave, e.g. with a
hand. (They should smile!) Done

- Both **SHOULD** sit
- Nobody waits:
  1. First they may rise
  2. then they
     must go

| what | rule |
|---|---|
| hat | May stay on | must be off |

### Bare `name/of` — a method

```jsonc
# no heading
{
  "a": 1, // one thing
  // this must count
}
```

> They SHOULD quote.

## Appendix A: Things

### A.1 More

### 2.0-draft (May)
"""

OUTLINE = """\
A Small Protocol

Version: 0.1

1. Overview

Goals should be few.

1.1 Names

All names must:

be short

-32700: no heading

Appendix A: Examples

A.1 Calls
"""


def test_headings_of_markdown_are_named_by_number_or_title() -> None:
    assert [section.name for section in sections_of(MARKDOWN)] == [
        "a-protocol",
        "1",
        "1 Bare name/of — a method",
        "A",
        "A.1",
        "A 2.0-draft (May)",
    ]


def test_headings_of_an_outline_are_its_numbered_lines() -> None:
    names = [section.name for section in sections_of(OUTLINE)]
    assert names == ["a-small-protocol", "1", "1.1", "A", "A.1"]


def test_sentences_list_items_cells_and_comments_are_counted_apart() -> None:
    first, bare = sections_of(MARKDOWN)[1:3]
    assert [first.count(level) for level in ("must", "should", "may")] == [3, 2, 3]
    assert [bare.count(level) for level in ("must", "should", "may")] == [1, 1, 0]
    assert [sections_of(OUTLINE)[place].count("must") for place in (1, 2)] == [0, 1]


@each(
    ("sentence", "level"),
    [
        ("It MAY, and then it must.", "must"),
        ("It **SHOULD NOT**.", "should"),
        ("It may.", "may"),
        ("The mayor mustered.", "states"),
    ],
)
def test_the_strongest_word_in_either_case_is_the_level(sentence: str, level: str) -> None:
    assert level_of(sentence) == level


def test_an_id_is_the_section_with_dashes() -> None:
    assert id_stem("mgp", "5.4 mgp/access/query") == "mgp-5.4-mgp-access-query"


def test_a_test_claims_at_most_three_rows() -> None:
    known = [next(iter(ledgers()))] * (MOST_CLAIMS + 1)
    assert faults_of_claims(known) == ["4 rows are claimed, at most 3 may be"]
    assert faults_of_claims(known[1:]) == []


def test_a_claim_of_a_row_that_is_not_there_is_a_fault() -> None:
    assert faults_of_claims(["mcp-ping-99"]) == ["no row has the id 'mcp-ping-99'"]
