"""The names of a store in a NATS cluster: which buckets and streams there are, and as what."""

from __future__ import annotations

__all__ = ("NatsStore",)

from dataclasses import replace
from functools import partial
from typing import Any

from nats.js.api import (
    DiscardPolicy,
    StorageType,
    StreamConfig,
    StreamInfo,
)
from nats.js.errors import NotFoundError

from kinwire.storage.clock import Clock
from kinwire.storage.log import Log, Retention, checked_retention
from kinwire.storage.nats.connection import NatsConnection
from kinwire.storage.nats.keys import log_stream, records_stream
from kinwire.storage.nats.log import NatsLog
from kinwire.storage.nats.records import NatsRecords
from kinwire.storage.nats.stream_reader import unreadable
from kinwire.storage.records import REMOVALS_KEPT, Records
from kinwire.storage.store import Kind, StoreEntry, entry_from, options_text
from kinwire.storage.store_url import StoreUrl, checked_name

_OPTIONS = "kinwire"  # in a stream's metadata: what it was opened with
_RETRIES = 60.0  # seconds in which a write that is sent again is known, for records


class NatsStore:
    """Named records and logs of a cluster."""

    def __init__(self, address: StoreUrl, connection: NatsConnection, now: Clock) -> None:
        self._address, self._connection, self._now = address, connection, now

    async def records(self, name: str, *, durable: bool = True) -> Records:
        entry = StoreEntry(kind="records", name=checked_name(name), durable=durable)
        stream, prefix = records_stream(self._address.name, name)
        await self._have(
            entry,
            stream,
            subjects=[f"{prefix}>"],
            discard=DiscardPolicy.NEW,
            max_msgs_per_subject=1,
            allow_msg_ttl=True,
            allow_rollup_hdrs=True,
            subject_delete_marker_ttl=REMOVALS_KEPT,
            duplicate_window=max(_RETRIES, 2 * self._connection.timeout),
        )
        return NatsRecords(self._address.name, name, self._connection, self._now)

    async def log(
        self, name: str, *, durable: bool = True, retention: Retention | None = None
    ) -> Log:
        stream, prefix = log_stream(self._address.name, checked_name(name))
        kept = await self._kept(stream) if retention is None else checked_retention(retention)
        entry = StoreEntry(kind="log", name=name, durable=durable, retention=kept)
        await self._have(
            entry,
            stream,
            subjects=[f"{prefix}>"],
            discard=DiscardPolicy.OLD,
            max_age=kept.max_age or 0,
            max_msgs=kept.max_entries or -1,
            # The server knows no id for longer than it keeps its message.
            duplicate_window=min(kept.dedup_window, kept.max_age or kept.dedup_window),
        )
        return NatsLog(self._address.name, name, self._connection)

    async def entries(self) -> list[StoreEntry]:
        found = [entry for info in await self._streams() if (entry := self._entry(info))]
        return sorted(found, key=lambda entry: (entry.kind, entry.name))

    async def check(self) -> list[str]:
        found: list[str] = []
        for info in await self._streams():
            stream, entry = info.config.name, self._entry(info)
            if entry is None:
                continue
            if info.state.lost and info.state.lost.msgs:
                found.append(f"{stream}: {len(info.state.lost.msgs)} messages are lost")
            copies = (info.cluster and info.cluster.replicas) or ()
            behind = [copy.name for copy in copies if copy.offline or not copy.current]
            found += [f"{stream}: the copy on {name} is behind or away" for name in behind]
            found += await self._unreadable(entry)
        return found

    async def _kept(self, stream: str) -> Retention:
        """Return the retention that the log was given last."""
        streams = self._connection.streams

        async def attempt() -> StoreEntry | None:
            try:
                return self._entry(await streams.stream_info(stream))
            except NotFoundError:
                return None

        entry = await self._connection.ask(stream, attempt)
        return (entry and entry.retention) or Retention()

    async def _unreadable(self, entry: StoreEntry) -> list[str]:
        """Return the messages that another program must have put there."""
        store = self._address.name
        if entry.kind == "log":
            log = NatsLog(store, entry.name, self._connection)
            return await unreadable(log.reader(">", 0), log.entry)
        records = NatsRecords(store, entry.name, self._connection, self._now)
        return await unreadable(records.reader(""), records.change)

    def _entry(self, info: StreamInfo) -> StoreEntry | None:
        """Return the entry of a stream, or None if the stream is not part of this store."""
        name, options = info.config.name or "", (info.config.metadata or {}).get(_OPTIONS)
        starts: tuple[tuple[Kind, str], ...] = (
            ("log", log_stream(self._address.name, "")[0]),
            ("records", records_stream(self._address.name, "")[0]),
        )
        for kind, start in starts:
            if options is not None and name.startswith(start):
                return entry_from(kind, name.removeprefix(start), options)
        return None

    async def _have(self, entry: StoreEntry, stream: str, **config: Any) -> None:
        """Make the stream, or give it these options if there is one."""
        options = options_text(entry)
        wanted = StreamConfig(
            name=stream,
            storage=StorageType.FILE,
            num_replicas=self._address.replicas,
            deny_delete=True,
            metadata={_OPTIONS: options},
            **config,
        )
        streams = self._connection.streams

        async def attempt() -> StreamInfo:
            try:
                info = await streams.stream_info(stream)
            except NotFoundError:
                return await streams.add_stream(wanted)
            if (info.config.metadata or {}).get(_OPTIONS) == options:
                return info
            # How many copies there are is decided when the stream is made, or by its operator.
            return await streams.update_stream(
                replace(wanted, num_replicas=info.config.num_replicas)
            )

        await self._connection.ask(stream, attempt)

    async def _streams(self) -> list[StreamInfo]:
        """Return all streams of the servers, which tell them page by page."""
        streams = self._connection.streams
        found: list[StreamInfo] = []
        while True:
            page = await self._connection.ask("streams", partial(streams.streams_info, len(found)))
            if not page:
                return found
            found += page
