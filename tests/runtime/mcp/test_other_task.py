"""Blocks of connections that end in another task than they began in, as in fixtures of pytest."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import Connection, Host, Server, connect, pair, stdio
from kinwire.support.background import movable_background
from tests.runtime.programs import held

pytestmark = pytest.mark.anyio

Entered = Callable[[], AbstractAsyncContextManager[Any]]


def made() -> Server:
    return Server("s", "1", offers=["tools"])


class ByHost:
    """A host with a connection."""

    async def __aenter__(self) -> Connection:
        self.host = Host("h", "1")
        await self.host.__aenter__()
        return await self.host.connect(made())

    async def __aexit__(self, *error: Any) -> None:
        await self.host.__aexit__(*error)


class Kept:
    """A host that keeps a connection."""

    async def __aenter__(self) -> Connection:
        self.stack = AsyncExitStack()
        host = await self.stack.enter_async_context(Host("h", "1"))
        kept = await self.stack.enter_async_context(host.keep_connected(made))
        return kept.connection

    async def __aexit__(self, *error: Any) -> None:
        await self.stack.aclose()


WAYS: dict[str, Entered] = {
    "memory": lambda: connect(made()),
    "stdio": lambda: connect(stdio(sys.executable, str(Path(held.__file__)))),
    "a host": ByHost,
    "a kept connection": Kept,
    "a pair": lambda: pair(made()),
}


@contextmanager
def no_task_left() -> Iterator[None]:
    """Fail if the block leaves a task of asyncio behind."""
    try:
        before = asyncio.all_tasks()
    except RuntimeError:  # trio
        yield
        return
    yield
    gc.collect()
    assert asyncio.all_tasks() - before == set()


async def in_another_task(function: Callable[[], Any]) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(function)


@pytest.mark.parametrize("way", WAYS)
async def test_a_block_may_end_in_another_task(way: str) -> None:
    with no_task_left(), anyio.fail_after(10):
        stack = AsyncExitStack()
        found: list[Connection] = []

        async def enter() -> None:
            found.append(await stack.enter_async_context(WAYS[way]()))

        await in_another_task(enter)
        await found[0].mcp.ping()
        await in_another_task(stack.aclose)
        assert found[0].session.closed
        await anyio.lowlevel.checkpoint()


async def test_a_generator_may_be_closed_in_another_task() -> None:
    async def connected() -> AsyncGenerator[Connection]:
        async with connect(made()) as connection:
            yield connection

    with no_task_left(), anyio.fail_after(10):
        generator = connected()
        found: list[Connection] = []

        async def begin() -> None:
            found.append(await anext(generator))

        await in_another_task(begin)
        await found[0].mcp.ping()
        await in_another_task(generator.aclose)
        assert found[0].session.closed
        await anyio.lowlevel.checkpoint()


async def test_a_cancelled_block_closes_its_connection() -> None:
    with anyio.fail_after(10):
        with anyio.CancelScope() as scope:
            async with connect(made()) as connection:
                scope.cancel()
                await anyio.sleep_forever()
        assert connection.session.closed


async def test_an_error_of_the_block_is_not_wrapped() -> None:
    with pytest.raises(KeyError, match="mine"):
        async with connect(made()):
            raise KeyError("mine")


async def test_an_error_of_a_task_is_raised_at_the_end() -> None:
    async def fail() -> None:
        raise KeyError("theirs")

    stopped = anyio.Event()

    async def wait() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()

    async def run() -> None:
        async with movable_background() as tasks:
            tasks.start_soon(wait)
            tasks.start_soon(fail)
            await stopped.wait()

    with pytest.raises(ExceptionGroup) as caught:
        await run()
    assert [str(error) for error in caught.value.exceptions] == ["'theirs'"]
