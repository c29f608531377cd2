"""A search by meaning, with an embedder that knows a few words and one that fails."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import nan

import anyio
import anyio.lowlevel
import pytest

from kinwire.mgp.kernel import tool_embedding
from kinwire.mgp.kernel.tool_search import ToolSearch
from kinwire.mgp.rules.tool_index.embedding import embedded_text
from kinwire.mgp.rules.tool_index.entry import Found, IndexedTool
from tests.runtime.mgp.rules.tool_index.fixtures_tools import indexed

pytestmark = pytest.mark.anyio

MEANINGS = {
    "remove delete erase wipe": 0,
    "file document paper": 1,
    "mail message letter": 2,
    "send post dispatch": 3,
}
WORDS = {word: at for words, at in MEANINGS.items() for word in words.split()}


class WordEmbedder:
    """Counts words of four meanings. Texts in `unknown` have no vector."""

    def __init__(self, unknown: Sequence[str] = ()) -> None:
        self.unknown = unknown
        self.texts: list[str] = []
        self.calls: list[int] = []
        self.threads = set[int]()
        self.fails = False
        self.gate: threading.Event | None = None

    def embed(self, texts: Sequence[str]) -> Iterator[list[float]]:
        self.calls.append(len(texts))
        self.texts += texts
        self.threads.add(threading.get_ident())
        if self.gate is not None:
            self.gate.wait(5)
        if self.fails:
            raise OSError("https://models.invalid/?key=secret")
        return map(self._vector, texts)

    def _vector(self, text: str) -> list[float]:
        text.encode()
        if any(word in text for word in self.unknown):
            return [nan] * 4
        numbers = [0.0] * 4
        for word in text.replace(":", " ").lower().split():
            if word in WORDS:
                numbers[WORDS[word]] += 1
        return numbers


TOOLS = [
    indexed("erase_document", "Wipe a paper."),
    indexed("dispatch_letter", "Post a letter."),
    indexed("count_letters", "Count the letters of a text."),
]


def searcher(embedder: WordEmbedder, tools: Iterable[IndexedTool] = TOOLS) -> ToolSearch:
    search = ToolSearch(embedder, lambda: now[0])
    now = [0.0]
    search.replace("s", tools)
    return search


async def found(search: ToolSearch, query: str, limit: int = 5) -> Found:
    return await search.search(query, strategy="semantic", limit=limit)


def names(result: Found) -> list[str]:
    return [hit.tool.name for hit in result.hits]


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(5):
        while not condition():
            await anyio.lowlevel.checkpoint()


@pytest.mark.spec("mgp-16.4-4")
async def test_a_tool_is_found_by_its_meaning_without_a_common_word() -> None:
    result = await found(searcher(WordEmbedder()), "delete file")
    assert (names(result)[0], result.strategy) == ("erase_document", "semantic")
    result = await found(searcher(WordEmbedder()), "send mail")
    assert names(result)[0] == "dispatch_letter"


@pytest.mark.parametrize("strategy", ["keyword", "category"])
async def test_other_strategies_do_not_ask_the_embedder(strategy: str) -> None:
    embedder = WordEmbedder()
    search = ToolSearch(embedder)
    result = await search.search("file", strategy=strategy, limit=5)  # type: ignore[arg-type]
    assert (result.strategy, embedder.calls) == (strategy, [])


async def test_without_an_embedder_words_are_searched_and_the_result_says_so() -> None:
    search = ToolSearch()
    search.replace("s", TOOLS)
    result = await found(search, "erase")
    assert (names(result), result.strategy) == (["erase_document"], "keyword")
    assert result == await search.search("erase", limit=5)
    search.remove("s")
    assert (await found(search, "erase")).hits == ()


async def test_vectors_are_made_in_the_background_and_never_in_the_event_loop() -> None:
    embedder = WordEmbedder()
    many = [indexed(f"tool_{number}", "file") for number in range(20)]
    await searcher(embedder, many).embedded()
    assert len(embedder.texts) == 20
    assert embedder.calls == [8, 8, 4]
    assert threading.get_ident() not in embedder.threads


async def test_the_best_tools_by_words_get_their_vectors_with_the_query() -> None:
    embedder = WordEmbedder()
    tools = [indexed(f"tool_{number}", "Other things.") for number in range(40)]
    search = searcher(embedder, [*tools, *TOOLS])
    embedder.gate = threading.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(found, search, "erase counts")
        await until(lambda: embedder.calls)
        embedder.gate.set()
    at = embedder.texts.index("erase counts")
    assert set(embedder.texts[at + 1 : at + 3]) == {
        embedded_text(TOOLS[0]),
        embedded_text(TOOLS[2]),
    }


async def test_a_query_is_embedded_once_and_so_is_a_definition_that_comes_back() -> None:
    embedder = WordEmbedder()
    search = searcher(embedder)
    for _ in range(3):
        await found(search, "mail")
        await until(lambda: len(embedder.texts) == 4)
        search.remove("s")
        search.replace("s", TOOLS)
    assert sorted(embedder.texts) == sorted(["mail", *map(embedded_text, TOOLS)])


async def test_what_is_not_connected_any_more_is_not_found() -> None:
    embedder = WordEmbedder()
    search = searcher(embedder)
    search.replace("t", [indexed("drop_paper", "Delete a document.", server="t")])
    await until(lambda: len(embedder.texts) == 4)
    embedder.gate = threading.Event()
    results: list[Found] = []

    async def look() -> None:
        results.append(await found(search, "delete file"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look)
        await until(lambda: "delete file" in embedder.texts)
        search.remove("s")
        embedder.gate.set()
    assert names(results[0]) == ["drop_paper"]


async def test_filters_are_applied_before_the_limit_and_the_total_does_not_depend_on_it() -> None:
    embedder = WordEmbedder()
    tools = [indexed(f"a{number}", "Delete a file.") for number in range(30)]
    tools += [indexed(f"b{number}", "Wipe a paper.") for number in range(5)]
    tools += [indexed("c0", "Send mail."), indexed("d0", "Delete.")]
    search = searcher(embedder, tools)
    for limit in (1, 5, 50):
        result = await search.search(
            "delete file",
            strategy="semantic",
            limit=limit,
            accepts=lambda tool: tool.name != "b4",
            categories=["kind/b", "kind/c"],
        )
        assert names(result) == ["b0", "b1", "b2", "b3"][:limit]
        assert result.total == 4
    assert (await found(search, "delete file", 3)).total == 36


async def test_tools_without_a_vector_are_behind_and_results_differ_by_query() -> None:
    """Half of the tools have no vector, and fit by their words."""
    embedder = WordEmbedder(unknown=["blind"])
    tools = [indexed(f"blind_{number}", "delete file send mail") for number in range(10)]
    tools += [indexed(f"t{number}", text) for number, text in enumerate(WORDS)]
    search = searcher(embedder, tools)
    seen = set[tuple[str, ...]]()
    for query in ("delete", "send mail", "a file"):
        result = await found(search, query)
        assert result.strategy == "semantic"
        seen.add(tuple(names(result)))
        scores = [hit.score for hit in result.hits]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)
        sighted = ["blind" not in name for name in names(await found(search, query, 50))]
        assert sighted == sorted(sighted, reverse=True)
        assert sighted[0]
        assert not sighted[-1]
    assert len(seen) == 3


async def test_a_failing_embedder_rests_and_words_are_searched(
    caplog: pytest.LogCaptureFixture,
) -> None:
    embedder, now = WordEmbedder(), [0.0]
    embedder.fails = True
    search = ToolSearch(embedder, lambda: now[0])
    with caplog.at_level(logging.WARNING, "kinwire.mgp"):
        search.replace("s", TOOLS)
        await until(lambda: caplog.records)
        result = await found(search, "erase")
    assert (names(result), result.strategy) == (["erase_document"], "keyword")
    assert embedder.calls == [3]
    assert "secret" not in caplog.text
    assert "OSError" in caplog.text
    now[0], embedder.fails = 30.0, False
    assert (await found(search, "mail")).strategy == "semantic"
    await until(lambda: len(embedder.texts) == 3 + 4)


async def test_a_query_that_cannot_be_embedded_is_searched_by_words() -> None:
    embedder = WordEmbedder(unknown=["query"])
    search = searcher(embedder)
    assert (await found(search, "query letter")).strategy == "keyword"
    assert (await found(search, "  ")).strategy == "keyword"
    assert names(await found(search, "wipe \ud800"))[0] == "erase_document"


async def test_an_embedder_that_is_too_slow_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tool_embedding, "_PATIENCE", 0.001)
    embedder = WordEmbedder()
    embedder.gate = threading.Event()
    search = searcher(embedder)
    with caplog.at_level(logging.WARNING, "kinwire.mgp"):
        result = await found(search, "erase")
    embedder.gate.set()
    assert (names(result), result.strategy) == (["erase_document"], "keyword")
    assert "TimeoutError" in caplog.text


async def test_an_embedder_that_still_works_for_an_earlier_search_is_not_called_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tool_embedding, "_PATIENCE", 0.01)
    monkeypatch.setattr(tool_embedding, "_REST", 0.0)
    embedder = WordEmbedder()
    embedder.gate = threading.Event()
    search = ToolSearch(embedder)
    for query in ("erase", "wipe", "send"):
        assert (await found(search, query)).strategy == "keyword"
    assert embedder.calls == [1]
    embedder.gate.set()
    monkeypatch.setattr(tool_embedding, "_PATIENCE", 5.0)
    assert (await found(search, "post")).strategy == "semantic"
    assert embedder.calls == [1, 1]


async def test_an_embedder_that_returns_too_few_vectors_has_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class FewVectors(WordEmbedder):
        def embed(self, texts: Sequence[str]) -> Iterator[list[float]]:
            return iter([[1.0]])

    with caplog.at_level(logging.WARNING, "kinwire.mgp"):
        search = searcher(FewVectors())
        assert (await found(search, "erase")).strategy == "keyword"
    assert "ValueError" in caplog.text
