"""How many calls the interpreter makes for one call of a tool: see `tests/runtime`."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

from kinwire.mcplite.rules.calls import ToolCall
from kinwire.mcplite.rules.grpc_messages import encoded_call
from kinwire.mcplite.server.grpc_calls import GrpcCalls
from kinwire.mcplite.server.service import LiteServer
from kinwire.transports.grpc.limits import GrpcLimits
from tests.each import each
from tests.runtime.test_call_ceiling import RoundTrip, calls_of, echo_server, pytestmark

__all__ = ("pytestmark",)


@asynccontextmanager
async def call_of_the_core() -> AsyncIterator[RoundTrip]:
    """What both bindings do for a call, without what each does by itself."""
    service = LiteServer(echo_server())
    yield partial(service.call, ToolCall("echo", {"text": "x" * 100}))


@asynccontextmanager
async def request_over_http() -> AsyncIterator[RoundTrip]:
    """One request to the application, without a socket and the work of a client."""
    params = {"name": "echo", "arguments": {"text": "x" * 100}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    part = {"type": "http.request", "body": json.dumps(call).encode(), "more_body": False}
    headers = [
        (b"host", b"127.0.0.1:8000"),
        (b"content-type", b"application/json"),
        (b"accept", b"application/json"),
    ]
    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": "/calltools"}
    scope["headers"] = headers
    sent: deque[MutableMapping[str, Any]] = deque(maxlen=2)

    async def receive() -> MutableMapping[str, Any]:
        return part

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    app = LiteServer(echo_server()).asgi()
    yield partial(app, scope, receive, send)
    assert sent[0]["status"] == 200
    await app.aclose()


class _GrpcContext:
    """The context of a call that has a deadline; what is written goes nowhere."""

    def time_remaining(self) -> float:
        return 60.0

    async def write(self, message: bytes) -> None:
        assert message


def _grpc_call(name: str, method: str, arguments: dict[str, Any]) -> RoundTrip:
    server = echo_server()

    @server.tool
    async def parts(count: int) -> AsyncIterator[str]:
        """Return a text many times."""
        for _ in range(count):
            yield "text"

    calls: Any = GrpcCalls(LiteServer(server), None, GrpcLimits())
    request = encoded_call(ToolCall(name, arguments))
    return partial(getattr(calls, method), request, _GrpcContext())


@asynccontextmanager
async def call_over_grpc() -> AsyncIterator[RoundTrip]:
    """One call of the service, without the library that carries it."""
    yield _grpc_call("echo", "_call_tool", {"text": "x" * 100})


@asynccontextmanager
async def stream_over_grpc() -> AsyncIterator[RoundTrip]:
    """One call of the service that is answered in a hundred parts."""
    yield _grpc_call("parts", "_call_tool_stream", {"count": 100})


@each(
    ("connected", "ceiling"),
    [
        (call_of_the_core, 27),
        (request_over_http, 99),
        (call_over_grpc, 101),
        (stream_over_grpc, 3561),
    ],
)
def test_a_call_takes_no_more_calls(
    connected: Callable[[], AbstractAsyncContextManager[RoundTrip]], ceiling: int
) -> None:
    """Lower a ceiling when a change allows it."""
    assert asyncio.run(calls_of(connected)) <= ceiling
