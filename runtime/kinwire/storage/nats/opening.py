"""A store in a NATS cluster, and its names."""

from __future__ import annotations

__all__ = ("open_nats",)

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from importlib.util import find_spec

from kinwire.storage.clock import Clock
from kinwire.storage.errors import StorageAddressError
from kinwire.storage.store import Store
from kinwire.storage.store_url import StoreUrl


@asynccontextmanager
async def open_nats(address: StoreUrl, timeout: float, now: Clock) -> AsyncGenerator[Store]:
    """Yield the store at `address`.

    Raises:
        StorageAddressError: this is not asyncio, or the extra [nats] is not installed.
        StorageUnavailableError: no server answers.
    """
    try:
        native = asyncio.current_task() is not None
    except RuntimeError:
        native = False
    if not native:
        raise StorageAddressError(
            "store nats:",
            expected="asyncio",
            got="another event loop",
            hint="Run the program on asyncio, the only event loop of nats-py, or use sqlite:.",
        )
    if find_spec("nats") is None:
        raise StorageAddressError(
            "store nats:",
            expected="nats-py",
            got="no such module",
            hint="pip install 'kinwire[nats]'.",
        )
    from kinwire.storage.nats.connection import connected
    from kinwire.storage.nats.store import NatsStore

    async with connected(address, timeout) as connection:
        yield NatsStore(address, connection, now)
