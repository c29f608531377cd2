"""The searchable index of the tools of all connected servers (MGP 0.2.0 section 16.4)."""

from __future__ import annotations

__all__ = ("Accepts", "ToolIndex", "Visible")

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from typing import Final

from kinwire.mgp.rules.tool_index.categories import CategoryTree
from kinwire.mgp.rules.tool_index.entry import Found, Hit, IndexedTool
from kinwire.mgp.rules.tool_index.fields import weights_of
from kinwire.mgp.rules.tool_index.postings import Accepted, Postings
from kinwire.mgp.rules.tool_index.query import QUERY_SIZE, terms_of
from kinwire.mgp.rules.tool_index.spelling import KnownWords
from kinwire.mgp.rules.tool_index.words import joined
from kinwire_protocols.mgp.models import SearchStrategy

Accepts = Callable[[IndexedTool], bool]
"""Returns whether a tool may be in the result; applied before the limit, maybe to few tools."""

Visible = Mapping[str, Collection[str]]
"""By server: the names of the tools that a search may find."""

_NUMBERS: Final = 4096  # made at a time
_MOST_TIDIED: Final = 500  # tools in one call; each takes about 0.1 ms
_SAME_NAME: Final = 2.0  # more than any score by words


class ToolIndex:
    """Finds tools by words and by categories; the tools of a server come and go in one step.

    A word finds tools that have it in their name, description, keywords, categories or parameters,
    in any form, also misspelt or with a like meaning. A query that is the name of a tool finds that
    tool first.
    """

    def __init__(self) -> None:
        self._tools = dict[int, IndexedTool]()
        self._places = dict[int, str]()  # in whose order equal tools come: server, then name
        self._servers = dict[str, dict[str, int]]()
        self._names = dict[str, set[int]]()  # by letters and digits
        self._postings = Postings()
        self._words = KnownWords()
        self._categories = CategoryTree()
        self._gone = deque[tuple[int, IndexedTool]]()  # their words are still in the postings
        self._numbers = list[int]()  # for the next entries, the least at the end
        self._next = 0

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[IndexedTool]:
        return iter(self._tools.values())

    def get(self, server_id: str, name: str) -> IndexedTool | None:
        """Return a tool by its server and its name there; None if the index lacks it."""
        entry = self._servers.get(server_id, {}).get(name)
        return None if entry is None else self._tools[entry]

    def replace(self, server_id: str, tools: Iterable[IndexedTool]) -> None:
        """Make these the tools of a server; of two with one name the later counts.

        Only tools that are new or that have changed are worked on. That takes about 0.1 ms for each
        one, so the caller should add a great many with several calls of `extend`.
        """
        new = {tool.name: tool for tool in tools}
        entries = self._servers.get(server_id, {})
        for name in entries.keys() - new.keys():
            self._remove(entries.pop(name))
        if not entries:
            self._servers.pop(server_id, None)
        self.extend(server_id, new.values())

    def extend(self, server_id: str, tools: Iterable[IndexedTool]) -> None:
        """Add tools of a server, or exchange those with the same names; keep its other tools."""
        for tool in tools:
            entries = self._servers.setdefault(server_id, {})
            entry = entries.get(tool.name)
            if entry is not None and _is_searched_alike(self._tools[entry], tool):
                self._tools[entry] = tool
                continue
            if entry is not None:
                self._remove(entry)
            entries[tool.name] = self._add(tool)
        self._tidy()

    def remove(self, server_id: str) -> None:
        """Remove the tools of a server; nothing happens if it has no tools."""
        self.replace(server_id, ())

    def categories(self) -> Mapping[str, int]:
        """Return how many tools each category has, with those of the categories below it."""
        return self._categories.counts()

    def search(
        self,
        query: str,
        *,
        strategy: SearchStrategy = "keyword",
        limit: int,
        accepts: Accepts | None = None,
        categories: Collection[str] = (),
        visible: Visible | None = None,
    ) -> Found:
        """Return the tools that fit a query best.

        Only tools in one of `categories`, or below it, count, and of those the ones that `accepts`
        accepts; both are applied before `limit`. With the strategy `category`, the query names a
        category. An empty query fits all tools. With `visible`, other tools are as if they were not
        there: nothing in the result depends on them.
        """
        seen = None if visible is None else self._seen(visible)
        within: Set[int] | None = self._categories.within(categories) if categories else None
        if seen is not None:
            within = seen if within is None else within & seen
        scope = _SearchScope(self._tools, within, accepts, all_are_there=not self._gone)
        if not query.strip():
            used: SearchStrategy = "category" if strategy == "category" else "keyword"
            return self._listed(dict.fromkeys(self._tools, 1.0), limit, scope, used)
        if strategy == "category":
            return self._listed(self._categories.named(query, within), limit, scope, strategy)
        return self._ranked(query[:QUERY_SIZE], limit, scope, seen)

    def _add(self, tool: IndexedTool) -> int:
        entry = self._number()
        self._tools[entry] = tool
        self._places[entry] = f"{tool.server_id}\0{tool.name}"
        self._names.setdefault(joined(tool.name), set()).add(entry)
        self._categories.add(entry, tool.categories)
        for word in self._postings.add(entry, weights_of(tool)):
            self._words.add(word)
        return entry

    def _number(self) -> int:
        """Return a number that no entry has had. Numbers that lie side by side are read faster."""
        if not self._numbers:
            self._next += _NUMBERS
            self._numbers = [*range(self._next - 1, self._next - _NUMBERS - 1, -1)]
        return self._numbers.pop()

    def _remove(self, entry: int) -> None:
        """Remove a tool, so that it is not found any more; its words are removed later."""
        tool = self._tools.pop(entry)
        del self._places[entry]
        name = joined(tool.name)
        self._names[name].discard(entry)
        if not self._names[name]:
            del self._names[name]
        self._categories.remove(entry, tool.categories)
        self._gone.append((entry, tool))

    def _tidy(self) -> None:
        """Remove words of tools that are gone; those of a great many in several calls."""
        for _ in range(min(len(self._gone), _MOST_TIDIED)):
            entry, tool = self._gone.popleft()
            for word in self._postings.remove(entry, weights_of(tool)):
                self._words.discard(word)

    def _listed(
        self, scores: Mapping[int, float], limit: int, scope: _SearchScope, used: SearchStrategy
    ) -> Found:
        """Return the tools with these scores."""
        found = {entry: score for entry, score in scores.items() if scope.has(entry)}
        return Found(self._hits(found, limit), used, lambda: len(found))

    def _seen(self, visible: Visible) -> frozenset[int]:
        """Return the entries of the tools with these names."""
        found = set[int]()
        for id, names in visible.items():
            entries = self._servers.get(id, {})
            if len(names) < len(entries):
                found.update(entries[name] for name in names if name in entries)
            else:
                found.update(entry for name, entry in entries.items() if name in names)
        return frozenset(found)

    def _ranked(
        self, query: str, limit: int, scope: _SearchScope, seen: frozenset[int] | None
    ) -> Found:
        """Return the tools that have the words of a query."""
        wanted = terms_of(query, self._postings.seen_by(seen), self._words)
        scores = self._postings.best(
            wanted.terms, limit, within=scope.within, accepts=scope.accepted
        )
        named = [entry for entry in self._names.get(joined(query), ()) if scope.has(entry)]
        scores.update(dict.fromkeys(named, _SAME_NAME * wanted.most))

        def count() -> int:
            found = self._postings.matching(wanted.terms).union(named)
            return sum(map(scope.has, found))

        return Found(self._hits(scores, limit, wanted.most), "keyword", count)

    def _hits(self, scores: Mapping[int, float], limit: int, most: float = 1.0) -> tuple[Hit, ...]:
        """Return the tools with the best scores, ordered by score, server and name."""
        tools = self._tools
        found = [
            (-score, (tool := tools[i]).server_id, tool.name, i) for i, score in scores.items()
        ]
        found.sort()
        return tuple(
            Hit(tools[i], min(-score / most, 1.0)) for score, _, _, i in found[: max(limit, 0)]
        )


class _SearchScope:
    """Which entries a search may return."""

    def __init__(
        self,
        tools: Mapping[int, IndexedTool],
        within: Set[int] | None,
        accepts: Accepts | None,
        *,
        all_are_there: bool,
    ) -> None:
        """Without `all_are_there`, the postings have entries that `tools` lacks."""
        self.within = within
        """Only these entries count; None for all."""
        self.accepted: Accepted | None = None
        """Whether one of them is accepted; None if all are."""
        if accepts is not None:
            self.accepted = lambda entry: entry in tools and accepts(tools[entry])
        elif not all_are_there:
            self.accepted = tools.__contains__

    def has(self, entry: int) -> bool:
        """Return whether an entry may be returned."""
        if self.within is not None and entry not in self.within:
            return False
        return self.accepted is None or self.accepted(entry)


def _is_searched_alike(one: IndexedTool, other: IndexedTool) -> bool:
    """Return whether a search finds both by the same words and categories."""
    return (one.digest, one.keywords, one.categories, one.category_source) == (
        other.digest,
        other.keywords,
        other.categories,
        other.category_source,
    )
