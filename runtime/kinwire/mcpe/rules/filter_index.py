"""An index of filters: an event finds the filters that select it, and looks at no others.

A trie over the parts of event types leads to the filters whose pattern has a star, with a step for
each part; those without one lie by their type. There, filters lie by the pair of tag and priority
that they ask for, so an event looks up its own pairs. A filter lies at each of its pairs, below
each of its patterns; one with very many combinations lies below its patterns alone and is checked,
so memory stays bounded.
"""

from __future__ import annotations

__all__ = ("MOST_PLACES", "FilterIndex")

from collections.abc import Collection, Hashable, Iterator
from itertools import product
from typing import Final, Generic, TypeVar

from kinwire.mcpe.rules.filters import CompiledFilter
from kinwire.support.patterns.dotted import EVERY_NAME

K = TypeVar("K", bound=Hashable)
_Pair = tuple[str | None, str | None]
"""A tag and a priority; None is any."""

MOST_PLACES: Final = 256
"""How many combinations of pattern, tag and priority a filter lies at before it is checked."""

_SEARCHED: Final = 32  # keys of a list that is searched; of a longer one the places are kept


class _Places(Generic[K]):
    """Where keys stand in lists, so that one is removed from a long list as fast as from a short.

    The lists lie where they are read, and have a name here. Their order does not matter.
    """

    def __init__(self) -> None:
        self._places: dict[Hashable, dict[K, int]] = {}

    def add(self, name: Hashable, keys: list[K], key: K) -> None:
        """Add a key to a list."""
        keys.append(key)
        places = self._places.get(name)
        if places is not None:
            places[key] = len(keys) - 1
        elif len(keys) > _SEARCHED:
            self._places[name] = {one: place for place, one in enumerate(keys)}

    def remove(self, name: Hashable, keys: list[K], key: K) -> None:
        """Remove a key from its list: the last one takes its place."""
        places = self._places.get(name, {})
        place = places.pop(key) if places else keys.index(key)
        last = keys.pop()
        if place < len(keys):
            keys[place] = last
            if places:
                places[last] = place
        if len(keys) < _SEARCHED // 2:
            self._places.pop(name, None)


class _Narrowed(Generic[K]):
    """The filters with one pattern that also ask for tags or priorities."""

    __slots__ = ("checked", "pairs")

    def __init__(self) -> None:
        self.pairs: dict[_Pair, list[K]] = {}
        self.checked: dict[K, CompiledFilter] = {}

    def __bool__(self) -> bool:
        return bool(self.pairs or self.checked)

    def add_matching(
        self, event_type: str, tags: Collection[str], priority: str, found: list[K]
    ) -> None:
        """Add the keys of those that select an event, whose type has the pattern."""
        pairs = self.pairs
        for tag in (None, *tags) if pairs else ():
            for pair in ((tag, None), (tag, priority)):
                if (keys := pairs.get(pair)) is not None:
                    found += keys
        for key, filter in self.checked.items():
            if filter.selects(event_type, tags, priority):
                found.append(key)


