"""The tools that one session has in its context, never above the budget (MGP 0.2.0, 16.7 and 16.8).

Three parts have limits of their own, and all together may not exceed `max_tokens`:

- pinned tools, up to `pinned_reserve`; nothing takes one out to make room
- cached tools, up to `cache_limit`; those that were used longest ago go first
- results of the latest search, up to `discovery_reserve`; the next search replaces them

If the limits of the parts add up to more than `max_tokens`, results take room from cached tools.
"""

from __future__ import annotations

__all__ = ("DEFAULT_BUDGET", "Loaded", "SizedTool", "ToolCache", "ToolKey")

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from kinwire_protocols.mgp.models import ToolContextBudget
from kinwire_protocols.mgp.tables import (
    CONTEXT_CACHE_LIMIT,
    CONTEXT_DISCOVERY_RESERVE,
    CONTEXT_MAX_TOKENS,
    CONTEXT_PINNED_RESERVE,
)

ToolKey: TypeAlias = tuple[str, str]
"""A tool of any server: the id of the server, and its name there."""

DEFAULT_BUDGET: Final = ToolContextBudget(
    max_tokens=CONTEXT_MAX_TOKENS,
    pinned_reserve=CONTEXT_PINNED_RESERVE,
    discovery_reserve=CONTEXT_DISCOVERY_RESERVE,
    cache_limit=CONTEXT_CACHE_LIMIT,
)
"""The budget of a kernel that is given none."""


class SizedTool(NamedTuple):
    """A tool, and how many tokens it takes."""

    key: ToolKey
    tokens: int


class Loaded(NamedTuple):
    """What came of loading tools."""

    present: tuple[ToolKey, ...]
    """Those of the tools that the session has now, also if it had them before."""
    tokens_added: int
    """How many tokens those take that it did not have."""
    evicted: tuple[ToolKey, ...]
    """Cached tools that had to go, the one that was used longest ago first."""


class ToolCache:
    """Which tools a session has; it knows their sizes alone."""

    def __init__(self, budget: ToolContextBudget = DEFAULT_BUDGET) -> None:
        self.budget: Final = budget
        self._pinned = dict[ToolKey, int]()
        self._cached = OrderedDict[ToolKey, int]()  # by use, the oldest first
        self._found = dict[ToolKey, int]()  # the best first

    @property
    def pinned(self) -> tuple[ToolKey, ...]:
        """The pinned tools, in the order in which they were pinned."""
        return tuple(self._pinned)

    @property
    def cached(self) -> tuple[ToolKey, ...]:
        """The cached tools; the one that was used last comes last."""
        return tuple(self._cached)

    @property
    def found(self) -> tuple[ToolKey, ...]:
        """The results of the latest search that were not used yet, the best first."""
        return tuple(self._found)

    @property
    def tokens(self) -> int:
        """How many tokens pinned and cached tools take."""
        return sum(self._pinned.values()) + sum(self._cached.values())

    @property
    def all_tokens(self) -> int:
        """How many tokens they take with the results of the latest search."""
        return self.tokens + sum(self._found.values())

    def __contains__(self, key: ToolKey) -> bool:
        """Return whether a tool is pinned or cached."""
        return key in self._pinned or key in self._cached

    def __len__(self) -> int:
        """Return how many tools are pinned or cached."""
        return len(self._pinned) + len(self._cached)

    def pin(self, tool: SizedTool) -> bool:
        """Keep a tool for good; return False, and pin nothing, if pinned tools have no room for it.

        Pinned again, it has the new size. A tool that was pinned and has grown too large is left
        out.
        """
        most = min(self.budget.pinned_reserve, self.budget.max_tokens)
        others = sum(self._pinned.values()) - self._pinned.get(tool.key, 0)
        if tool.tokens > most - others:
            self._pinned.pop(tool.key, None)
            return False
        self._drop(tool.key)
        self._pinned[tool.key] = tool.tokens
        self._shrink()
        return True

    def load(self, tools: Iterable[SizedTool]) -> Loaded:
        """Put tools into the cache, the most wanted first, as far as they fit together.

        One that is called or asked for is loaded: it becomes the last to go. Results of a search
        move into the cache. A tool that is larger than the cache is not kept.
        """
        sizes = dict[ToolKey, int]()
        for key, tokens in tools:
            sizes.setdefault(key, tokens)
            self._found.pop(key, None)
        wanted, left = dict[ToolKey, int](), self._cache_room()
        present, gone = list[ToolKey](), list[ToolKey]()
        for key, tokens in sizes.items():
            if key in self._pinned:
                present.append(key)
            elif tokens <= left:
                present.append(key)
                wanted[key] = tokens
                left -= tokens
            elif self._cached.pop(key, None) is not None:
                gone.append(key)
        added = sum(tokens for key, tokens in wanted.items() if key not in self._cached)
        for key in reversed(wanted):  # the most wanted goes last
            self._cached[key] = wanted[key]
            self._cached.move_to_end(key)
        return Loaded(tuple(present), added, (*gone, *self._shrink()))

    def discover(self, tools: Iterable[SizedTool]) -> tuple[ToolKey, ...]:
        """Make these the results of the latest search; return those that fit, the best first.

        Their size is that of the answer, so one that is pinned or cached counts as well.
        """
        self._found.clear()
        budget = self.budget
        left = min(budget.discovery_reserve, budget.max_tokens - sum(self._pinned.values()))
        for key, tokens in tools:
            if tokens <= left and key not in self._found:
                left -= tokens
                self._found[key] = tokens
        self._shrink()
        return self.found

    def evict(self, keys: Iterable[ToolKey]) -> tuple[ToolKey, ...]:
        """Take tools out of the cache; return those that were in it. Pinned tools stay."""
        wanted = dict.fromkeys(keys)
        return tuple(key for key in wanted if self._cached.pop(key, None) is not None)

    def resize(self, tool: SizedTool) -> tuple[ToolKey, ...]:
        """Note that the definition of a tool has changed; return what had to go for its new size.

        That may be the tool itself: a cached one that is larger than the cache, or a pinned one
        that has no room among the pinned ones.
        """
        before = (*self._pinned, *self._cached)
        self._found.pop(tool.key, None)
        if tool.key in self._pinned:
            self.pin(tool)
        elif tool.key in self._cached:
            self._cached[tool.key] = tool.tokens
            if tool.tokens > self._cache_room():
                del self._cached[tool.key]
            self._shrink()
        return tuple(key for key in before if key not in self)

    def remove(self, key: ToolKey) -> None:
        """Forget a tool altogether, as one that its server has no longer."""
        self._pinned.pop(key, None)
        self._drop(key)

    def _drop(self, key: ToolKey) -> None:
        self._cached.pop(key, None)
        self._found.pop(key, None)

    def _cache_room(self) -> int:
        """Return how many tokens cached tools may take, all together."""
        others = sum(self._pinned.values()) + sum(self._found.values())
        return min(self.budget.cache_limit, self.budget.max_tokens - others)

    def _shrink(self) -> tuple[ToolKey, ...]:
        """Take out what is too much: the worst results if all of them are, then cached tools."""
        most = self.budget.max_tokens - sum(self._pinned.values())
        while sum(self._found.values()) > most:
            self._found.popitem()
        gone, room = list[ToolKey](), self._cache_room()
        taken = sum(self._cached.values())
        while taken > room:
            key, tokens = self._cached.popitem(last=False)
            taken -= tokens
            gone.append(key)
        return tuple(gone)
