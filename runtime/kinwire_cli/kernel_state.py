"""What a command and running kernels share: the store with their records and their audit log."""

from __future__ import annotations

__all__ = (
    "STORE_TIMEOUT",
    "add_store",
    "kernel_audit",
    "kernel_records",
    "kernel_state",
    "kernel_storage",
)

import sys
from argparse import ArgumentParser
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kinwire_cli.failure import UsageError
from kinwire_cli.layout import one_line, printable
from kinwire_cli.quantities import seconds_from
from kinwire_cli.store_files import new_file, refuse_new, refuse_nothing

if TYPE_CHECKING:
    from kinwire.mgp.kernel.audit import AuditLog
    from kinwire.storage import Log, Records, Store
    from kinwire.storage.clock import Clock

_RECORDS, _LOG = "mgp", "mgp-audit"  # of a kernel in its store
STORE_TIMEOUT = 10.0  # seconds


def add_store(parser: ArgumentParser) -> None:
    """Add `--store URL` and `--timeout SECONDS`."""
    text = "the store of the kernel: sqlite:///file.db or nats://host:port"
    parser.add_argument("--store", metavar="URL", required=True, help=text)
    text = f"how long to wait for an engine that is locked or away (default: {STORE_TIMEOUT:g})"
    parser.add_argument(
        "--timeout", type=seconds_from, metavar="SECONDS", default=STORE_TIMEOUT, help=text
    )


@asynccontextmanager
async def kernel_state(
    url: str, timeout: float, *, create: bool = False, of: str = "the kernel"
) -> AsyncGenerator[Store]:
    """Open the store of a kernel, or of another program, which may be running.

    Raises:
        UsageError: the store is in memory, or does not exist and `create` is False.
        StorageError: it cannot be opened.
    """
    from kinwire.storage import open_store

    if url == "memory:":
        text = "A store in memory belongs to one process."
        raise UsageError(text, f"Name the store of {of}: sqlite:///file.db or nats://...")
    made = new_file(url)
    if not create:
        refuse_new(url)
    async with open_store(url, timeout=timeout) as store:
        if made is not None:
            print(printable(f"note: made the new store {made}"), file=sys.stderr)
        if not create:
            await refuse_nothing(url, store)
        yield store


@asynccontextmanager
async def kernel_storage(
    url: str, timeout: float, *, create: bool
) -> AsyncGenerator[tuple[Records, Log]]:
    """Open the store of a kernel, and yield its records and its audit log.

    Raises:
        UsageError, StorageError: see `kernel_state`.
    """
    async with kernel_state(url, timeout, create=create) as store:
        yield await store.records(_RECORDS), await store.log(_LOG)


async def kernel_records(store: Store) -> Records:
    """Return the records of a kernel; if they are empty, a note says which others there are."""
    records = await store.records(_RECORDS)
    found = [one.name for one in await store.entries() if one.kind == "records"]
    names = [name for name in found if name != _RECORDS]
    if names and await _is_empty(records):
        text = f"note: the records {_RECORDS!r}, which are read, are empty; the store also has"
        print(one_line(f"{text} {', '.join(map(repr, names))}"), file=sys.stderr)
    return records


async def _is_empty(records: Records) -> bool:
    async for _ in records.scan():
        return False
    return True


async def kernel_audit(store: Store, clock: Clock, *, writes: bool) -> AuditLog:
    """Return the audit log of a kernel; without `writes` it is not made in the store."""
    from kinwire.mgp.kernel.audit import AuditLog, AuditOptions

    log = await store.log(_LOG) if writes else None
    return AuditLog(AuditOptions(log=log, buffered=False), clock)
