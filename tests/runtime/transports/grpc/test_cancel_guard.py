"""Cancelled scopes end calls of gRPC, and nothing else is cancelled by that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import grpc
import grpc.aio
import pytest

from kinwire.support.errors import KinwireError
from kinwire.transports.grpc.cancel_guard import guarded
from kinwire.transports.grpc.needed import need_asyncio

pytestmark = pytest.mark.anyio

IN_TIME = 10.0


class _Peer:
    """A server that never answers, and counts what was cancelled there."""

    def __init__(self) -> None:
        self.begun = anyio.Event()
        self.cancelled = anyio.Event()

    async def wait(self, _request: bytes, _context: object) -> bytes:
        self.begun.set()
        try:
            await anyio.sleep_forever()
            return b"never"
        finally:
            self.cancelled.set()

    async def stream(self, request: bytes, context: object) -> AsyncIterator[bytes]:
        yield b"first"
        yield await self.wait(request, context)


@asynccontextmanager
async def connected(peer: _Peer) -> AsyncGenerator[grpc.aio.Channel]:
    server = grpc.aio.server()
    methods: dict[str, Any] = {
        "Wait": grpc.unary_unary_rpc_method_handler(peer.wait),
        "Stream": grpc.unary_stream_rpc_method_handler(peer.stream),
    }
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("s.S", methods)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await server.stop(None)


async def unary(channel: grpc.aio.Channel) -> bytes:
    method: Any = channel.unary_unary("/s.S/Wait")
    call = method(b"")
    return await guarded(call, call)


async def second_part(channel: grpc.aio.Channel) -> bytes:
    method: Any = channel.unary_stream("/s.S/Stream")
    call = method(b"")
    assert await guarded(call, call.read()) == b"first"
    return await guarded(call, call.read())


WAYS = [unary, second_part]


@pytest.mark.parametrize("anyio_backend", ["asyncio", "uvloop"], indirect=True)
async def test_cancelled_calls_stay_inside_the_scope_that_cancelled_them() -> None:
    for way in WAYS:
        peer = _Peer()
        async with connected(peer) as channel:
            with anyio.fail_after(IN_TIME):
                await _by_timeouts(way, channel)
                await _by_nested_scopes(way, channel)
                await _by_a_task_group(way, channel, peer)
                await _by_asyncio(way, channel)
                await peer.cancelled.wait()


async def _by_timeouts(way: Any, channel: grpc.aio.Channel) -> None:
    with anyio.move_on_after(0.02) as scope:
        await way(channel)
    assert scope.cancelled_caught
    with pytest.raises(TimeoutError), anyio.fail_after(0.02):
        await way(channel)


async def _by_nested_scopes(way: Any, channel: grpc.aio.Channel) -> None:
    with anyio.move_on_after(0.02) as outer:
        with anyio.move_on_after(IN_TIME) as inner:
            await way(channel)
        raise AssertionError("the inner scope took the exception of the outer one")
    assert (outer.cancelled_caught, inner.cancelled_caught) == (True, False)


async def _by_a_task_group(way: Any, channel: grpc.aio.Channel, peer: _Peer) -> None:
    peer.begun = anyio.Event()
    ended: list[str] = []

    async def call() -> None:
        try:
            await way(channel)
        finally:
            ended.append("call")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await peer.begun.wait()
        tasks.cancel_scope.cancel()
    assert ended == ["call"]


async def _by_asyncio(way: Any, channel: grpc.aio.Channel) -> None:
    task = asyncio.ensure_future(way(channel))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_an_answer_and_an_error_pass_through() -> None:
    class _Over:
        def cancel(self) -> bool:
            raise AssertionError("nobody cancelled it")

    async def answer() -> int:
        return 5

    async def error() -> int:
        raise ValueError("no")

    assert await guarded(_Over(), answer()) == 5
    with pytest.raises(ValueError, match="no"):
        await guarded(_Over(), error())


async def test_another_loop_than_asyncio_is_refused(anyio_backend_name: str) -> None:
    if anyio_backend_name == "asyncio":
        need_asyncio()
        return
    with pytest.raises(KinwireError, match="asyncio only"):
        need_asyncio()
