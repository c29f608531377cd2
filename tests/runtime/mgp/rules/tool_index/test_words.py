"""Words of texts and identifiers, their stems, and misspelt ones."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp.rules.tool_index import spelling
from kinwire.mgp.rules.tool_index.postings import Postings
from kinwire.mgp.rules.tool_index.query import terms_of
from kinwire.mgp.rules.tool_index.spelling import KnownWords, distance
from kinwire.mgp.rules.tool_index.synonyms import SYNONYMS
from kinwire.mgp.rules.tool_index.words import STOP_STEMS, WORD_SIZE, joined, stem, stems_of
from tests.each import each


@each(
    ("text", "stems"),
    [
        ("", []),
        ("-- !?", []),
        ("read_file read-file readFile", ["read", "file"] * 2 + ["read", "file", "readfil"]),
        ("HTTPServer2", ["http", "serv", "2", "httpserver2"]),
        ("JavaScript YouTube", ["java", "script", "javascript", "you", "tube", "youtub"]),
        ("12306 mp3 3D", ["12306", "mp", "3", "mp3", "3", "d", "3d"]),
        ("获取天气", ["获取", "取天", "天气"]),
        ("天气", ["天气"]),
        ("气", ["气"]),
        ("ファイル", ["ファ", "ァイ", "イル"]),
        ("PDF文件", ["pdf", "文件"]),
        ("Größe Café ДАТА", ["gross", "cafe", "дата"]),
        ("\ufb01le \uff30\uff24\uff26", ["file", "pdf"]),
        ("ガイド", ["ガイ", "イド"]),
    ],
)
def test_texts_and_identifiers_are_split_into_words(text: str, stems: list[str]) -> None:
    assert stems_of(text) == stems


@each(
    "words",
    [
        "calculate calculates calculated calculating calculator calculators calculation",
        "create creates created creating creation",
        "convert converts converted converting converter",
        "recommend recommends recommendation recommendations",
        "generate generated generation generator",
        "category categories",
        "search searches searching searched",
        "parse parses parsing parsed parser",
        "analyze analysis analytics analyzer",
        "delete deleted deletion",
        "box boxes",
        "file files",
        "get gets",
        "write writes writing written",
        "use uses used using",
        "run runs",
        "copy copies copying",
    ],
)
def test_forms_of_a_word_have_one_stem(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == 1


@each(
    "words",
    ["news new", "station state", "file fill", "status stat", "process proceed", "port report"],
)
def test_other_words_have_other_stems(words: str) -> None:
    one, other = words.split()
    assert stem(one) != stem(other)


@given(st.text(max_size=200))
def test_every_text_has_short_words_in_lower_case(text: str) -> None:
    for word in stems_of(text):
        assert word
        assert len(word) <= 3 * WORD_SIZE  # lower case of a letter may be three
        assert word.casefold() == word
    assert joined(text) == joined(text.replace("_", " "))


def test_a_stem_that_says_little_is_known_by_every_form() -> None:
    assert {*map(stem, ["the", "this", "should", "using", "does"])} <= STOP_STEMS
    assert not STOP_STEMS.intersection(map(stem, ["get", "find", "file", "new", "news"]))


def test_synonyms_work_both_ways_and_never_name_the_word_itself() -> None:
    for word, others in SYNONYMS.items():
        assert word not in others
        assert all(word in SYNONYMS[other] for other in others)
    assert stem("folder") in SYNONYMS[stem("directory")]


@each(
    ("one", "other", "expected"),
    [
        ("word", "word", 0),
        ("wrd", "word", 1),
        ("wordd", "word", 1),
        ("ward", "word", 1),
        ("wrod", "word", 1),
        ("owrd", "word", 1),
        ("wodr", "word", 1),
        ("wd", "word", 2),
        ("drow", "word", 3),
        ("", "word", 3),
        ("elephant", "word", 3),
    ],
)
def test_differences_of_two_words_are_counted(one: str, other: str, expected: int) -> None:
    assert distance(one, other, 2) == expected == distance(other, one, 2)


LETTERS = "abcdexyz"
WORDS = st.text(LETTERS, min_size=4, max_size=7)
LONG_WORDS = st.text(LETTERS, min_size=10, max_size=14)


@given(WORDS, st.integers(0, 6), st.sampled_from(["swap", "lose", "gain", "change"]))
def test_a_word_with_one_mistake_is_found(word: str, at: int, mistake: str) -> None:
    at %= len(word) - 1
    start, first, second, end = word[:at], word[at], word[at + 1], word[at + 2 :]
    wrong = {
        "swap": start + second + first + end,
        "lose": start + second + end,
        "gain": start + "q" + first + second + end,
        "change": start + "q" + second + end,
    }[mistake]
    known = KnownWords()
    known.add(word)
    if len(wrong) >= 4:
        assert known.near(wrong) == (word,)


@given(LONG_WORDS, st.integers(0, 13), st.integers(0, 13))
def test_a_long_word_with_two_wrong_letters_is_found(word: str, one: int, other: int) -> None:
    wrong = list(word)
    wrong[one % len(word)] = wrong[other % len(word)] = "q"
    known = KnownWords()
    known.add(word)
    assert known.near("".join(wrong)) == (word,)


def test_the_words_with_the_fewest_differences_are_near_in_a_fixed_order() -> None:
    known = KnownWords()
    for word in ("treating", "trending", "sending", "trend1", "trend", "blending"):
        known.add(word)
    assert known.near("treending") == ("trending",)
    assert known.near("tending") == ("sending", "trending")
    known.discard("sending")
    known.discard("sending")
    assert known.near("tending") == ("trending",)
    assert known.near("tre") == known.near("trend2") == known.near("x" * 30) == ()


def test_words_that_a_server_invents_do_not_make_a_search_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known, postings, compared = KnownWords(), Postings(), list[str]()
    for number in range(5000):
        word = "spam" + "".join(chr(97 + int(digit)) for digit in f"{number:04}")
        known.add(word)
        postings.add(number, {word: 1.0})

    def counting(one: str, other: str, most: int) -> int:
        compared.append(other)
        return distance(one, other, most)

    monkeypatch.setattr(spelling, "distance", counting)
    known.near("spamjjjx")
    assert 400 < len(compared) <= 1000
    compared.clear()
    query = " ".join(f"spam{letter}xbc" for letter in "klmnopqrst")
    terms_of(query, postings.seen_by(None), known)
    assert 400 < len(compared) <= 1000  # all words of a query together


def test_words_with_other_letters_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    known = KnownWords()
    for word in ("spamabcd", "spamxyzw", "spamabcz"):
        known.add(word)
    compared = list[str]()

    def noting(one: str, other: str, most: int) -> int:
        compared.append(other)
        return distance(one, other, most)

    monkeypatch.setattr(spelling, "distance", noting)
    assert known.near("spamabce") == ("spamabcd", "spamabcz")
    assert compared == ["spamabcd", "spamabcz"]
