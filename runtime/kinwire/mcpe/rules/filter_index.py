"""An index of filters: an event finds the filters that select it, and looks at no others.

A trie over the parts of event types leads to the filters with a fitting pattern, of which there is
one step for each part. There, filters lie by the pair of tag and priority that they ask for, so an
event looks up its own pairs. A filter lies at each of its pairs, below each of its patterns; one
with very many combinations lies below its patterns alone and is checked, so memory stays bounded.
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

_FREE_PLACES: Final = 64  # that a set keeps in addition to as many as it has keys


class _Keys(dict[K, None]):
    """An ordered set that is read as fast after many removals: a `dict` keeps their places."""

    __slots__ = ("_removed",)

    def __init__(self) -> None:
        super().__init__()
        self._removed = 0

    def add(self, key: K) -> None:
        """Add a key."""
        self[key] = None

    def remove(self, key: K) -> None:
        """Remove a key that is there."""
        del self[key]
        self._removed += 1
        if self._removed > _FREE_PLACES + len(self):
            kept = dict.fromkeys(self)
            self.clear()
            self.update(kept)
            self._removed = 0


class _Cell(Generic[K]):
    """The filters that have one pattern."""

    __slots__ = ("checked", "pairs", "plain")

    def __init__(self) -> None:
        self.plain = _Keys[K]()
        """Those without tags and priorities."""
        self.pairs: dict[_Pair, _Keys[K]] = {}
        self.checked: dict[K, CompiledFilter] = {}

    def __bool__(self) -> bool:
        return bool(self.plain or self.pairs or self.checked)


class _Node(Generic[K]):
    """A part of a type, below the parts before it."""

    __slots__ = ("below", "children", "exact")

    def __init__(self) -> None:
        self.exact: _Cell[K] | None = None
        """The filters with the pattern that ends here."""
        self.below: _Cell[K] | None = None
        """The filters with the pattern that has a star here."""
        self.children: dict[str, _Node[K]] = {}

    def __bool__(self) -> bool:
        return bool(self.children or self.exact or self.below)


class FilterIndex(Generic[K]):
    """Filters by key, such as the id of their subscription."""

    def __init__(self) -> None:
        self._root = _Node[K]()
        self._filters: dict[K, CompiledFilter] = {}

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
            _put_into(self._cell(pattern), key, filter)

    def discard(self, key: K) -> None:
        """Remove the filter of `key`; a key without a filter changes nothing."""
        filter = self._filters.pop(key, None)
        if filter is None:
            return
        for pattern in filter.patterns or (EVERY_NAME,):
            self._remove(pattern, key, filter)

    def matching(self, event_type: str, tags: Collection[str], priority: str) -> list[K]:
        """Return the keys of the filters that select an event, each one once.

        Costs as much as the type has parts and there are keys to return; with tags, a look for
        each tag in addition.
        """
        found: list[K] = []
        for cell in self._cells(event_type.split(".")):
            found += cell.plain
            if cell.pairs:
                _add_pairs(cell.pairs, tags, priority, found)
            if cell.checked:
                found += [
                    key
                    for key, filter in cell.checked.items()
                    if filter.selects(event_type, tags, priority)
                ]
        return list(dict.fromkeys(found)) if len(tags) > 1 else found

    def _cells(self, parts: list[str]) -> list[_Cell[K]]:
        """Return the filters whose pattern matches, by pattern."""
        node = self._root
        found: list[_Cell[K]] = []
        for part in parts:
            if node.below is not None:
                found.append(node.below)
            following = node.children.get(part)
            if following is None:
                return found
            node = following
        if node.exact is not None:
            found.append(node.exact)
        return found

    def _cell(self, pattern: str) -> _Cell[K]:
        """Return the place of a pattern, which is made if it is missing."""
        parts, open_end = _split(pattern)
        node = self._root
        for part in parts:
            node = node.children.setdefault(part, _Node())
        if open_end:
            node.below = cell = node.below or _Cell()
        else:
            node.exact = cell = node.exact or _Cell()
        return cell

    def _remove(self, pattern: str, key: K, filter: CompiledFilter) -> None:
        """Remove a filter from the place of one pattern, and what is empty then."""
        parts, open_end = _split(pattern)
        way = [self._root]
        for part in parts:
            way.append(way[-1].children[part])
        last = way[-1]
        cell = last.below if open_end else last.exact
        if cell is not None:
            _remove_from(cell, key, filter)
        if open_end:
            last.below = cell or None
        else:
            last.exact = cell or None
        for part in reversed(parts):
            if way.pop():
                return
            del way[-1].children[part]


def _split(pattern: str) -> tuple[list[str], bool]:
    """Return the parts of a pattern, and whether a star is behind them."""
    *parts, last = pattern.split(".")
    return (parts, True) if last == EVERY_NAME else ([*parts, last], False)


def _pairs_of(filter: CompiledFilter) -> Iterator[_Pair]:
    return product(filter.tags or (None,), filter.priorities or (None,))


def _is_checked(filter: CompiledFilter) -> bool:
    sizes = len(filter.patterns), len(filter.tags), len(filter.priorities)
    patterns, tags, priorities = (size or 1 for size in sizes)
    return patterns * tags * priorities > MOST_PLACES


def _put_into(cell: _Cell[K], key: K, filter: CompiledFilter) -> None:
    if not filter.tags and not filter.priorities:
        cell.plain.add(key)
    elif _is_checked(filter):
        cell.checked[key] = filter
    else:
        for pair in _pairs_of(filter):
            cell.pairs.setdefault(pair, _Keys()).add(key)


def _remove_from(cell: _Cell[K], key: K, filter: CompiledFilter) -> None:
    if not filter.tags and not filter.priorities:
        cell.plain.remove(key)
    elif _is_checked(filter):
        del cell.checked[key]
    else:
        for pair in _pairs_of(filter):
            keys = cell.pairs[pair]
            keys.remove(key)
            if not keys:
                del cell.pairs[pair]


def _add_pairs(
    pairs: dict[_Pair, _Keys[K]], tags: Collection[str], priority: str, found: list[K]
) -> None:
    """Add the keys that lie at a pair that the event has."""
    for tag in (None, *tags):
        found += pairs.get((tag, None), ())
        found += pairs.get((tag, priority), ())
