"""Connected clients of MCPE, and their events."""

from __future__ import annotations

__all__ = ("ID", "TOKEN", "connected", "read")

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from kinwire import (
    Connection,
    Host,
)
from kinwire.mcpe import EventSubscription, McpeClient
from tests.runtime.mcpe.raw_server import RawServer

ID = "00000000-0000-4000-8000-000000000000"
TOKEN = "mcpe/recoveryToken"


@asynccontextmanager
async def connected(
    events: McpeClient, raw: RawServer, server_id: str | None = "elsewhere"
) -> AsyncGenerator[Connection]:
    async with Host("desk", "1", extensions=[events]) as host:
        yield await host.connect(raw, server_id=server_id)


async def read(subscription: EventSubscription, count: int) -> list[str]:
    """Return the types of the next events."""
    return [(await anext(subscription)).type for _ in range(count)]
