"""The index of tools: what is found, in which order, and how tools come and go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kinwire.mgp.rules.tool_index import index as module
from kinwire.mgp.rules.tool_index.entry import Found, IndexedTool
from kinwire.mgp.rules.tool_index.fields import weights_of
from kinwire.mgp.rules.tool_index.index import ToolIndex
from kinwire.mgp.rules.tool_index.words import joined
from tests.each import each
from tests.runtime.mgp.rules.tool_index.fixtures_tools import catalog, catalog_queries, indexed


def index_of(*tools: IndexedTool) -> ToolIndex:
    index = ToolIndex()
    for server in dict.fromkeys(tool.server_id for tool in tools):
        index.replace(server, [tool for tool in tools if tool.server_id == server])
    return index


def names(found: Found) -> str:
    return " ".join(hit.tool.name for hit in found.hits)


def searched(index: ToolIndex, query: str, limit: int = 5) -> str:
    return names(index.search(query, limit=limit))


TOOLS = (
    indexed("read_file", "Read the contents of a file at the given path", server="fs"),
    indexed("list_directory", "List what is in a directory", server="fs"),
    indexed("removeFile", "Delete a file", server="fs"),
    indexed("get-weather", "Forecast of a city. Data comes from satellites.", server="sky"),
    indexed("calculate", "Evaluate an expression", server="math"),
    indexed("translate_text", "把文字翻译成其他语言", server="words"),
)
PARAMETER = {"properties": {"celsius": {"type": "boolean", "description": "Not in kelvin"}}}


@each(
    ("query", "first"),
    [
        ("read file", "read_file"),
        ("readFile", "read_file"),
        ("READ-FILE", "read_file"),
        ("reading files", "read_file"),
        ("show a folder", "list_directory"),
        ("erase the file", "removeFile"),
        ("wether", "get-weather"),
        ("caculate the bmi", "calculate"),
        ("forecastnig", "get-weather"),
        ("contnetss", "read_file"),
        ("satellite", "get-weather"),
        ("翻译", "translate_text"),
        ("sky", "get-weather"),
    ],
)
@pytest.mark.spec("mgp-16.4-3")
def test_words_find_tools_in_any_form_misspelt_and_by_like_meaning(query: str, first: str) -> None:
    assert searched(index_of(*TOOLS), query).split()[0] == first


def test_other_words_are_looked_for_only_where_few_tools_have_the_word() -> None:
    tools = [indexed(f"erase_{number:02}") for number in range(50)]
    for count in (49, 50):
        found = index_of(*tools[:count], indexed("delete_it")).search("erase", limit=99)
        assert ("delete_it" in names(found), found.total) == (count < 50, 50)


@each("query", ["", "   ", "!?", "xylophone", "zzzzzzzz qqqq"])
def test_a_query_without_a_known_word_finds_nothing(query: str) -> None:
    found = index_of(*TOOLS).search(query, limit=9)
    if query.strip():
        assert (found.hits, found.total) == ((), 0)
    else:
        assert found.total == len(TOOLS)


def test_only_the_first_sixteen_misspelt_words_are_guessed() -> None:
    index = index_of(*TOOLS)
    others = [letter * 6 for letter in "abcdefghijklmnop"]
    assert searched(index, " ".join((*others[:15], "wether"))) == "get-weather"
    assert searched(index, " ".join((*others, "wether"))) == ""


def test_parameters_and_keywords_are_searched() -> None:
    tool = indexed("get_report", "Weather", inputSchema=PARAMETER)
    index = index_of(tool, replace(indexed("other", "Weather"), keywords=("umbrella",)))
    assert searched(index, "celsius") == searched(index, "kelvin") == "get_report"
    assert searched(index, "umbrella") == "other"


def test_derived_labels_are_not_counted_next_to_the_name_that_they_come_from() -> None:
    tool = replace(indexed("other"), keywords=("umbrella",), keyword_source="derived")
    assert searched(index_of(tool), "umbrella") == ""
    assert searched(index_of(indexed("x")), "kind") == ""
    assert searched(index_of(replace(indexed("x"), category_source="declared")), "kind") == "x"


def test_a_name_comes_first_where_other_tools_have_its_words_too() -> None:
    index = index_of(
        indexed("list", "Lists."),
        indexed("list_files_of_lists", "List list list, and a list of files."),
        indexed("files", "A list of files, files, files."),
    )
    for query in ("list", "LIST"):
        assert index.search(query, limit=1).hits[0] == (index.get("s", "list"), 1.0)


def test_a_word_in_the_name_says_more_than_one_in_the_text() -> None:
    index = index_of(
        indexed("a", "Search. And so on. A mention of invoices."),
        indexed("b", "Finds invoices. And so on."),
        indexed("invoice_search", "And so on."),
    )
    assert searched(index, "invoices") == "invoice_search b a"


def test_equal_tools_are_in_the_order_of_server_and_name() -> None:
    tools = [indexed(f"t{n}", "same", server=server) for server in "cab" for n in (3, 1, 2)]
    for turn in range(len(tools)):
        found = index_of(*tools[turn:], *tools[:turn]).search("same", limit=5)
        places = [(hit.tool.server_id, hit.tool.name) for hit in found.hits]
        assert places == [("a", "t1"), ("a", "t2"), ("a", "t3"), ("b", "t1"), ("b", "t2")]
        assert len({hit.score for hit in found.hits}) == 1


def test_scores_are_between_0_and_1_and_fall() -> None:
    index = index_of(*TOOLS)
    for query in ("read file", "file", "a file of weather to delete", "read reed read files"):
        scores = [hit.score for hit in index.search(query, limit=9).hits]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)


def test_filters_are_applied_before_the_limit_and_the_total_does_not_depend_on_it() -> None:
    """200 tools fit the words, and 5 of them the filters as well."""
    tools = [indexed(f"b{number:03}", "a file") for number in range(195)]
    kept = [replace(indexed(f"c{number}", "a file"), risk="moderate") for number in range(5)]
    others = [replace(indexed(f"c_x{number}", "a file"), risk="dangerous") for number in range(9)]
    index = index_of(*tools, *kept, *others)
    for limit in (5, 3, 200, 0, -1):
        found = index.search(
            "file",
            limit=limit,
            accepts=lambda tool: tool.risk != "dangerous",
            categories=["kind/c"],
        )
        assert (
            found.hits
            == index.search("file", limit=99, accepts=kept.__contains__).hits[: max(limit, 0)]
        )
        assert found.total == 5
    assert index.search("file", limit=1).total == 209


@pytest.mark.spec("mgp-16.4-5")
def test_categories_are_a_hierarchy_that_can_be_browsed() -> None:
    def within(name: str, *categories: str) -> IndexedTool:
        return replace(indexed(name, "same"), categories=categories)

    index = index_of(
        within("a", "fs/read"),
        within("b", "fs/write", "net"),
        within("c", "fs"),
        within("d", "fsx"),
        within("e", "fs/read/text"),
    )
    assert index.categories() == {
        **{"fs": 4, "fs/read": 2, "fs/read/text": 1, "fs/write": 1, "fsx": 1, "net": 1}
    }
    table = {
        ("fs",): "a b c e",
        ("fs/read",): "a e",
        ("FS.Read",): "a e",
        ("fs/write", "fsx"): "b d",
        ("read",): "",
        ("f",): "",
    }
    for wanted, expected in table.items():
        assert names(index.search("same", limit=9, categories=wanted)) == expected
        assert names(index.search("", limit=9, categories=wanted)) == expected
    for query, expected in {"fs": "a b c e", "net": "b", "read": "a e", "x": ""}.items():
        found = index.search(query, strategy="category", limit=9)
        assert (names(found), found.strategy, found.total) == (
            expected,
            "category",
            len(expected.split()),
        )
    assert names(index.search("fs", strategy="category", limit=9, categories=["net"])) == "b"


def test_without_vectors_a_search_by_meaning_says_that_it_went_by_words() -> None:
    found = index_of(*TOOLS).search("read file", strategy="semantic", limit=1)
    assert (names(found), found.strategy) == ("read_file", "keyword")


def test_only_what_has_changed_is_indexed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_on = list[str]()

    def counted(tool: IndexedTool) -> Any:
        worked_on.append(tool.name)
        return weights_of(tool)

    monkeypatch.setattr(module, "weights_of", counted)
    index = index_of(*(indexed(f"t{number}", "old") for number in range(9)))
    worked_on.clear()
    riskier = replace(indexed("t1", "old"), risk="dangerous")
    index.replace(
        "s", [*(indexed(f"t{n}", "old") for n in range(2, 9)), riskier, indexed("t9", "new")]
    )
    assert sorted(worked_on) == ["t0", "t9"]
    assert index.get("s", "t1") is riskier
    assert (searched(index, "new"), index.get("s", "t0"), len(index)) == ("t9", None, 9)
    index.extend("s", [indexed("t9", "newer"), indexed("u", "new")])
    assert (searched(index, "new"), searched(index, "newer"), len(index)) == ("u", "t9", 10)


def test_tools_of_a_server_that_is_gone_are_not_found_however_many_there_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their words are removed in several steps, and none of them is found in between."""
    monkeypatch.setattr(module, "_MOST_TIDIED", 10)
    index = index_of(
        *(indexed(f"t{number:02}", "file", server="many") for number in range(35)),
        *(indexed(f"u{number:02}", "file folder", server="few") for number in range(3)),
    )
    index.remove("many")
    for _ in range(5):
        found = index.search("file", limit=9)
        assert (names(found), found.total, len(index)) == ("u00 u01 u02", 3, 3)
        assert index.search("file", limit=9, accepts=lambda tool: tool.name == "u01").total == 1
        index.remove("unknown")
    assert index._postings.size == 3
    assert not index._gone
    index.remove("few")
    assert (len(index), [*index], index.categories(), [*index._postings]) == (0, [], {}, [])


