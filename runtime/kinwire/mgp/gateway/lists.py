"""A list of all servers behind a gateway, merged, with the names that clients use."""

from __future__ import annotations

__all__ = ("ForwardedEntry", "ForwardedList", "Outer")

import logging
import secrets
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast
from weakref import WeakKeyDictionary

import anyio

from kinwire.managers.entry_table import EntryKind, EntryTable
from kinwire.managers.listing import Listing
from kinwire.mcp.rules.pagination import Pages
from kinwire.mgp.gateway.upstream import Upstream
from kinwire.rpc.codec import is_object
from kinwire.rpc.errors import KinwireError
from kinwire.support.bounded import LruDict
from kinwire.support.json_values import json_size
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import JsonObject, RpcError
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.peer import Method

logger = logging.getLogger("kinwire.mgp.gateway")

_TIMEOUT = 10.0  # seconds for the list of one server; clients wait for all of them
_SILENCE: Final = 60.0  # seconds in which a server that did not answer in time is not asked again
_MOST_ENTRIES: Final = 10_000  # of one server
_MOST_BYTES = 16_000_000  # of them, as JSON
_MOST_VIEWS: Final = 32  # of a list: for each set of entries that some agent sees


class ForwardedEntry(NamedTuple):
    """An entry of the list of a server, as clients of the gateway see it."""

    server_id: str
    own: str
    """Its name or its address at the server."""
    definition: JsonObject
    """With the name or the address at the gateway."""


Outer = Callable[[str, JsonObject], tuple[str, ForwardedEntry] | None]
"""Takes a server and an entry of its list; returns what clients see and the key of that.

It returns None for what is not an entry.
"""


class ListViews:
    """The tables of one list: one for each set of entries that some agent sees."""

    def __init__(self, method: str, member: str, page_size: int) -> None:
        self._method, self._member, self._size = method, member, page_size
        self._tables = LruDict[Hashable, tuple[int, EntryTable[ForwardedEntry]]](_MOST_VIEWS)
        self._kind = EntryKind(f"{method}:", "a name", "", InvalidParamsError)

    def get(
        self, key: Hashable, version: int, wanted: Callable[[], Mapping[str, ForwardedEntry]]
    ) -> EntryTable[ForwardedEntry]:
        """Return the table for those who see what `wanted` returns, changed where that differs.

        It is not called if the table has this version already.
        """
        kept = self._tables.get(key)
        if kept is not None and kept[0] == version:
            return kept[1]
        table = self._new() if kept is None else kept[1]
        had, wants = table.entries, wanted()
        come = {name: one for name, one in wants.items() if had.get(name) is not one}
        gone = {name for name in had if name not in wants or name in come}
        if gone or come:
            table.replace(gone, come)
        self._tables.put(key, (version, table))
        return table

    def _new(self) -> EntryTable[ForwardedEntry]:
        key = secrets.token_bytes(16)
        listing = Listing(self._method, self._member, size=self._size, key=key)
        return EntryTable[ForwardedEntry](self._kind, listing, _nothing)


class ForwardedList:
    """One list, such as that of the prompts. What each server has is kept until it changes."""

    def __init__(self, row: Method[Any, Any], member: str, outer: Outer, *, page_size: int) -> None:
        """`member` is the field of the result of `row` with the entries."""
        self._row = row
        self._member = member
        self._outer = outer
        self._views = ListViews(row.name, member, page_size)
        self._kept = WeakKeyDictionary[Upstream, Mapping[str, ForwardedEntry]]()
        self._changes = WeakKeyDictionary[Upstream, int]()
        self._silent = WeakKeyDictionary[Upstream, float]()  # until when
        self._version = 0

    def changed(self, upstream: Upstream) -> None:
        """Forget what a server has: it is fetched when somebody asks for it."""
        self._kept.pop(upstream, None)
        self._silent.pop(upstream, None)
        self._changes[upstream] = self._changes.get(upstream, 0) + 1

    async def view(self, upstreams: Sequence[Upstream]) -> EntryTable[ForwardedEntry]:
        """Return the entries of these servers. A server that cannot be asked is left out."""
        await self._fetch_missing(upstreams)
        return self.known(upstreams)

    async def find(self, upstreams: Sequence[Upstream], key: str) -> ForwardedEntry | None:
        """Return an entry that one of these servers has; no other server is asked."""
        await self._fetch_missing(upstreams)
        kept = (self._kept.get(one, {}).get(key) for one in self._offering(upstreams))
        return next((entry for entry in kept if entry is not None), None)

    def known(self, upstreams: Sequence[Upstream]) -> EntryTable[ForwardedEntry]:
        """Return the entries that these servers have as far as they were fetched."""
        offering = self._offering(upstreams)

        def wanted() -> dict[str, ForwardedEntry]:
            return {
                key: entry for one in offering for key, entry in self._kept.get(one, {}).items()
            }

        return self._views.get(frozenset(one.id for one in offering), self._version, wanted)

    def _offering(self, upstreams: Sequence[Upstream]) -> list[Upstream]:
        return [one for one in upstreams if one.offers(self._row)]

    async def _fetch_missing(self, upstreams: Sequence[Upstream]) -> None:
        now = anyio.current_time()
        missing = [
            one
            for one in self._offering(upstreams)
            if one not in self._kept and self._silent.get(one, now) <= now
        ]
        if missing:
            async with anyio.create_task_group() as tasks:
                for upstream in missing:
                    tasks.start_soon(self._fetch, upstream)

    async def _fetch(self, upstream: Upstream) -> None:
        before = self._changes.get(upstream, 0)
        try:
            with anyio.fail_after(_TIMEOUT):
                found = await self._fetched(upstream)
        except TimeoutError:
            self._silent[upstream] = anyio.current_time() + _SILENCE
            text = "%s: %s had no answer in %g s, so it is left out for %g s, or until it changes"
            logger.warning(text, upstream.id, self._row.name, _TIMEOUT, _SILENCE)
            return
        except (RpcError, KinwireError) as error:
            why = sanitize_for_log(error)
            logger.warning("%s: %s failed, so it is left out: %s", upstream.id, self._row.name, why)
            return
        if self._changes.get(upstream, 0) == before:
            self._kept[upstream] = found
            self._version += 1

    async def _fetched(self, upstream: Upstream) -> dict[str, ForwardedEntry]:
        pages = Pages[Any](self._row.name, id)
        found: dict[str, ForwardedEntry] = {}
        size = 0
        while pages.has_next() and not _is_full(found, size):
            params: JsonObject = {} if pages.cursor is None else {"cursor": pages.cursor}
            page: Any = await upstream.session.raw(self._row.name, params)
            fields: JsonObject = page if is_object(page) else {}
            cursor = fields.get("nextCursor")
            pages.accept((), cursor if isinstance(cursor, str) else None)
            entries = _entries(fields.get(self._member))
            size += json_size(entries, _MOST_BYTES)
            for entry in entries:
                made = self._outer(upstream.id, entry) if is_object(entry) else None
                if made is not None:
                    found.setdefault(*made)
        if _is_full(found, size):
            text = "%s: %s is too long: those that came first are listed, %d"
            logger.warning(text, upstream.id, self._row.name, len(found))
        return found


def _is_full(found: Mapping[str, ForwardedEntry], size: int) -> bool:
    """Return whether nothing more of a list is fetched: `size` is that of its entries in bytes."""
    return len(found) >= _MOST_ENTRIES or size > _MOST_BYTES


def _entries(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []  # type: ignore[redundant-cast]


def _nothing() -> None:
    """Do nothing: the gateway announces changes when a server reports them."""