class _Node(dict[str, "_Node[K]"], Generic[K]):
    """The filters with one pattern; for one with a star also the longer ones, by the next part."""

    __slots__ = ("keys_here", "narrowed")

    def __init__(self) -> None:
        super().__init__()
        self.keys_here: list[K] | None = None
        """The keys of those without tags and priorities."""
        self.narrowed: _Narrowed[K] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing lies here or behind it."""
        return not (self or self.keys_here or self.narrowed)


class FilterIndex(Generic[K]):
    """Filters by key, such as the id of their subscription."""

    def __init__(self) -> None:
        self._exact: dict[str, _Node[K]] = {}
        """The filters without a star."""
        self._root = _Node[K]()
        """The filters with a star, behind the parts before it."""
        self._filters: dict[K, CompiledFilter] = {}
        self._places = _Places[K]()

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._filters)

    def __contains__(self, key: K) -> bool:
        return key in self._filters

    def put(self, key: K, filter: CompiledFilter) -> None:
        """Set the filter of `key`. Costs as much as the filter has places, at any size."""
        if self._filters.get(key) == filter:
            return
        self.discard(key)
        self._filters[key] = filter
        for pattern in filter.patterns or (EVERY_NAME,):
            self._put_at(self._node(pattern), pattern, key, filter)

    def discard(self, key: K) -> None:
        """Remove the filter of `key`; a key without a filter changes nothing."""
        filter = self._filters.pop(key, None)
        if filter is not None:
            for pattern in filter.patterns or (EVERY_NAME,):
                self._remove(pattern, key, filter)

    def matching(self, event_type: str, tags: Collection[str], priority: str) -> list[K]:
        """Return the keys of the filters that select an event, each one once, in any order.

        Costs as much as the type has parts and there are keys to return; with tags, a look for
        each tag in addition.
        """
        found: list[K] = []
        narrowed: list[_Narrowed[K]] = []
        exact = self._exact.get(event_type)
        if exact is not None:
            _add_keys(exact, found, narrowed)
        node = self._root
        for part in event_type.split("."):
            if node.keys_here is not None:
                found += node.keys_here
            if node.narrowed is not None:
                narrowed.append(node.narrowed)
            following = node.get(part)
            if following is None:
                break
            node = following
        for one in narrowed:
            one.add_matching(event_type, tags, priority, found)
        return list(dict.fromkeys(found)) if narrowed and len(tags) > 1 else found

    def _node(self, pattern: str) -> _Node[K]:
        """Return where the filters with a pattern lie; it is made if it is missing."""
        *parts, last = pattern.split(".")
        if last != EVERY_NAME:
            return self._exact.setdefault(pattern, _Node())
        node = self._root
        for part in parts:
            following = node.get(part)
            if following is None:
                following = node[part] = _Node()
            node = following
        return node

    def _put_at(self, node: _Node[K], pattern: str, key: K, filter: CompiledFilter) -> None:
        if not (filter.tags or filter.priorities):
            if node.keys_here is None:
                node.keys_here = []
            self._places.add(pattern, node.keys_here, key)
            return
        if node.narrowed is None:
            node.narrowed = _Narrowed()
        if _is_checked(filter):
            node.narrowed.checked[key] = filter
            return
        for pair in _pairs_of(filter):
            self._places.add((pattern, pair), node.narrowed.pairs.setdefault(pair, []), key)

    def _remove(self, pattern: str, key: K, filter: CompiledFilter) -> None:
        """Remove a filter from the place of one pattern, and what is empty then."""
        *parts, last = pattern.split(".")
        if last != EVERY_NAME:
            self._remove_at(self._exact[pattern], pattern, key, filter)
            if self._exact[pattern].is_empty:
                del self._exact[pattern]
            return
        way = [self._root]
        for part in parts:
            way.append(way[-1][part])
        self._remove_at(way[-1], pattern, key, filter)
        for part in reversed(parts):
            if not way.pop().is_empty:
                return
            del way[-1][part]

    def _remove_at(self, node: _Node[K], pattern: str, key: K, filter: CompiledFilter) -> None:
        if node.narrowed is not None and (filter.tags or filter.priorities):
            self._remove_narrowed(node.narrowed, pattern, key, filter)
            node.narrowed = node.narrowed or None
        elif node.keys_here is not None:
            self._places.remove(pattern, node.keys_here, key)
            node.keys_here = node.keys_here or None

    def _remove_narrowed(
        self, narrowed: _Narrowed[K], pattern: str, key: K, filter: CompiledFilter
    ) -> None:
        if _is_checked(filter):
            del narrowed.checked[key]
            return
        for pair in _pairs_of(filter):
            keys = narrowed.pairs[pair]
            self._places.remove((pattern, pair), keys, key)
            if not keys:
                del narrowed.pairs[pair]


def _add_keys(node: _Node[K], found: list[K], narrowed: list[_Narrowed[K]]) -> None:
    if node.keys_here is not None:
        found += node.keys_here
    if node.narrowed is not None:
        narrowed.append(node.narrowed)


def _pairs_of(filter: CompiledFilter) -> Iterator[_Pair]:
    return product(filter.tags or (None,), filter.priorities or (None,))


def _is_checked(filter: CompiledFilter) -> bool:
    sizes = len(filter.patterns), len(filter.tags), len(filter.priorities)
    patterns, tags, priorities = (size or 1 for size in sizes)
    return patterns * tags * priorities > MOST_PLACES
