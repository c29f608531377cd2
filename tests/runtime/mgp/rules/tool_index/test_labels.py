"""Where the categories and keywords of a tool come from."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.mgp.rules.tool_index import categories as categories_module
from kinwire.mgp.rules.tool_index.categories import CategoryTree, category_path
from kinwire.mgp.rules.tool_index.entry import IndexedTool, Labels
from kinwire.mgp.rules.tool_index.labels import indexed_tool
from kinwire.mgp.rules.tools import known_tool
from tests.each import each


def entry(name: str, labels: Labels | None = None, **more: Any) -> IndexedTool:
    definition = {"name": name, "description": "D", "inputSchema": {"type": "object"}, **more}
    known = known_tool(definition, ServerPolicy(), "standard")
    assert known is not None
    return indexed_tool("server", definition, known, labels or Labels())


SECURITY = {
    "risk_level": "moderate",
    "permissions_required": ["filesystem.read", "com.example.Own"],
    "side_effects": ["network"],
}


@each(
    ("tool", "categories", "source"),
    [
        (entry("read_file"), "filesystem read", "derived"),
        (entry("getWeather"), "weather read", "derived"),
        (entry("frobnicate"), "other", "derived"),
        (
            entry("x_sync", security=SECURITY),
            "filesystem/read com/example/own network other",
            "derived",
        ),
        (
            entry("read_file", _mgp={"categories": ["Files.Text", "a / b"]}),
            "files/text a/b",
            "declared",
        ),
        (entry("read_file", Labels(("own",)), _mgp={"categories": ["b"]}), "own", "configured"),
        (entry("frobnicate", _mgp={"categories": []}), "other", "derived"),
        (entry("frobnicate", _mgp={"categories": "fs"}), "other", "derived"),
        (entry("frobnicate", _mgp={"categories": [5, None, " "]}), "other", "derived"),
        (entry("frobnicate", _mgp=5), "other", "derived"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
@pytest.mark.spec("mgp-16.4-2")
def test_categories_are_configured_declared_or_derived_and_the_entry_says_which(
    tool: IndexedTool, categories: str, source: str
) -> None:
    assert (" ".join(tool.categories), tool.category_source) == (categories, source)


def test_keywords_are_configured_declared_or_derived_too() -> None:
    found = [
        entry("readFile"),
        entry("readFile", _mgp={"keywords": ["open", 5]}),
        entry("readFile", Labels((), ("own",)), _mgp={"keywords": ["open"]}),
    ]
    assert [(tool.keywords, tool.keyword_source) for tool in found] == [
        (("read", "file"), "derived"),
        (("open",), "declared"),
        (("own",), "configured"),
    ]


def test_an_entry_shows_what_the_kernel_knows_of_the_risk() -> None:
    tool = entry(
        "run_shell", security={"risk_level": "safe", "permissions_required": ["network.outbound"]}
    )
    assert tool.risk == tool.security["risk_level"] == "dangerous"
    assert tool.security["permissions_required"] == ["network.outbound"]
    assert tool.tool_id == "server.run_shell"


def test_a_server_cannot_give_a_tool_any_number_of_labels() -> None:
    many = [f"c{number}" for number in range(5000)]
    tool = entry("x", _mgp={"categories": many, "keywords": many})
    assert (len(tool.categories), len(tool.keywords)) == (32, 64)
    deep = entry("x", _mgp={"categories": ["/".join(many)]})
    tree = CategoryTree()
    tree.add(1, deep.categories)
    assert len(tree.counts()) == 8
    tree.remove(1, deep.categories)
    assert (tree.counts(), tree._by_word) == ({}, {})


def test_spellings_of_a_category_are_one() -> None:
    spellings = ["Filesystem.Read", "filesystem/read", "/filesystem//read/", " filesystem / read "]
    assert {*map(category_path, spellings)} == {"filesystem/read"}


def test_a_query_does_not_look_at_all_paths_that_servers_invent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(categories_module, "_MOST_ALIKE", 10)
    tree = CategoryTree()
    for number in range(30):
        tree.add(number, [f"same {chr(97 + number)}"])
    assert len(tree.named("the same one")) == 10
    assert tree.named("b") == {1: 0.75}


def test_the_paths_that_servers_invent_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(categories_module, "_MOST_PATHS", 3)
    tree = CategoryTree()
    tree.add(1, ["a/b", "c", "d"])
    tree.add(2, ["c", "e"])
    assert tree.counts() == {"a": 1, "a/b": 1, "c": 2}
    tree.remove(1, ["a/b", "c", "d"])
    tree.add(3, ["e"])
    tree.remove(2, ["c", "e"])
    assert tree.counts() == {"e": 1}
