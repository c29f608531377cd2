"""Other ways to search tools: plain BM25, SQLite's full-text index, a look at each tool."""

from __future__ import annotations

__all__ = ("Fts5", "LinearScan", "PaperIndex", "PlainBm25", "Ranked", "light_stem")

import math
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Protocol

from tests.absent import SHARED
from tests.bench.tool_catalog import Tool

_words = re.compile(r"[a-z0-9]+").findall


class Ranked(Protocol):
    """A way to search."""

    def query(self, text: str, limit: int) -> Sequence[int]:
        """Return the numbers of the best tools."""
        ...


def _text(tool: Tool) -> str:
    return f"{tool.name.replace('_', ' ')} {tool.description}"


def same_word(word: str) -> str:
    """Return a word as it is."""
    return word


def light_stem(word: str) -> str:
    """Return a word without the commonest endings."""
    for ending in ("ing", "es", "ed", "s"):
        if word.endswith(ending) and len(word) - len(ending) > 2:
            return word[: -len(ending)]
    return word


class PlainBm25:
    """BM25 over name and description as one text, with the usual constants."""

    def __init__(self, tools: Sequence[Tool], stem: Callable[[str], str] = same_word) -> None:
        self._stem = stem
        counts = [Counter(map(stem, _words(_text(tool).lower()))) for tool in tools]
        mean = sum(one.total() for one in counts) / len(counts)
        self._postings = defaultdict[str, list[tuple[int, float]]](list)
        for number, has in enumerate(counts):
            norm = 1.5 * (0.25 + 0.75 * has.total() / mean)
            for word, times in has.items():
                self._postings[word].append((number, times * 2.5 / (times + norm)))
        self._size = len(tools)

    def query(self, text: str, limit: int) -> Sequence[int]:
        """Return the numbers of the best tools."""
        scores = defaultdict[int, float](float)
        for word in dict.fromkeys(map(self._stem, _words(text.lower()))):
            found = self._postings.get(word, [])
            rarity = math.log(1 + (self._size - len(found) + 0.5) / (len(found) + 0.5))
            for number, weight in found:
                scores[number] += rarity * weight
        return sorted(scores, key=lambda number: (-scores[number], number))[:limit]


class Fts5:
    """SQLite's full-text index in memory."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._base = sqlite3.connect(":memory:")
        words = "tokenize=\"unicode61 separators '_'\""
        self._base.execute(f"CREATE VIRTUAL TABLE tools USING fts5(name, description, {words})")
        rows = [(tool.name, tool.description) for tool in tools]
        self._base.executemany("INSERT INTO tools VALUES (?, ?)", rows)

    def query(self, text: str, limit: int) -> Sequence[int]:
        """Return the numbers of the best tools."""
        wanted = " OR ".join(f'"{word}"' for word in _words(text.lower()))
        ask = "SELECT rowid - 1 FROM tools WHERE tools MATCH ? ORDER BY bm25(tools) LIMIT ?"
        return [row[0] for row in self._base.execute(ask, (wanted, limit))] if wanted else []


class LinearScan:
    """Looks at each tool for all words; the result is not ranked."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._texts = [_text(tool).lower() for tool in tools]

    def query(self, text: str, limit: int) -> Sequence[int]:
        """Return the numbers of the first tools with all words."""
        words = _words(text.lower())
        found = (n for n, one in enumerate(self._texts) if all(word in one for word in words))
        return [number for number, _ in zip(found, range(limit), strict=False)]


class PaperIndex:
    """The pruned index of the paper on performance, its invented tools and its queries."""

    def __init__(self) -> None:
        """Load it.

        Raises:
            OSError: the paper is not next to the project.
        """
        text = (SHARED / "bench" / "toolsearch.py").read_text(encoding="utf-8")
        head = text.split("\ndef rss")[0].replace("sys.argv[1]", "3")
        self._names: dict[str, Any] = {}
        exec(compile(head, "toolsearch.py", "exec"), self._names)

    def tools(self, count: int) -> list[Tool]:
        """Return invented tools."""
        made = self._names["corpus"](count)
        return [Tool(f"s{n // 100}", name, about, {}) for n, (name, about) in enumerate(made)]

    def queries(self, count: int) -> list[str]:
        """Return queries: two words, common ones mostly, and a rarer one."""
        words, weights = self._names["words"], self._names["wt"]
        chance = Random(11)
        return [
            " ".join((*chance.choices(words, weights, k=2), chance.choice(words[200:])))
            for _ in range(count)
        ]

    def index(self, tools: Sequence[Tool]) -> Ranked:
        """Return the pruned index of some tools."""
        found: Ranked = self._names["Pruned"]([(tool.name, tool.description) for tool in tools])
        return found
