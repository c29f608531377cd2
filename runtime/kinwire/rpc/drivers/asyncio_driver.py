"""The driver for asyncio and uvloop: plain callbacks, futures and tasks.

Handlers are cancelled the way the loop does it, once. Cancel scopes, task groups and shields of
anyio work inside handlers and around calls; cleanup that awaits takes a shielded scope.
"""

from __future__ import annotations

__all__ = ("AsyncioDriver",)

import asyncio
from asyncio import CancelledError, Future, Task, TimerHandle
from collections.abc import Coroutine
from contextvars import copy_context
from functools import partial
from typing import Any

from kinwire.rpc.calls import OnId, Outbound, ProgressCallback
from kinwire.rpc.drivers.base import Driver, DriverEvent
from kinwire.rpc.drivers.shield import shielded
from kinwire.rpc.request import Request
from kinwire_protocols.base import JsonObject
from kinwire_protocols.peer import Method

_LOOK_AGAIN = 0.005  # seconds until a handler that stands in a shielded scope is tried again
_CANCEL_AGAIN = 0.02  # seconds until one that swallowed its cancellation gets another


class AsyncioDriver(Driver):
    """A task a handler, a future a call, one timer, and one write a turn of the loop."""

    def __init__(self, *args: Any, **members: Any) -> None:
        self._loop = loop = asyncio.get_running_loop()
        super().__init__(*args, **members, loop=loop)
        # Frames from memory arrive in the sender's task: its context is not the handler's.
        self._context = copy_context()
        self._timer: TimerHandle | None = None
        self._flushing = False
        self._own_tasks: list[Task[None]] = []

    async def open(self) -> None:
        """See `Driver.open`."""
        self._spawn(self._carry())
        try:
            await asyncio.sleep(0)  # the transport has begun after this
        except CancelledError:
            await self.shut()
            raise

    async def shut(self) -> None:
        """See `Driver.shut`."""
        if self._own_tasks or not self._ended.is_set():
            import anyio

            with anyio.CancelScope(shield=True):
                await self._close_shielded()
                running = [task for task in self._own_tasks if not task.done()]
                if running:
                    await asyncio.wait(running)
        if self._timer is not None:
            self._timer.cancel()

    def release(self) -> None:
        """See `Driver.release`."""
        super().release()
        self._own_tasks.clear()  # an exception in one has the frames that it went through

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
        if self.engine.outbox.full:
            await self.wait_for_room()
        slot: Future[object] = Future(loop=self._loop)
        call = Outbound(name, method, slot, timeout, on_progress)
        self.engine.outbound.request(call, params)
        try:
            if on_id is not None:
                on_id(call.id)
            return await slot
        except BaseException:  # an answer, also an error, has left nothing to abandon
            self.engine.outbound.abandon(call)
            self._rouse()
            raise

    # EngineIO.

    def wake_writer(self) -> None:
        """See `EngineIO.wake_writer`."""
        if not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._flush)

    def start(self, work: Request, /) -> None:
        """See `EngineIO.start`."""
        # Cheaper than create_task, and the name shows in debuggers.
        work.task = Task(
            self._run(work),
            loop=self._loop,
            name=work.method.name,
            context=self._context.copy(),
        )

    def stop(self, work: Request, /) -> None:
        """See `EngineIO.stop`."""
        task: Task[None] = work.task
        if task.done():
            return
        if shielded(task):  # native cancellation would break through
            self._loop.call_later(_LOOK_AGAIN, self.stop, work)
            return
        # A task that is cancelled before its first step runs nothing of `_run`.
        task.add_done_callback(partial(self._swept, work))
        task.cancel()

    def settle(self, call: Outbound, result: object, error: Exception | None, /) -> None:
        """See `EngineIO.settle`."""
        if self._idle is not None:
            self._idle.set()
        slot: Future[object] = call.slot
        if slot.done():  # its caller was cancelled in this turn
            return
        if error is None:
            slot.set_result(result)
        else:
            slot.set_exception(error)

    def is_abandoned(self, call: Outbound, /) -> bool:
        """See `EngineIO.is_abandoned`."""
        slot: Future[object] = call.slot
        return slot.cancelled()

    def call_at(self, at: float, /) -> None:
        """See `EngineIO.call_at`."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(at, self.engine.expire)

    def now(self) -> float:
        """See `EngineIO.now`."""
        return self._loop.time()

    def _resume_transport(self) -> None:
        # Later: frames are just being taken, and from memory the other end would overtake them.
        self._loop.call_soon(self._transport.resume)

    # Tasks.

    def _flush(self) -> None:
        self._flushing = False
        self._transport.wake()

    def _signal(self) -> DriverEvent:
        return asyncio.Event()

    def _spawn(self, part: Coroutine[Any, Any, None], /) -> None:
        self._own_tasks.append(Task(part, loop=self._loop, context=self._context.copy()))

    def _current(self) -> Request | None:
        me = asyncio.current_task()
        works = self.engine.inbound.under_way.values()
        return next((work for work in works if work.task is me), None)

    async def _until_ended(self) -> None:
        cancelled: CancelledError | None = None
        while not self._ended.is_set():
            try:
                await self._ended.wait()
            except CancelledError as error:  # the end is bounded and has to be seen
                cancelled = error
        if cancelled is not None:
            raise cancelled

    async def _run(self, work: Request) -> None:
        try:
            if self.engine.outbox.crowded_by_answers and work.id is not None:
                await self.wait_to_begin()
            result = await work.handler(work.params, work)
        except BaseException as error:
            self.engine.fail(work, error)
            if isinstance(error, KeyboardInterrupt):
                work.task.add_done_callback(_retrieve)
                raise
        else:
            scheduled, self._flushing = self._flushing, True
            self.engine.finish(work, result)
            if not self.engine.inbound.under_way:  # nothing else could join this write
                self._flush()
            elif not scheduled:
                self._loop.call_soon(self._flush)
        finally:
            if self._idle is not None:
                self._idle.set()

    def _swept(self, work: Request, task: Task[None]) -> None:
        if not work.ended:
            self.engine.fail(work, CancelledError())
            self._rouse()

    async def _stop_handlers(self) -> None:
        until = self._loop.time() + self._limits.stop
        while (works := self._running()) and self._loop.time() < until:
            await asyncio.wait([work.task for work in works], timeout=_CANCEL_AGAIN)
            for work in self._running():
                self.stop(work)

    async def _stop_transport(self) -> None:
        carrier = self._own_tasks[0]
        carrier.cancel()
        await asyncio.wait([carrier])


def _retrieve(task: Task[None]) -> None:
    # What nobody asks for is logged; this one the loop raises.
    task.exception()
