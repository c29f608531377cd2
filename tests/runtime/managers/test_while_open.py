"""Work for one connection ends with it."""

from __future__ import annotations

from functools import partial

import anyio
import pytest

from kinwire import Host, Server
from kinwire.managers.while_open import while_open

pytestmark = pytest.mark.anyio


async def test_work_ends_with_its_connection_and_the_connection_does_not_wait_for_it() -> None:
    began, done = anyio.Event(), list[str]()

    async def endless() -> None:
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            done.append("cancelled")

    async def short() -> None:
        done.append("short")

    with anyio.fail_after(20):
        async with Host("h", "1") as host:
            connection = await host.connect(Server("s", "1"))
            for work in (short, endless):
                connection.session.start_soon(partial(while_open, connection.session, work))
            await began.wait()
            start = anyio.current_time()
        assert anyio.current_time() - start < 0.5  # `Limits.drain` is a second
    assert done == ["short", "cancelled"]
