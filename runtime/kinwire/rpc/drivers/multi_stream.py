"""Both drivers for sessions with several ways out. `kinwire/rpc/multi_stream.py` has the rules.

A handler runs in the context that its request came in, not in that of the session.
"""

from __future__ import annotations

__all__ = ("MultiStreamAnyioDriver", "MultiStreamAsyncioDriver")

from asyncio import AbstractEventLoop, Task

from anyio.lowlevel import checkpoint

from kinwire.rpc.drivers.anyio_driver import AnyioDriver
from kinwire.rpc.drivers.asyncio_driver import AsyncioDriver
from kinwire.rpc.drivers.base import Driver
from kinwire.rpc.multi_stream import MultiStreamCallbacks, MultiStreamEngine, MultiStreamRequest
from kinwire.rpc.request import Request


class _MultiStreamDriver(Driver):
    engine: MultiStreamEngine
    engine_class = MultiStreamEngine
    request_class = MultiStreamRequest

    def _make_callbacks(self, loop: AbstractEventLoop | None) -> MultiStreamCallbacks:
        plain = super()._make_callbacks(loop)
        members = {name: getattr(plain, name) for name in plain.__slots__}
        engine = self.engine
        return MultiStreamCallbacks(
            **members, accept=engine.accept, outbox=engine.outbox, ended=engine.ended
        )

    async def wait_for_room(self, *, last: bool = False) -> None:
        """See `Driver.wait_for_room`; what nobody takes gives way, but others run meanwhile."""
        await super().wait_for_room(last=last)
        if self.engine.outbox.crowded:
            self.engine.outbox.crowded = False
            await checkpoint()

    def wake_writer(self) -> None:
        """A stream wakes whoever takes from it."""


class MultiStreamAsyncioDriver(_MultiStreamDriver, AsyncioDriver):
    """`AsyncioDriver` with several ways out."""

    def start(self, work: Request, /) -> None:
        """See `EngineIO.start`."""
        assert isinstance(work, MultiStreamRequest)
        work.task = Task(
            self._run(work), loop=self._loop, name=work.method.name, context=work.context
        )

    def _flush(self) -> None:
        """A stream wakes whoever takes from it."""


class MultiStreamAnyioDriver(_MultiStreamDriver, AnyioDriver):
    """`AnyioDriver` with several ways out."""

    def start(self, work: Request, /) -> None:
        """See `EngineIO.start`."""
        assert isinstance(work, MultiStreamRequest)
        work.context.run(super().start, work)
