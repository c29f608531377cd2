"""A queue with workers: handlers return immediately, and the work is done in order."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire.mcpl import PushedEvent, UserTurn, WorkItem, WorkQueue
from kinwire_protocols.mcpl import PushEventResult

pytestmark = pytest.mark.anyio


def event(number: int) -> PushedEvent:
    wanted: Any = number  # the queue does not look at what it holds
    return PushedEvent(wanted, wanted)


def turn(number: int) -> UserTurn:
    wanted: Any = number
    return UserTurn(
        server_key="k",
        conversation_id=str(number),
        index=0,
        messages=(),
        infer=True,
        channels=wanted,
    )


def number_of(item: WorkItem) -> int:
    if item.event is not None:
        return int(item.event.params)  # type: ignore[call-overload, no-any-return]
    assert item.turn is not None
    return int(item.turn.conversation_id)


@pytest.mark.spec("mcpl-9.3-1", "mcpl-9.3-2")
async def test_handlers_return_before_the_work_is_done() -> None:
    done: list[tuple[str, int]] = []
    go_on = anyio.Event()

    async def work(item: WorkItem) -> None:
        await go_on.wait()
        done.append((item.inference_id, number_of(item)))

    queue = WorkQueue(work)
    async with queue.running():
        answers = [await queue.push(event(1)), await queue.push(event(2))]
        await queue.turn(turn(3))
        assert done == []
        go_on.set()
        while len(done) < 3:
            await anyio.lowlevel.checkpoint()
    assert [answer.accepted for answer in answers] == [True, True]
    assert [id for id, _ in done[:2]] == [answer.inference_id for answer in answers]
    assert [number for _, number in done] == [1, 2, 3]


@pytest.mark.spec("mcpl-9.3-1")
async def test_items_that_come_before_the_workers_run_are_accepted_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    done = anyio.Event()

    async def work(item: WorkItem) -> None:
        done.set()

    queue = WorkQueue(work)
    assert (await queue.push(event(1))).accepted
    await queue.turn(turn(2))
    assert caplog.messages == ["WorkQueue: items wait for `async with queue.running():`"]
    async with queue.running():
        await done.wait()
        assert (await queue.push(event(3))).accepted
    assert len(caplog.messages) == 1


@pytest.mark.spec("mcpl-9.3-3")
async def test_a_full_queue_answers_backpressure_and_makes_turns_wait() -> None:
    done: list[int] = []

    async def work(item: WorkItem) -> None:
        done.append(number_of(item))

    queue = WorkQueue(work, limit=1)
    assert (await queue.push(event(1))).accepted
    assert await queue.push(event(2)) == PushEventResult(accepted=False, reason="backpressure")
    with anyio.move_on_after(0) as waiting:
        await queue.turn(turn(3))
    assert waiting.cancelled_caught
    async with queue.running(), anyio.create_task_group() as tasks:
        tasks.start_soon(queue.turn, turn(4))
        while len(done) < 2:
            await anyio.lowlevel.checkpoint()
    assert done == [1, 4]


async def test_a_failure_is_logged_and_the_next_item_comes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    done = anyio.Event()

    async def work(item: WorkItem) -> None:
        if number_of(item) == 1:
            raise KeyError("broken")
        done.set()

    queue = WorkQueue(work)
    async with queue.running():
        answer = await queue.push(event(1))
        await queue.turn(turn(2))
        await done.wait()
    assert caplog.messages == [f"work on {answer.inference_id} failed"]
    assert caplog.records[0].exc_info is not None


async def test_workers_work_at_the_same_time() -> None:
    both = anyio.Event()
    begun: list[int] = []

    async def work(item: WorkItem) -> None:
        begun.append(number_of(item))
        if len(begun) == 2:
            both.set()
        await both.wait()

    queue = WorkQueue(work, workers=2)
    async with queue.running():
        await queue.turn(turn(1))
        await queue.turn(turn(2))
        await both.wait()
    assert begun == [1, 2]
