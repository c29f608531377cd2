"""Where the gRPC binding listens, how it ends, and how it describes itself."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import grpc
import grpc.aio
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from kinwire import InsecureAddressError, KinwireError, Server
from kinwire.mcplite.server.service import LiteServer
from kinwire.transports.grpc.limits import GrpcLimits
from tests.runtime.mcplite.fixtures_grpc import IN_TIME, Json, Peer, connected, serving
from tests.runtime.transports.fixtures_certificates import made_certificate, needs_openssl

pytestmark = [pytest.mark.anyio]
on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)

PROGRAM = Path(__file__).parents[1] / "programs" / "grpc_service.py"


def service_with(*tools: Any) -> LiteServer:
    server = Server("listener", "1")
    for tool in tools:
        server.tool(tool)
    return LiteServer(server)


def hello() -> str:
    """Say hello."""
    return "hello"


@pytest.mark.parametrize("anyio_backend", ["trio"], indirect=True)
async def test_another_loop_than_asyncio_is_refused() -> None:
    with pytest.raises(KinwireError, match="asyncio only"):
        await service_with(hello).serve_grpc(port=0)


@on_asyncio
async def test_what_cannot_be_listened_on_is_refused(tmp_path: Path) -> None:
    service = service_with(hello)
    with pytest.raises(InsecureAddressError, match="listen on"):
        await service.serve_grpc("0.0.0.0", 0)
    with pytest.raises(ValueError, match="port: expected"):
        await service.serve_grpc(port="50051")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="limits: expected GrpcLimits"):
        await service.serve_grpc(port=0, limits=5)  # type: ignore[arg-type]
    with pytest.raises(OSError, match=r"nothing\.pem"):
        await service.serve_grpc(port=0, certfile=str(tmp_path / "nothing.pem"))
    (tmp_path / "text.pem").write_text("no certificate")
    with pytest.raises(OSError, match="PEM"):
        await service.serve_grpc(port=0, certfile=str(tmp_path / "text.pem"))
    async with serving(service) as address:
        taken = int(address.rpartition(":")[2])
        with pytest.raises(OSError, match=f"Nobody can listen on 127.0.0.1:{taken}"):
            await service.serve_grpc(port=taken)


@on_asyncio
async def test_a_client_that_answers_no_ping_loses_its_connection() -> None:
    settings = b"\0\0\0\4\0\0\0\0\0"
    async with serving(service_with(hello), limits=GrpcLimits(keepalive=1)) as address:
        stream = await anyio.connect_tcp("127.0.0.1", int(address.rpartition(":")[2]))
        with anyio.fail_after(IN_TIME):
            async with stream:
                await stream.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings)
                with suppress(anyio.BrokenResourceError):
                    async for _ in stream:
                        pass


@on_asyncio
async def test_calls_under_way_end_before_the_server_does() -> None:
    begun, go_on, found = anyio.Event(), anyio.Event(), list[Json]()

    async def slow() -> str:
        """Wait."""
        begun.set()
        await go_on.wait()
        return "done"

    async def look(address: str, end: anyio.CancelScope, ended: anyio.Event) -> None:
        async with grpc.aio.insecure_channel(address) as channel, anyio.create_task_group() as own:
            own.start_soon(_add, found, Peer(channel).call("slow"))
            await begun.wait()
            end.cancel()
            await _closed(address)
            own_connection = [("grpc.use_local_subchannel_pool", 1)]
            async with grpc.aio.insecure_channel(address, own_connection) as other:
                refused = await Peer(other).refusal("hello", timeout=1)
            assert refused.code() is grpc.StatusCode.UNAVAILABLE
            assert not ended.is_set()
            go_on.set()

    with anyio.fail_after(IN_TIME):
        await _served_until_cancelled(service_with(slow, hello), look)
    assert found[0]["result"]["content"] == [{"type": "text", "text": "done"}]


async def _closed(address: str) -> None:
    """Wait until nobody listens there."""
    host, _, port = address.rpartition(":")
    with suppress(OSError):
        while True:
            async with await anyio.connect_tcp(host, int(port)):
                pass


async def _add(found: list[Json], answer: Awaitable[Json]) -> None:
    found.append(await answer)


async def _served_until_cancelled(
    service: LiteServer,
    look: Callable[[str, anyio.CancelScope, anyio.Event], Awaitable[None]],
) -> None:
    """Serve, and hand out the address, the scope to cancel, and when the server has ended."""
    addresses, ready = list[str](), anyio.Event()
    scope, ended = anyio.CancelScope(), anyio.Event()

    def started(address: str) -> None:
        addresses.append(address.removeprefix("grpc://"))
        ready.set()

    async def serve() -> None:
        with scope:
            await service.serve_grpc(port=0, started=started)
        ended.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        await ready.wait()
        await look(addresses[0], scope, ended)


@on_asyncio
async def test_work_that_does_not_end_is_cancelled_at_the_end() -> None:
    begun, cancelled = anyio.Event(), anyio.Event()

    async def wait() -> None:
        """Never end."""
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    service, limits = service_with(wait), GrpcLimits(drain=0)
    with anyio.fail_after(IN_TIME):
        async with anyio.create_task_group() as tasks:
            async with connected(service, limits=limits) as peer:
                tasks.start_soon(peer.refusal, "wait")
                await begun.wait()
            await cancelled.wait()


@on_asyncio
@pytest.mark.spec("mcp-lite-5-1")
async def test_a_reflection_client_lists_and_describes_the_service() -> None:
    async with connected(service_with(hello), authenticate=lambda token: None) as peer:
        make: Any = reflection_pb2_grpc.ServerReflectionStub
        stub = make(peer.channel)
        asked = [
            reflection_pb2.ServerReflectionRequest(list_services=""),
            reflection_pb2.ServerReflectionRequest(file_containing_symbol="mcplite.MCPLite"),
            reflection_pb2.ServerReflectionRequest(file_by_filename="google/protobuf/struct.proto"),
        ]
        listed, described, imported = [
            reply async for reply in stub.ServerReflectionInfo(iter(asked), timeout=IN_TIME)
        ]
    names = [one.name for one in listed.list_services_response.service]
    assert names == ["grpc.reflection.v1alpha.ServerReflection", "mcplite.MCPLite"]
    file = FileDescriptorProto.FromString(
        described.file_descriptor_response.file_descriptor_proto[0]
    )
    assert [(one.name, one.server_streaming) for one in file.service[0].method] == [
        ("GetTools", False),
        ("CallTool", False),
        ("CallToolStream", True),
    ]
    assert imported.file_descriptor_response.file_descriptor_proto


@needs_openssl
@on_asyncio
async def test_tls_is_on_with_a_certificate(tmp_path: Path) -> None:
    file = made_certificate(tmp_path)
    async with serving(service_with(hello), certfile=str(file)) as address:
        assert address.startswith("grpcs://")
        port = address.rpartition(":")[2]
        trusted = grpc.ssl_channel_credentials(file.read_bytes())
        async with grpc.aio.secure_channel(f"localhost:{port}", trusted) as channel:
            assert (await Peer(channel).call("hello"))["meta"]
        async with grpc.aio.insecure_channel(f"localhost:{port}") as channel:
            error = await Peer(channel).refusal("hello", timeout=2)
        assert error.code() is grpc.StatusCode.UNAVAILABLE


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["slow", "stubborn", "blocked"])
def test_a_program_ends_with_its_calls_at_sigterm(tool: str) -> None:
    started = subprocess.Popen(
        [sys.executable, str(PROGRAM)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with started as process:
        try:
            assert process.stderr is not None
            address = process.stderr.readline().split()[-1].removeprefix("grpc://")
            found = anyio.run(_call_and_stop, address, process, tool)
            assert process.wait(timeout=IN_TIME) == 0
        except BaseException:
            process.kill()
            raise
    assert found == ("done" if tool == "slow" else "UNAVAILABLE")


async def _call_and_stop(address: str, process: subprocess.Popen[str], tool: str) -> str:
    async with grpc.aio.insecure_channel(address) as channel:
        peer, found = Peer(channel), list[str]()

        async def call() -> None:
            try:
                found.append((await peer.call(tool))["result"]["content"][0]["text"])
            except grpc.aio.AioRpcError as error:
                found.append(error.code().name)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            assert process.stdout is not None
            await anyio.to_thread.run_sync(process.stdout.readline)
            process.send_signal(signal.SIGTERM)
    return found[0]
