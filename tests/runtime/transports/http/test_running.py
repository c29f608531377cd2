"""An application that is served in the event loop of a program."""

from __future__ import annotations

import asyncio
import signal

import anyio
import pytest

from kinwire import Server
from kinwire.transports.http.running import bound, serve_on

ASKED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_it_serves_until_it_is_asked_to_stop_and_takes_no_signal() -> None:
    app = Server("s", "1").asgi(health="/healthz")
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    stop, started = anyio.Event(), anyio.Event()
    with bound("127.0.0.1", 0) as listener, anyio.fail_after(20):
        async with anyio.create_task_group() as tasks:

            async def serve() -> None:
                await serve_on(app, listener, stop, started=started.set)
                tasks.cancel_scope.cancel()

            tasks.start_soon(serve)
            await started.wait()
            assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
            reader, writer = await asyncio.open_connection(*listener.getsockname()[:2])
            writer.write(ASKED)
            assert (await reader.read()).startswith(b"HTTP/1.1 200")
            writer.close()
            stop.set()
            await anyio.sleep_forever()  # until `serve` has returned
