"""Each heading of the specifications, and each sentence that binds, has a row in the ledger."""

from __future__ import annotations

import json
import re

import pytest

from tests.spec.ledger import FOLDER, SPECIFICATIONS, Row, rows_of
from tests.spec.specification import LEVELS, id_stem, plain, sections_of
from tests.spec.texts import text_of

# A shorter row may well be worded like the text; there are few ways to say so little.
LONGEST_COPY = 6  # words

each_protocol = pytest.mark.parametrize("protocol", SPECIFICATIONS)


def sections_in_order(rows: tuple[Row, ...]) -> list[str]:
    return list(dict.fromkeys(row.section for row in rows))


@each_protocol
def test_a_ledger_is_one_row_a_line(protocol: str) -> None:
    rows = rows_of(protocol)
    lines = [json.dumps(row._asdict(), ensure_ascii=False) for row in rows]
    text = (FOLDER / f"{protocol}.json").read_text(encoding="utf-8")
    assert text == "[\n" + ",\n".join(f"  {line}" for line in lines) + "\n]\n"


@each_protocol
def test_ids_are_the_section_and_a_running_number(protocol: str) -> None:
    rows = rows_of(protocol)
    expected = [
        f"{id_stem(protocol, section)}-{number}"
        for section in sections_in_order(rows)
        for number in range(1, 1 + sum(row.section == section for row in rows))
    ]
    assert [row.id for row in rows] == expected


@each_protocol
def test_every_row_has_a_level_and_is_one_sentence(protocol: str) -> None:
    rows = rows_of(protocol)
    assert {row.level for row in rows} <= set(LEVELS)
    assert [row.id for row in rows if not re.fullmatch(r"[^\s].*[^\s.]\.", row.text)] == []
    assert [row.id for row in rows if re.search(r"(?<!e\.g)(?<!i\.e)[.!?] [A-Z]", row.text)] == []


@each_protocol
def test_no_text_stands_twice(protocol: str) -> None:
    texts = [plain(row.text) for row in rows_of(protocol)]
    assert sorted(texts) == sorted(set(texts))


@each_protocol
def test_no_text_is_copied(protocol: str) -> None:
    rows = rows_of(protocol)
    original = f" {plain(text_of(protocol))} "
    copied = [row for row in rows if f" {plain(row.text)} " in original]
    assert [row.id for row in copied if len(plain(row.text).split()) > LONGEST_COPY] == []


@each_protocol
def test_every_heading_has_a_row_and_the_order_is_that_of_the_text(protocol: str) -> None:
    rows = rows_of(protocol)
    sections = sections_of(text_of(protocol))
    assert sections_in_order(rows) == [section.name for section in sections]


@each_protocol
def test_every_sentence_that_binds_has_a_row(protocol: str) -> None:
    rows = rows_of(protocol)
    counted = [
        (section.name, level, section.count(level))
        for section in sections_of(text_of(protocol))
        for level in LEVELS[:3]
    ]
    short = [
        f"{name}: {count} sentences of level {level}, {there} rows"
        for name, level, count in counted
        if (there := sum(row.section == name and row.level == level for row in rows)) < count
    ]
    assert short == []


@each_protocol
def test_no_binding_word_is_outside_a_sentence(protocol: str) -> None:
    text = text_of(protocol)
    words = re.compile(r"\b(?:must|should|may)\b", re.IGNORECASE)
    sentences = [sentence for section in sections_of(text) for sentence in section.sentences]
    without_headings = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    assert words.findall(" ".join(sentences)) == words.findall(without_headings)