NAMES = st.sampled_from(["read_file", "readFile", "list", "get_news", "new_list", "x1"])
TEXTS = st.sampled_from(["", "file", "news list", "files of a folder", "a list"])
LISTS = st.tuples(st.sampled_from("abc"), st.dictionaries(NAMES, TEXTS, max_size=4))


@given(st.lists(LISTS, max_size=8))
def test_an_index_that_has_changed_is_like_one_that_is_new(
    steps: list[tuple[str, dict[str, str]]],
) -> None:
    index, now = ToolIndex(), dict[str, list[IndexedTool]]()
    for server, tools in steps:
        now[server] = [indexed(name, text, server=server) for name, text in tools.items()]
        index.replace(server, now[server])
    fresh = index_of(*(tool for tools in now.values() for tool in tools))
    assert len(index) == len(fresh)
    assert index.categories() == fresh.categories()
    for query in ("read file", "new", "lists", "folder", "get", "readfile", ""):
        assert index.search(query, limit=3) == fresh.search(query, limit=3)


@each(
    "definition",
    [
        {"description": "word " * 200_000},
        {"description": "x" * 1_000_000},
        {"description": "a.b" * 300_000},
        {"inputSchema": {"properties": {f"p{n}": {"description": "y" * 9000} for n in range(900)}}},
        {"inputSchema": {"properties": ["x"]}},
        {"inputSchema": {"properties": {"x": None, "y": {"description": 5}}}},
        {"inputSchema": 5},
        {"description": "\ud800 lone"},
        {"description": "\0"},
    ],
    ids=lambda _: "definition",
)
def test_large_and_odd_definitions_are_indexed(definition: dict[str, Any]) -> None:
    text: str = definition.pop("description", "")
    index = index_of(indexed("tool", text, **definition), indexed("other"))
    assert searched(index, "tool") == "tool"
    assert sum(1 for _ in index._postings) < 2000
    index.remove("s")
    assert len(index) == 0


