"""What a command and running kernels share: the store with their records and their audit log."""

from __future__ import annotations

__all__ = ("RECORDS", "add_store", "kernel_state")

import sys
from argparse import ArgumentParser
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from kinwire_cli.failure import UsageError
from kinwire_cli.layout import printable
from kinwire_cli.quantities import seconds_from
from kinwire_cli.store_files import new_file, refuse_new, refuse_nothing

if TYPE_CHECKING:
    from kinwire.storage import Store

RECORDS = "mgp"
"""The records of a kernel in its store."""

_TIMEOUT = 10.0  # seconds


def add_store(parser: ArgumentParser) -> None:
    """Add `--store URL` and `--timeout SECONDS`."""
    text = "the store of the kernel: sqlite:///file.db or nats://host:port"
    parser.add_argument("--store", metavar="URL", required=True, help=text)
    text = f"how long to wait for an engine that is locked or away (default: {_TIMEOUT:g})"
    parser.add_argument(
        "--timeout", type=seconds_from, metavar="SECONDS", default=_TIMEOUT, help=text
    )


@asynccontextmanager
async def kernel_state(url: str, timeout: float, *, create: bool = False) -> AsyncGenerator[Store]:
    """Open the store of a kernel, which may be running.

    Raises:
        UsageError: the store is in memory, or does not exist and `create` is False.
        StorageError: it cannot be opened.
    """
    from kinwire.storage import open_store

    if url == "memory:":
        text = "A store in memory belongs to one process."
        raise UsageError(text, "Name the store of the kernel: sqlite:///file.db or nats://...")
    made = new_file(url)
    if not create:
        refuse_new(url)
    async with open_store(url, timeout=timeout) as store:
        if made is not None:
            print(printable(f"note: made the new store {made}"), file=sys.stderr)
        if not create:
            await refuse_nothing(url, store)
        yield store
