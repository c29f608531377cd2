"""Sessions of a few requests: they begin and end without tasks, and leave nothing behind."""

from __future__ import annotations

import asyncio
import gc
from contextvars import ContextVar
from weakref import ref

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire.mcp.server_session import ServerSession
from kinwire.rpc.limits import Limits
from tests.runtime.mcp.http.conftest import Tools
from tests.runtime.mcp.http.fake_asgi_client import Client, Open, initialize, message

pytestmark = pytest.mark.anyio

asyncio_only = pytest.mark.parametrize("anyio_backend", ["asyncio", "uvloop"], indirect=True)

CALL = message("tools/call", name="echo", arguments={"text": "hi"})
WAIT = message("tools/call", name="wait")


def session_of(tools: Tools) -> ServerSession:
    (session,) = tools.server._sessions
    return session


@asyncio_only
async def test_a_session_has_no_task_of_its_own(tools: Tools) -> None:
    before = asyncio.all_tasks()
    client = await Client(tools.server.asgi()).begin()
    assert (await client.post(CALL)).status == 200
    assert asyncio.all_tasks() == before
    over: list[int] = []
    session_of(tools).on_close(lambda: over.append(1))
    assert (await client.request("DELETE")).status == 204
    assert (over, asyncio.all_tasks()) == ([1], before)


@pytest.mark.parametrize("anyio_backend", ["asyncio", "uvloop", "trio"], indirect=True)
@pytest.mark.parametrize("running", [False, True], ids=["idle", "a handler runs"])
async def test_it_leaves_nothing_to_the_garbage_collector(tools: Tools, running: bool) -> None:
    async def use() -> list[ref[object]]:
        client = await Client(tools.server.asgi()).begin()
        session = session_of(tools)
        driver, over = session._opened(), anyio.Event()
        session.on_close(over.set)
        async with client.sent("POST", WAIT if running else CALL) as response:
            while running and not tools.running:
                await checkpoint()
            assert (await client.request("DELETE")).status == 204
            await response.until("ended")
            await over.wait()
        kept: list[object] = [session, driver, driver.engine, driver.engine.outbox]
        return [ref(one) for one in [*kept, session.handshake, session._transport]]

    gc.collect()
    gc.disable()
    try:
        left = await use()
        for _ in range(20):  # what is left of tasks ends in the background
            await checkpoint()
        assert [one() for one in left] == [None] * 6
    finally:
        gc.enable()


async def test_a_handler_that_runs_may_finish_and_the_session_is_over_then(tools: Tools) -> None:
    tools.server.limits = Limits(drain=5)
    client = await Client(tools.server.asgi()).begin()
    over = anyio.Event()
    session_of(tools).on_close(over.set)
    async with client.sent("POST", WAIT) as response:
        while not tools.running:
            await checkpoint()
        assert (await client.request("DELETE")).status == 204
        assert (await client.post(CALL)).status == 404
        assert not over.is_set()
        tools.go_on.set()
        await response.until("ended")
        assert response.answer["result"]["content"][0]["text"] == "done"
        await over.wait()
    assert not tools.server._sessions


async def test_what_fails_at_the_end_is_logged_and_ends_the_session(
    tools: Tools, caplog: pytest.LogCaptureFixture
) -> None:
    app = tools.server.asgi()
    client = await Client(app).begin()

    def fail() -> None:
        raise ZeroDivisionError

    session_of(tools).on_close(fail)
    assert (await client.request("DELETE")).status == 204
    with anyio.fail_after(5):
        await app.aclose()
    assert "a session has failed" in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert not tools.server._sessions


async def test_a_session_keeps_nothing_of_the_request_that_began_it(tools: Tools) -> None:
    class Of:
        """What a middleware sets for one request."""

    request: ContextVar[Of | None] = ContextVar("request", default=None)
    client, response = Client(tools.server.asgi()), Open()
    request.set(Of())
    kept = ref(request.get())
    await client._call("POST", initialize(), {}, response)  # `post` has timers in this context
    request.set(None)
    client.session = response.headers["mcp-session-id"]
    await checkpoint()
    gc.collect()
    assert kept() is None
    assert (await client.post(message("ping"))).status == 200
