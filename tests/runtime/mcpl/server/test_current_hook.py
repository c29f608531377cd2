"""Which tasks the answer to a hook waits for, as far as that can be known."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context, copy_context
from typing import Any

import anyio
import pytest

from kinwire.mcpl.server.current_hook import refuse_in_hook, serve_hook
from kinwire.support.background import background, start_detached
from kinwire_protocols.jsonrpc.errors import InvalidRequestError

pytestmark = [pytest.mark.anyio, pytest.mark.spec("mcpl-10.7-1", "mcpl-10.7-2")]

Handler = Callable[[Any], Awaitable[bool]]


class FakeRequest:
    def __init__(self, id: int | None) -> None:
        self.id = id


def refused() -> bool:
    """Return whether inference is refused in the current task."""
    none: Any = None
    try:
        refuse_in_hook(none, none)
    except InvalidRequestError as error:
        return bool(error.data["retryable"])
    return False


async def answer_of(handler: Handler, program: Any, *, id: int | None = 1) -> bool:
    """Return what a handler returns that has a task of its own; `program` is a group outside."""
    found = list[bool]()
    request: Any = FakeRequest(id)

    async def serve() -> None:
        found.append(await serve_hook(program, request, handler))

    async with background() as tasks:
        tasks.start_soon(serve)
    return found[0]


async def started_in(tasks: Any) -> bool:
    """Return whether a task in this group is refused, without waiting for the group."""
    found, done = list[bool](), anyio.Event()

    async def work() -> None:
        found.append(refused())
        done.set()

    tasks.start_soon(work)
    await done.wait()
    return found[0]


async def direct(program: Any) -> bool:
    return refused()


async def group(program: Any) -> bool:
    found = list[bool]()
    async with anyio.create_task_group() as tasks:
        found.append(await started_in(tasks))
    return found[0]


async def group_in_group(program: Any) -> bool:
    found = list[bool]()

    async def inner() -> None:
        found.append(await group(program))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(inner)
    return found[0]


async def outside(program: Any) -> bool:
    return await started_in(program)


async def group_outside(program: Any) -> bool:
    found, done = list[bool](), anyio.Event()

    async def work() -> None:
        found.append(await group(program))
        done.set()

    program.start_soon(work)
    await done.wait()
    return found[0]


async def detached(program: Any) -> bool:
    found, done = list[bool](), anyio.Event()

    async def work() -> None:
        found.append(refused())
        done.set()

    start_detached(work)
    await done.wait()
    return found[0]


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        (direct, True),
        (group, True),
        (group_in_group, True),
        (outside, False),
        (group_outside, False),
        (detached, False),
    ],
)
async def test_inference_is_refused_in_the_handler_and_in_its_task_groups(
    handler: Handler, expected: bool
) -> None:
    async with background() as program:
        assert await answer_of(handler, program) is expected


async def test_a_notification_has_no_answer_that_could_wait() -> None:
    assert not await answer_of(direct, None, id=None)


async def test_a_task_that_outlives_the_handler_may_infer() -> None:
    go, found = anyio.Event(), list[bool]()

    async def work() -> None:
        await go.wait()
        found.append(refused())

    async def handler(program: Any) -> bool:
        program.start_soon(work)
        return True

    async with background() as program:
        await answer_of(handler, program)
        go.set()
    assert found == [False]
    assert not refused()


async def test_what_inherits_an_answered_hook_may_infer() -> None:
    contexts = list[Context]()

    async def handler(program: Any) -> bool:
        contexts.append(copy_context())
        return contexts[0].run(refused)

    request: Any = FakeRequest(1)
    assert await serve_hook(None, request, handler)
    assert not contexts[0].run(refused)  # in the same task, which may have got a new job


async def test_a_handler_that_fails_leaves_no_hook_open() -> None:
    async def handler(program: Any) -> bool:
        raise ValueError("bad")

    request: Any = FakeRequest(1)
    with pytest.raises(ValueError, match="bad"):
        await serve_hook(None, request, handler)
    assert not refused()


@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_tasks_of_asyncio_count_as_background() -> None:
    async def handler(program: Any) -> bool:
        async def work() -> bool:
            return refused()

        return await asyncio.create_task(work())

    assert not await answer_of(handler, None)
