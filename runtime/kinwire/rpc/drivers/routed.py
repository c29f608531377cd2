"""Both drivers for sessions with several ways out. `kinwire/streams.py` has the rules.

A handler runs in the context that its request came in, not in that of the session.
"""

from __future__ import annotations

__all__ = ("RoutedAnyioDriver", "RoutedAsyncioDriver")

from asyncio import AbstractEventLoop, Task

from anyio.lowlevel import checkpoint

from kinwire.rpc.drivers.anyio_driver import AnyioDriver
from kinwire.rpc.drivers.asyncio_driver import AsyncioDriver
from kinwire.rpc.drivers.base import Driver
from kinwire.rpc.request import Request
from kinwire.rpc.streams import RoutedEngine, RoutedLink, RoutedRequest


class _Routed(Driver):
    engine: RoutedEngine
    engine_class = RoutedEngine
    request_class = RoutedRequest

    def _linked(self, loop: AbstractEventLoop | None) -> RoutedLink:
        plain = super()._linked(loop)
        members = {name: getattr(plain, name) for name in plain.__slots__}
        engine = self.engine
        return RoutedLink(**members, accept=engine.accept, outbox=engine.outbox, ended=engine.ended)

    async def wait_for_room(self, *, last: bool = False) -> None:
        """See `Driver.wait_for_room`; what nobody takes gives way, but others run meanwhile."""
        await super().wait_for_room(last=last)
        if self.engine.outbox.crowded:
            self.engine.outbox.crowded = False
            await checkpoint()

    def wake_writer(self) -> None:
        """A stream wakes whoever takes from it."""


class RoutedAsyncioDriver(_Routed, AsyncioDriver):
    """`AsyncioDriver` with several ways out."""

    def start(self, work: Request, /) -> None:
        """See `Ports.start`."""
        assert isinstance(work, RoutedRequest)
        work.task = Task(
            self._run(work), loop=self._loop, name=work.method.name, context=work.context
        )

    def _flush(self) -> None:
        """A stream wakes whoever takes from it."""


class RoutedAnyioDriver(_Routed, AnyioDriver):
    """`AnyioDriver` with several ways out."""

    def start(self, work: Request, /) -> None:
        """See `Ports.start`."""
        assert isinstance(work, RoutedRequest)
        work.context.run(super().start, work)