def test_long_queries_are_cut() -> None:
    index = index_of(*TOOLS)
    assert "read_file" in searched(index, "file " * 100_000)
    assert searched(index, " ".join(f"w{number}" for number in range(9000)) + " file") == ""


def test_recall_on_queries_of_real_tasks() -> None:
    """Plain BM25 with stems has 0.78 and 0.81."""
    index = index_of(*catalog())
    queries = catalog_queries()

    def recall(limit: int) -> float:
        found = [index.search(query, limit=limit).hits for query, _ in queries]
        hits = [
            any(hit.tool.name in wanted for hit in one)
            for one, (_, wanted) in zip(found, queries, strict=True)
        ]
        return sum(hits) / len(hits)

    assert recall(5) >= 0.80
    assert recall(10) >= 0.84


def test_names_of_real_tools_find_them() -> None:
    tools = [*catalog()]
    index = index_of(*tools)
    assert len(index) == len({(tool.server_id, tool.name) for tool in tools})
    for tool in tools:
        hits = index.search(tool.name, limit=20).hits
        assert joined(hits[0].tool.name) == joined(tool.name)
        assert hits[0].score == 1.0


def test_nothing_tells_what_is_in_tools_that_are_not_visible() -> None:
    shown = [indexed("read_file", "Read a file."), indexed("send_mail", "Send mail to people.")]
    hidden = [
        replace(indexed(name, "Payroll of the people."), server_id="hidden", categories=(path,))
        for name, path in (("payroll", "finance"), ("payrol_people", "filesystem/reads"))
    ]
    alone, both = ToolIndex(), ToolIndex()
    for index in (alone, both):
        index.replace("s", shown)
    both.replace("hidden", hidden)
    visible = {"s": ["read_file", "send_mail", "gone"], "left": ["any"]}
    queries = (
        "read payroll",
        "payrol",
        "read people mail",
        "finance",
        "reads",
        "send maik",
        "pepole",
    )
    for query in queries:
        for strategy in ("keyword", "category"):
            expected = alone.search(query, strategy=strategy, limit=5)
            found = both.search(query, strategy=strategy, limit=5, visible=visible)
            assert (found.hits, found.total) == (expected.hits, expected.total), query
    for names in ([], ["read_file"]):
        result = both.search("read", limit=5, visible={"s": names}, categories=["kind"])
        assert [hit.tool.name for hit in result.hits] == names
