"""The other side of gRPC, with messages that protoc compiles: they hold no code of this project."""

from __future__ import annotations

__all__ = (
    "IN_TIME",
    "Json",
    "Peer",
    "as_json",
    "connected",
    "details_of",
    "kind_of",
    "message",
    "request_of",
    "serving",
)

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import grpc
import grpc.aio
from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2, status_pb2  # type: ignore[import-untyped]

from kinwire.mcplite.server.service import LiteServer
from tests.absent import absent

PROTO = Path(__file__).parents[3] / "generated" / "proto" / "mcplite.proto"
IN_TIME = 10.0

Json = dict[str, Any]


@cache
def compiled() -> DescriptorPool:
    """Return what protoc makes of the generated `.proto`."""
    try:
        from grpc_tools import protoc  # type: ignore[import-untyped]
    except ImportError:
        absent("needs the compiler of grpcio-tools")
    includes = (f"-I{PROTO.parent}", f"-I{Path(protoc.__file__).parent / '_proto'}")
    with TemporaryDirectory() as folder:
        target = Path(folder, "set.binpb")
        options = (*includes, "--include_imports", f"--descriptor_set_out={target}")
        assert protoc.main(["protoc", *options, PROTO.name]) == 0
        files = FileDescriptorSet.FromString(target.read_bytes()).file
    pool = DescriptorPool()
    for file in files:
        pool.Add(file)
    return pool


def message(kind: str, value: Json | None = None) -> Any:
    """Return a message with the fields of `value`, in the JSON of Protocol Buffers."""
    return json_format.ParseDict(value or {}, kind_of(kind)())


def kind_of(kind: str) -> Any:
    return GetMessageClass(compiled().FindMessageTypeByName(f"mcplite.{kind}"))


def as_json(value: Any) -> Json:
    """Return what a message has, in the JSON of Protocol Buffers."""
    return json_format.MessageToDict(value, preserving_proto_field_name=True)


class Peer:
    """A client of the service."""

    def __init__(self, channel: grpc.aio.Channel, *metadata: tuple[str, str]) -> None:
        self.channel = channel
        self.metadata = metadata

    def __call__(self, method: str, request: Any, *, timeout: float | None = IN_TIME) -> Any:
        """Begin a call; `request` is a message, or its bytes."""
        stream = method == "CallToolStream"
        kind = self.channel.unary_stream if stream else self.channel.unary_unary
        reply = kind_of("ToolsList" if method == "GetTools" else "ToolResponse")
        start: Any = kind(f"/mcplite.MCPLite/{method}", None, reply.FromString)
        body = request if isinstance(request, bytes) else request.SerializeToString()
        return start(body, metadata=self.metadata, timeout=timeout)

    async def tools(self) -> list[Json]:
        """List the tools."""
        listed: list[Json] = as_json(await self("GetTools", message("Empty"))).get("tools", [])
        return listed

    async def call(
        self, name: str, arguments: Json | None = None, meta: Json | None = None, **options: Any
    ) -> Json:
        """Call a tool."""
        return as_json(await self("CallTool", request_of(name, arguments, meta), **options))

    async def stream(
        self, name: str, arguments: Json | None = None, meta: Json | None = None
    ) -> list[Json]:
        """Call a tool and return all messages."""
        call = self("CallToolStream", request_of(name, arguments, meta))
        return [as_json(part) async for part in call]

    async def refusal(self, name: str, arguments: Json | None = None, **options: Any) -> Any:
        """Return the error that a call ends with."""
        try:
            found = await self.call(name, arguments, **options)
        except grpc.aio.AioRpcError as error:
            return error
        raise AssertionError(f"the call has a result: {found}")


def request_of(name: str, arguments: Json | None = None, meta: Json | None = None) -> Any:
    """Return a `ToolRequest`."""
    given = {"name": name, "arguments": arguments, "meta": meta}
    return message("ToolRequest", {key: one for key, one in given.items() if one is not None})


def details_of(error: grpc.aio.AioRpcError) -> tuple[str, str, dict[str, str]]:
    """Return reason, domain and metadata of the `ErrorInfo` that came with a status."""
    found = dict(error.trailing_metadata() or ())["grpc-status-details-bin"]
    status: Any = status_pb2.Status.FromString(found)
    assert (status.code, status.message) == (error.code().value[0], error.details())
    info: Any = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    return info.reason, info.domain, dict(info.metadata)


@asynccontextmanager
async def serving(service: LiteServer, **options: Any) -> AsyncGenerator[str]:
    """Yield the address of `service`."""
    ready, found = anyio.Event(), list[str]()

    def started(address: str) -> None:
        found.append(address)
        ready.set()

    async def serve() -> None:
        await service.serve_grpc(port=0, started=started, **options)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        with anyio.fail_after(IN_TIME):
            await ready.wait()
            yield found[0]
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def connected(
    service: LiteServer, *metadata: tuple[str, str], **options: Any
) -> AsyncGenerator[Peer]:
    """Yield a client of `service`."""
    async with serving(service, **options) as address:
        where = address.removeprefix("grpc://")
        async with grpc.aio.insecure_channel(where) as channel:
            yield Peer(channel, *metadata)
