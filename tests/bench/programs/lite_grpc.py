"""MCP-lite over gRPC as users of kinwire write it, and what it must cost at least.

usage: lite_grpc.py ours|floor

`floor` is a bare service of grpc.aio: it echoes the Struct that came, and has no rules at all.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import anyio
import grpc
import grpc.aio

from kinwire import Server
from kinwire.mcplite.server.service import LiteServer
from kinwire.transports.grpc.messages import MessageClasses
from kinwire_protocols.mcplite.descriptor import FILE, SERVICE

(VARIANT,) = sys.argv[1:]

server = Server("echo", "1")


@server.tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


@server.tool
async def parts(count: int, text: str) -> AsyncIterator[str]:
    """Return the text many times, in as many parts."""
    for _ in range(count):
        yield text


CLASSES = MessageClasses(FILE)
ToolRequest: Any = CLASSES.of("ToolRequest")
ToolResponse: Any = CLASSES.of("ToolResponse")


async def bare_call(request: Any, context: Any) -> Any:
    """Echo the arguments."""
    return ToolResponse(result=request.arguments)


async def bare_stream(request: Any, context: Any) -> AsyncIterator[Any]:
    """Echo the text, in as many parts as are wanted."""
    part = ToolResponse()
    part.result.fields["partial"].string_value = request.arguments["text"]
    for _ in range(int(request.arguments["count"])):
        yield ToolResponse(result=part.result)
    yield ToolResponse(result=part.result, meta={"timestamp": 1})


async def floor() -> None:
    """Serve the bare service."""
    bare = grpc.aio.server()
    codec = {
        "request_deserializer": ToolRequest.FromString,
        "response_serializer": ToolResponse.SerializeToString,
    }
    handlers: dict[str, Any] = {
        "CallTool": grpc.unary_unary_rpc_method_handler(bare_call, **codec),
        "CallToolStream": grpc.unary_stream_rpc_method_handler(bare_stream, **codec),
    }
    bare.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, handlers)])
    tell(f"grpc://127.0.0.1:{bare.add_insecure_port('127.0.0.1:0')}")
    await bare.start()
    await bare.wait_for_termination()


def tell(address: str) -> None:
    """Say where the service is."""
    print(address.removeprefix("grpc://"), flush=True)


serve = partial(LiteServer(server).serve_grpc, port=0, started=tell)
with_loop = {"use_uvloop": True}
anyio.run(floor if VARIANT == "floor" else serve, backend_options=with_loop)
