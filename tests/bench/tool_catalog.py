"""Tools to search: those of real servers, and as many like them as wanted."""

from __future__ import annotations

__all__ = ("Tool", "indexed", "queries", "real_tools", "three_words", "varied")

import json
from collections.abc import Iterable, Sequence
from itertools import product
from random import Random
from typing import Any, NamedTuple

from kinwire.mgp.rules.server_policy import ServerPolicy
from kinwire.mgp.rules.tool_index.entry import IndexedTool
from kinwire.mgp.rules.tool_index.labels import indexed_tool
from kinwire.mgp.rules.tool_index.words import STOP_STEMS, stem, stems_of
from kinwire.mgp.rules.tools import known_tool
from tests.absent import SHARED

_FOLDER = SHARED / "corpora" / "tool-catalog"
_SERVER = 100  # tools
_SYLLABLES = ("ba", "co", "di", "fu", "ge", "ha", "jo", "ka", "li", "mo", "ne", "po", "ra", "si")
_PRODUCTS = ["".join(parts) for parts in product(_SYLLABLES, repeat=3)]


class Tool(NamedTuple):
    """A tool of a server."""

    server: str
    name: str
    description: str
    schema: dict[str, Any]


def real_tools() -> list[Tool]:
    """Return the tools of the catalog.

    Raises:
        OSError: it is not next to the project.
    """
    tools: list[Any] = json.loads((_FOLDER / "tools.json").read_text(encoding="utf-8"))
    return [
        Tool(one["server"], one["name"], one["description"] or "", one["inputSchema"])
        for one in tools
    ]


def queries() -> list[tuple[str, list[str]]]:
    """Return steps of tasks, each with the names of the tools that do it."""
    pairs: list[Any] = json.loads((_FOLDER / "query_tool_pairs.json").read_text(encoding="utf-8"))
    return [(query, names) for query, names in pairs]


def varied(tools: Sequence[Tool], count: int) -> list[Tool]:
    """Return tools like these, each for a product with an invented name of one or two words."""
    chance = Random(5)
    found = list[Tool]()
    for number in range(count):
        one = tools[number % len(tools)]
        about = chance.choices(_PRODUCTS, k=chance.choice((1, 2)))
        name = f"{one.name}_{'_'.join(about)}_{number}"
        text = f"{one.description[:400]} For {' '.join(about)}."
        found.append(Tool(f"server{number // _SERVER}", name, text, one.schema))
    return found


def three_words(tools: Iterable[Tool], count: int) -> list[str]:
    """Return queries: two words of a tool that say something, and one of a product."""
    chance = Random(7)
    words = [_words(tool) for tool in tools]
    return [
        " ".join((*chance.sample(chance.choice(words), 2), chance.choice(_PRODUCTS)))
        for _ in range(count)
    ]


def _words(tool: Tool) -> list[str]:
    text = f"{tool.name} {tool.description[:400]}".replace("_", " ").lower()
    words = dict.fromkeys(word for word in text.split() if word.isascii() and word.isalpha())
    kept = [word for word in words if stem(word) not in STOP_STEMS and stems_of(word)]
    return kept if len(kept) > 1 else ["get", "list"]


def indexed(tools: Iterable[Tool]) -> list[IndexedTool]:
    """Return entries of an index."""
    found = list[IndexedTool]()
    for tool in tools:
        definition: dict[str, Any] = {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": tool.schema,
        }
        known = known_tool(definition, ServerPolicy(), "standard")
        assert known is not None
        found.append(indexed_tool(tool.server, definition, known))
    return found
