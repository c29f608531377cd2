"""Sessions that are over leave no reference cycles, which only the garbage collector would find."""

from __future__ import annotations

import gc
from weakref import ref

import pytest
from anyio.lowlevel import checkpoint

from tests.runtime.rpc.fixtures_sessions import connected, echo, tool

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("anyio_backend", ["asyncio", "uvloop", "trio"], indirect=True)
async def test_a_session_that_is_over_leaves_nothing_to_the_garbage_collector() -> None:
    async def use() -> list[ref[object]]:
        async with connected(tool(echo)) as peers:
            await peers.client.raw("ping")
        drivers = [peers.client._opened(), peers.server._opened()]
        engines = [driver.engine for driver in drivers]
        return [ref(one) for one in (peers.client, peers.server, *drivers, *engines)]

    gc.disable()
    try:
        kept = await use()
        for _ in range(20):  # the tasks of the session end in the background
            await checkpoint()
        assert [one() for one in kept] == [None] * 6
    finally:
        gc.enable()
