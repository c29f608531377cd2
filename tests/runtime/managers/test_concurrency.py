"""Locks by key, and work that several callers share."""

from __future__ import annotations

from contextvars import ContextVar

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire.managers.concurrency import InFlight, KeyedLock

pytestmark = pytest.mark.anyio

caller: ContextVar[str] = ContextVar("caller")


async def turn_of_others() -> None:
    for _ in range(5):
        await checkpoint()


async def test_a_lock_is_given_in_the_order_of_coming() -> None:
    locks, order = KeyedLock[str](), list[str]()

    async def hold(name: str, key: str) -> None:
        async with locks.of(key):
            order.append(name)
            await turn_of_others()

    async with anyio.create_task_group() as tasks, locks.of("a"):
        for number in range(3):
            tasks.start_soon(hold, f"a{number}", "a")
            await turn_of_others()
        async with locks.of("b"):
            order.append("b")
        assert [*order, "a" in locks, "b" in locks] == ["b", True, False]
    assert order == ["b", "a0", "a1", "a2"]
    assert len(locks) == 0


async def test_a_lock_that_is_not_awaited_any_more_takes_no_room() -> None:
    locks = KeyedLock[int]()

    async def hold(key: int) -> None:
        async with locks.of(key):
            raise AssertionError

    async with locks.of(1), anyio.create_task_group() as tasks:
        tasks.start_soon(hold, 1)
        await turn_of_others()
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await turn_of_others()
        with pytest.raises(anyio.get_cancelled_exc_class()):
            await hold(2)
        assert len(locks) == 1
    with pytest.raises(ValueError, match="the block"):
        async with locks.of(1):
            raise ValueError("the block")
    assert len(locks) == 0


async def test_cancelled_waiters_leave_the_locks_of_others_alone() -> None:
    """They are cancelled before they have a lock that is free, and others have it since."""
    locks, held = KeyedLock[str](), list[int]()

    async def give_up() -> None:
        with anyio.CancelScope() as scope:
            scope.cancel()
            async with locks.of("a"):
                pass

    async def hold(turns: int) -> None:
        async with locks.of("a"):
            held.append(len(held))
            for _ in range(turns):
                await checkpoint()

    async with anyio.create_task_group() as tasks:
        for turns in (0, 1, 3):
            tasks.start_soon(give_up)
            tasks.start_soon(give_up)
            tasks.start_soon(hold, turns)
    assert (held, len(locks)) == ([0, 1, 2], 0)


async def shared(
    flights: InFlight[str, str], callers: int, work: anyio.Event, *, fails: bool = False
) -> tuple[list[str], list[str]]:
    """Let callers ask for equal work, and return the names of those who did it, and the results."""
    ran, results = list[str](), list[str]()

    async def call(name: str) -> None:
        caller.set(name)

        async def do() -> str:
            ran.append(caller.get())
            await work.wait()
            if fails:
                raise ValueError("the work")
            return "done"

        try:
            results.append(await flights.run("k", do))
        except ValueError as error:
            results.append(str(error))

    async with anyio.create_task_group() as tasks:
        for number in range(callers):
            tasks.start_soon(call, f"c{number}")
            await turn_of_others()
        assert "k" in flights
        work.set()
    return ran, results


async def test_equal_work_is_done_once_in_the_context_of_the_first() -> None:
    flights = InFlight[str, str]()
    assert await shared(flights, 3, anyio.Event()) == (["c0"], ["done"] * 3)
    assert "k" not in flights
    assert await shared(flights, 1, anyio.Event()) == (["c0"], ["done"])  # it is not remembered


async def test_an_error_of_the_work_reaches_all() -> None:
    ran, results = await shared(InFlight(), 3, anyio.Event(), fails=True)
    assert (ran, results) == (["c0"], ["the work"] * 3)


async def test_a_cancelled_caller_leaves_the_others_waiting() -> None:
    flights, release, results = InFlight[str, str](), anyio.Event(), list[str]()

    async def work() -> str:
        await release.wait()
        return "done"

    async def call() -> None:
        results.append(await flights.run("k", work))

    async with anyio.create_task_group() as tasks:
        with anyio.CancelScope() as first:
            async with anyio.create_task_group() as inner:
                inner.start_soon(call)
                await turn_of_others()
                tasks.start_soon(call)
                await turn_of_others()
                first.cancel()
        assert first.cancelled_caught
        assert "k" in flights
        release.set()
    assert results == ["done"]


async def test_work_is_cancelled_with_its_last_caller() -> None:
    flights, ended = InFlight[str, str](), anyio.Event()

    async def work() -> str:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    async def other() -> str:
        return "other"

    with anyio.move_on_after(0.01):
        await flights.run("k", work)
    assert await flights.run("k", other) == "other"  # what was given up is not waited for
    await ended.wait()
