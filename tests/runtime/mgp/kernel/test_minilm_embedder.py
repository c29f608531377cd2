"""The embedder of the extra `semantic`: what it refuses to load, and what it finds."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from kinwire.mgp import MiniLmEmbedder, ModelFileError
from kinwire.mgp.kernel import minilm_embedder
from kinwire.mgp.kernel.tool_search import ToolSearch
from kinwire.mgp.rules.tool_index.vectors import PackedVector, cosine, packed
from tests.absent import absent
from tests.runtime.mgp.rules.tool_index.fixtures_tools import catalog, catalog_queries

DISTRIBUTION = "pytest"
FILE = "pytest/py.typed"


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(minilm_embedder, "import_module", nothing)
    with pytest.raises(ModuleNotFoundError, match=r"`numpy`. Install kinwire\[semantic\]"):
        MiniLmEmbedder()


@pytest.mark.parametrize(
    ("file", "error", "text"),
    [
        (("kinwire-unheard-of", FILE), ImportError, r"`kinwire-unheard-of`. Install kinwire\["),
        ((DISTRIBUTION, "pytest/unheard.of"), ModelFileError, "pytest has no pytest/unheard.of: "),
        ((DISTRIBUTION, FILE), ModelFileError, "pytest/py.typed of pytest is not the file"),
    ],
)
def test_only_the_files_that_were_tried_are_loaded(
    file: tuple[str, str], error: type[Exception], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm_embedder, "import_module", lambda _: SimpleNamespace())
    monkeypatch.setattr(minilm_embedder, "_VOCABULARY", minilm_embedder._ModelFile(*file, "0" * 64))
    with pytest.raises(error, match=text):
        MiniLmEmbedder()


@cache
def real() -> MiniLmEmbedder:
    if find_spec("onnxruntime") is None:
        absent("the extra [semantic] is not installed")
    return MiniLmEmbedder()


def vectors_of(*texts: str) -> list[PackedVector]:
    return [vector for numbers in real().embed(texts) if (vector := packed(numbers))]


@pytest.mark.slow
def test_texts_of_similar_meaning_are_near() -> None:
    one, similar, other = vectors_of(
        "delete a file", "remove documents from disk", "what is the weather in Paris"
    )
    assert cosine(one, similar) > 0.5 > 0.2 > cosine(one, other)


@pytest.mark.slow
def test_every_text_has_a_vector_that_does_not_depend_on_its_neighbors() -> None:
    texts = ["", " ", "x" * 100_000, "word " * 5_000, "\N{GRINNING FACE}", "\0", "d\xe9j\xe0"]
    together = real().embed(texts)
    assert together == [real().embed([text])[0] for text in texts]
    for vector in together:
        assert len(vector) == 384
        assert sum(number * number for number in vector) == pytest.approx(1, abs=1e-3)


@pytest.mark.slow
def test_a_text_in_another_script_has_no_direction() -> None:
    chinese, with_a_name = "\u8bfb\u53d6\u6587\u4ef6 csv", "read file: \u8bfb\u53d6\u6587\u4ef6"
    assert [packed(vector) is None for vector in real().embed([chinese, with_a_name])] == [
        *(True, False)
    ]


@pytest.mark.slow
def test_more_queries_find_their_tool_with_the_model() -> None:
    """Half of the catalog, with the tools that the queries need."""
    wanted = {name for _, names in catalog_queries() for name in names}
    tools = [tool for at, tool in enumerate(catalog()) if at % 12 == 0 or tool.name in wanted]

    async def found(search: ToolSearch) -> int:
        for server in {tool.server_id for tool in tools}:
            search.replace(server, [tool for tool in tools if tool.server_id == server])
        count = 0
        for query, names in catalog_queries():
            result = await search.search(query, strategy="semantic", limit=3)
            count += bool({hit.tool.name for hit in result.hits} & {*names})
        return count

    words = anyio.run(found, ToolSearch())
    assert anyio.run(found, ToolSearch(real())) > words
