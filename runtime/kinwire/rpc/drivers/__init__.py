"""Two drivers, one engine: asyncio's own tasks and futures where asyncio runs, anyio elsewhere."""

from __future__ import annotations

__all__ = ("driver_class",)

import asyncio

from kinwire.rpc.drivers.base import Driver
from kinwire.rpc.transport import MultiStreamTransport, Transport


def driver_class(transport: Transport) -> type[Driver]:
    """Return the driver of `transport` for the event loop that the calling task runs on."""
    try:
        native = asyncio.current_task() is not None  # None below a trio guest of an asyncio loop
    except RuntimeError:
        native = False
    if isinstance(transport, MultiStreamTransport):
        from kinwire.rpc.multi_stream import MultiStreamAnyioDriver, MultiStreamAsyncioDriver

        return MultiStreamAsyncioDriver if native else MultiStreamAnyioDriver
    if native:
        from kinwire.rpc.drivers.asyncio_driver import AsyncioDriver

        return AsyncioDriver
    from kinwire.rpc.drivers.anyio_driver import AnyioDriver

    return AnyioDriver
