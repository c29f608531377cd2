"""The driver for trio, written against anyio. It runs on asyncio too, at about three times the
cost of that loop's own driver.
"""

from __future__ import annotations

__all__ = ("AnyioDriver",)

from collections.abc import Coroutine
from math import inf
from typing import Any

import anyio
from anyio.lowlevel import cancel_shielded_checkpoint, checkpoint

from kinwire.rpc.calls import OnId, Outbound, ProgressCallback
from kinwire.rpc.drivers.base import Driver, DriverEvent
from kinwire.rpc.request import Request
from kinwire_protocols.base import JsonObject
from kinwire_protocols.peer import Method


class _Slot:
    """Where a caller waits for its answer."""

    __slots__ = ("error", "result", "settled")

    def __init__(self) -> None:
        self.settled = anyio.Event()
        self.result: object = None
        self.error: Exception | None = None


class AnyioDriver(Driver):
    """One task group: the transport, a timer, and a task with a cancel scope for each handler."""

    async def open(self) -> None:
        """See `Driver.open`."""
        self._carrying = anyio.CancelScope()
        self._carried = anyio.Event()
        self._timer: anyio.CancelScope | None = None
        self._rings_at = inf
        self._works: dict[int, Request] = {}  # by the id of the task that runs it
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        self._tasks.start_soon(self._carry_until_stopped, name="transport")
        self._tasks.start_soon(self._keep_time, name="deadlines")
        await cancel_shielded_checkpoint()  # the transport has begun after this

    async def shut(self) -> None:
        """See `Driver.shut`."""
        await self.close()
        self._tasks.cancel_scope.cancel()
        # No exception is passed on: it is the user's, and a group would wrap it.
        await self._tasks.__aexit__(None, None, None)

    async def call(
        self,
        name: str,
        method: Method[Any, Any] | None,
        params: JsonObject,
        timeout: float | None,
        on_progress: ProgressCallback | None,
        on_id: OnId | None = None,
    ) -> Any:
        """Send a request and return its result as JSON."""
        await checkpoint()  # a caller that is cancelled already sends nothing
        await self.wait_for_room()
        slot = _Slot()
        call = Outbound(name, method, slot, timeout, on_progress)
        self.engine.outbound.request(call, params)
        try:
            if on_id is not None:
                on_id(call.id)
            await slot.settled.wait()
        finally:
            self.engine.outbound.abandon(call)  # does nothing once there is an answer
            self._rouse()
        if slot.error is not None:
            raise slot.error
        return slot.result

    # EngineIO.

    def wake_writer(self) -> None:
        """See `EngineIO.wake_writer`."""
        self._transport.wake()

    def start(self, work: Request, /) -> None:
        """See `EngineIO.start`."""
        # Who cancels all around the session ends it, as on asyncio: its handlers are stopped then,
        # and no errors are sent to the peer.
        work.task = anyio.CancelScope(shield=True)
        self._tasks.start_soon(self._run, work, name=work.method.name)

    def stop(self, work: Request, /) -> None:
        """See `EngineIO.stop`."""
        work.task.cancel()

    def settle(self, call: Outbound, result: object, error: Exception | None, /) -> None:
        """See `EngineIO.settle`."""
        call.slot.result, call.slot.error = result, error
        call.slot.settled.set()

    def call_at(self, at: float, /) -> None:
        """See `EngineIO.call_at`."""
        self._rings_at = at
        if self._timer is not None:
            self._timer.deadline = at

    def now(self) -> float:
        """See `EngineIO.now`."""
        return anyio.current_time()

    # Tasks.

    def _signal(self) -> DriverEvent:
        return anyio.Event()

    def _spawn(self, ending: Coroutine[Any, Any, None]) -> None:
        async def run() -> None:
            # Also when the session stands in a cancelled scope: each part of it is bounded.
            with anyio.CancelScope(shield=True):
                await ending

        self._tasks.start_soon(run, name="ending")

    def _current(self) -> Request | None:
        return self._works.get(anyio.get_current_task().id)

    async def _run(self, work: Request) -> None:
        failure: BaseException | None = RuntimeError("the handler was cancelled")
        result: object = None
        me = anyio.get_current_task().id
        self._works[me] = work
        try:
            with work.task:
                if self.engine.outbox.crowded_by_answers and work.id is not None:
                    await self.wait_to_begin()
                result = await work.handler(work.params, work)
                failure = None
        except BaseException as error:  # in the group it would end the session
            failure = error
            if isinstance(error, KeyboardInterrupt):
                raise
        finally:
            del self._works[me]
            if failure is None:
                self.engine.finish(work, result)
            else:
                self.engine.fail(work, failure)
            if self._idle is not None:
                self._idle.set()

    async def _stop_handlers(self) -> None:
        with anyio.move_on_after(self._limits.stop):
            await self.wait_quiet()

    async def _carry_until_stopped(self) -> None:
        try:
            with self._carrying:
                await self._carry()
        except Exception as error:  # came together with the cancellation
            self._transport_failed(error)
        finally:
            self._carried.set()

    async def _stop_transport(self) -> None:
        self._carrying.cancel()
        await self._carried.wait()

    async def _keep_time(self) -> None:
        while True:
            with anyio.CancelScope(deadline=self._rings_at) as self._timer:
                await anyio.sleep_forever()
            self._rings_at = inf
            self.engine.expire()
