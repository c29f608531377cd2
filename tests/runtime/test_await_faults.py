"""A connection that breaks at the n-th await, read, write or frame, for every n there is.

Whatever breaks and wherever: nothing hangs, no call gets another's answer or a second one, no task
and no descriptor is left. `test_faults.py` breaks single frames of sessions that are less than a
whole connection.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import os
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, TypeVar

import anyio
import pytest

from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports import reading, writing
from tests.runtime.fixtures_walks import (
    CALLS,
    CallLeftError,
    Ends,
    Moments,
    Walk,
    memory_ends,
    pipe_ends,
    stepped,
)

pytestmark = [pytest.mark.anyio, pytest.mark.faults]

T = TypeVar("T")
EndsOf = Callable[[pytest.MonkeyPatch], Ends]

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)

over_both = pytest.mark.parametrize("ends", [memory_ends, pipe_ends], ids=["memory", "pipes"])


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


async def at_every(
    monkeypatch: pytest.MonkeyPatch,
    ends: EndsOf,
    walk_at: Callable[[Moments], Walk],
    check: Callable[[Walk], None],
    *,
    at_least: int,
) -> None:
    """Walk with a fault at the first moment, the second and so on, until it does not come."""
    await Walk(Moments(0)).over(ends(monkeypatch))  # what is loaded and opened once stays
    gc.collect()  # what an earlier test has left would be closed in the middle of this one
    before = descriptors()
    at = 1
    while True:
        moments = Moments(at)
        walk = walk_at(moments)
        await walk.over(ends(monkeypatch))
        assert descriptors() == before
        if not moments.came:
            assert walk.outcomes["complete"] == 1
            break
        check(walk)
        at += 1
    assert at > at_least, "the walk is too short to mean anything"


def ended_somehow(walk: Walk) -> None:
    assert walk.outcomes["complete"] + walk.outcomes["closed"] == 1


def went_on(walk: Walk) -> None:
    assert walk.outcomes["complete"] == 1
    assert walk.outcomes["answered"] == CALLS + 1


@over_both
async def test_a_walk_that_nothing_breaks_is_whole(
    monkeypatch: pytest.MonkeyPatch, ends: EndsOf
) -> None:
    walk = Walk(Moments(0))
    await walk.over(ends(monkeypatch))
    went_on(walk)


class CutAtAwait(Walk):
    def carries(self) -> BaseException | None:
        return OSError(errno.EIO, "the wire was cut") if self.moments.is_it() else None


@over_both
async def test_a_transport_that_fails_at_any_await_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch, ends: EndsOf
) -> None:
    await at_every(monkeypatch, ends, CutAtAwait, ended_somehow, at_least=1)


class EndsAtFrame(Walk):
    """The input of one end ends in place of a frame."""

    _ended: SessionCallbacks | None = None

    def arrives(self, callbacks: SessionCallbacks) -> bool:
        if self.moments.is_it():
            self._ended = callbacks
            callbacks.end(ConnectionClosedError("The input ended."))
        return callbacks is not self._ended


@over_both
async def test_input_that_ends_at_any_frame_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch, ends: EndsOf
) -> None:
    await at_every(monkeypatch, ends, EndsAtFrame, ended_somehow, at_least=30)


class LeavesAtAwait(Walk):
    """The walker is cancelled by a scope around the whole way."""

    async def go(self, walking: Coroutine[Any, Any, None]) -> None:
        with anyio.CancelScope() as scope:
            await stepped(walking, lambda: self._act(scope.cancel), group_ends=True)

    def _act(self, cancel: Callable[[], object]) -> None:
        if self.moments.is_it():
            cancel()


class LeavesAsTask(LeavesAtAwait):
    """The walker is cancelled the way of asyncio."""

    async def go(self, walking: Coroutine[Any, Any, None]) -> None:
        task: asyncio.Task[None]
        stepping = stepped(walking, lambda: self._act(lambda: self._cancel(task)), group_ends=True)
        task = asyncio.create_task(awaited(stepping))
        with suppress(asyncio.CancelledError):
            await task

    def _cancel(self, task: asyncio.Task[None]) -> None:
        task.cancel()


class LeavesAsTaskLater(LeavesAsTask):
    """The cancellation may meet what was waited for in one turn of the loop."""

    def _cancel(self, task: asyncio.Task[None]) -> None:
        asyncio.get_running_loop().call_soon(task.cancel)


async def awaited(step: Awaitable[None]) -> None:
    await step


def calls_ended(walk: Walk) -> None:
    """Those of the group that were begun, and the single one, each once."""
    assert walk.calls_ended in (0, CALLS, CALLS + 1)


@over_both
async def test_a_caller_that_is_cancelled_at_any_await_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, ends: EndsOf
) -> None:
    await at_every(monkeypatch, ends, LeavesAtAwait, calls_ended, at_least=8)


@on_asyncio
@over_both
@pytest.mark.parametrize("walk", [LeavesAsTask, LeavesAsTaskLater])
async def test_a_task_that_is_cancelled_at_any_await_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, ends: EndsOf, walk: type[LeavesAsTask]
) -> None:
    await at_every(monkeypatch, ends, walk, calls_ended, at_least=8)


class LeavesACall(Walk):
    """One of the calls is cancelled."""

    async def ask(self, calling: Coroutine[Any, Any, T]) -> T:
        with anyio.CancelScope() as scope:
            return await stepped(calling, lambda: scope.cancel() if self.moments.is_it() else None)
        raise CallLeftError


def one_was_left(walk: Walk) -> None:
    assert walk.outcomes["complete"] == 1
    assert (walk.outcomes["answered"], walk.outcomes["left"]) == (CALLS, 1)


@over_both
async def test_a_call_that_is_cancelled_at_any_await_touches_no_other(
    monkeypatch: pytest.MonkeyPatch, ends: EndsOf
) -> None:
    await at_every(monkeypatch, ends, LeavesACall, one_was_left, at_least=4)


class FailsInHandler(Walk):
    def handles(self) -> BaseException | None:
        return OSError(errno.EIO, "the disk is gone") if self.moments.is_it() else None


def one_was_refused(walk: Walk) -> None:
    assert walk.outcomes["complete"] == 1
    assert (walk.outcomes["answered"], walk.outcomes["refused"]) == (CALLS, 1)


@over_both
async def test_a_handler_that_fails_at_any_await_fails_its_own_call(
    monkeypatch: pytest.MonkeyPatch, ends: EndsOf
) -> None:
    await at_every(monkeypatch, ends, FailsInHandler, one_was_refused, at_least=4)


# Pipes.

Read = Callable[[int, int], bytes]
Write = Callable[[int, memoryview], int]


def breaking(moments: Moments, *, once: bool) -> Callable[[int], bool]:
    """Return what says whether this use of a descriptor fails: the n-th, and then all of its."""
    broken: list[int] = []

    def breaks(fd: int) -> bool:
        if moments.is_it():
            broken.append(fd)
            return True
        return fd in broken and not once

    return breaks


def reads_fail(fd: int, size: int) -> bytes:
    raise OSError(errno.EIO, "the terminal is gone")


def reads_end(fd: int, size: int) -> bytes:
    return b""


def reads_nothing_yet(fd: int, size: int) -> bytes:
    raise BlockingIOError


def reads_one_byte(fd: int, size: int) -> bytes:
    return os.read(fd, 1)


@pytest.mark.parametrize(
    ("faulty", "check"),
    [
        (reads_fail, ended_somehow),
        (reads_end, ended_somehow),
        (reads_nothing_yet, went_on),
        (reads_one_byte, went_on),
    ],
    ids=lambda value: value.__name__,
)
async def test_any_read_may_fail_end_or_bring_less(
    monkeypatch: pytest.MonkeyPatch, faulty: Read, check: Callable[[Walk], None]
) -> None:
    def walk_at(moments: Moments) -> Walk:
        breaks = breaking(moments, once=check is went_on)

        def read(fd: int, size: int) -> bytes:
            return faulty(fd, size) if breaks(fd) else os.read(fd, size)

        monkeypatch.setattr(reading, "os", SimpleNamespace(read=read))
        return Walk(moments)

    await at_every(monkeypatch, pipe_ends, walk_at, check, at_least=15)


def writes_fail(fd: int, data: memoryview) -> int:
    raise BrokenPipeError(errno.EPIPE, "nobody reads")


def writes_nothing_yet(fd: int, data: memoryview) -> int:
    raise BlockingIOError


def writes_one_byte(fd: int, data: memoryview) -> int:
    return os.write(fd, data[:1])


@pytest.mark.parametrize(
    ("faulty", "check"),
    [
        (writes_fail, ended_somehow),
        (writes_nothing_yet, went_on),
        (writes_one_byte, went_on),
    ],
    ids=lambda value: value.__name__,
)
async def test_any_write_may_fail_or_take_less(
    monkeypatch: pytest.MonkeyPatch, faulty: Write, check: Callable[[Walk], None]
) -> None:
    def walk_at(moments: Moments) -> Walk:
        breaks = breaking(moments, once=check is went_on)

        def write(fd: int, data: memoryview) -> int:
            return faulty(fd, data) if breaks(fd) else os.write(fd, data)

        monkeypatch.setattr(writing, "os", SimpleNamespace(write=write))
        return Walk(moments)

    await at_every(monkeypatch, pipe_ends, walk_at, check, at_least=15)
