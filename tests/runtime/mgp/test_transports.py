"""A kernel and a server of MGP in two processes, over each transport (MGP 1.4)."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest

import kinwire_cli.demos.mgp as demos
from kinwire import Connection, Host, RpcError, result_text, stdio
from kinwire.mcp.urls import transport_to
from kinwire.mgp import CallbackQuestion, Callbacks, Confirmations, MgpKernel, Permissions
from kinwire.rpc.transport import Transport
from tests.runtime.mgp.fixtures_kernel import audited
from tests.runtime.transports.fixtures_processes import serving

pytestmark = pytest.mark.anyio

FILE = Path(next(iter(demos.__path__))) / "everything.py"
slow = partial(pytest.param, marks=pytest.mark.slow)


@contextmanager
def reached(transport: str) -> Generator[Transport]:
    if transport == "stdio":
        yield stdio(sys.executable, "-m", "kinwire", "serve", str(FILE))
        return
    with serving(FILE, transport) as program:
        yield transport_to(program.url(transport), {})


async def read_a_stream(kernel: MgpKernel, connection: Connection) -> None:
    async with kernel.stream(connection, "fire_kiln", {"degrees": 900}) as stream:
        pieces = [chunk.text async for chunk in stream]
    assert pieces[:3] == ["300 degrees. ", "600 degrees. ", "900 degrees. "]
    assert "".join(pieces) == result_text(stream.result)


async def confirm(request: object) -> bool:
    return True


async def answer(question: CallbackQuestion) -> object:
    return question.options[-1] if question.type == "selection" else True


@pytest.mark.parametrize("transport", ["stdio", slow("http"), slow("sse"), slow("ws")])
@pytest.mark.spec("mgp-1.4-1", "mgp-1.3-4", "mgp-part-ii-communication-lifecycle-layer-1")
async def test_all_of_it_works_over_a_transport(transport: str) -> None:
    kernel = MgpKernel(
        confirmations=Confirmations(confirm=confirm),
        permissions=Permissions(policy="auto_approve"),
        callbacks=Callbacks(answer=answer),
    )
    await kernel.access.grant("host", "demo", "deny", tool="fetch_page")
    calls: list[tuple[str, dict[str, object], str | int]] = [
        ("recall", {"about": "kiln"}, "The kiln is hot until six."),
        ("execute_command", {"command": "ls"}, "It would execute: ls"),
        ("fetch_page", {"url": "https://example.com/"}, 1001),
        ("remember", {"fact": "Glaze is blue."}, "2 facts are known."),
        ("clear_shelf", {}, "It would clear the shelf of brushes."),
        ("absent", {}, 4001),
    ]
    with audited() as events, reached(transport) as end, anyio.fail_after(60):
        async with Host("h", "1", extensions=[kernel]) as host:
            connection = await host.connect(end, server_id="demo")
            (server,) = kernel.servers
            assert server.extensions == {
                "security",
                "audit",
                "code_safety",
                "bidirectional",
                "lifecycle",
                "streaming",
            }
            async with kernel.events(connection, ["tool.*"]) as told:
                for name, arguments, expected in calls:
                    try:
                        result = await connection.mcp.tools_call(name=name, arguments=arguments)
                        found: str | int = result_text(result)
                    except RpcError as error:
                        found = error.code
                    assert found == expected
                ends = [(await anext(told)).channel for _ in range(8)]
            assert ends == ["tool.started", "tool.completed"] * 4  # of calls that the kernel let by
            await read_a_stream(kernel, connection)
            await connection.mcp.ping()
            archived = await connection.mcp.tools_call(name="search_events", arguments={})
            lines = result_text(archived).splitlines()
    assert "TOOL_BLOCKED BLOCKED by host demo/fetch_page" in lines
    assert {"TOOL_EXECUTED", "com.example.remembered"} <= {one["event_type"] for one in events}
    granted = {one["details"].get("permission") for one in events.of("PERMISSION_GRANTED")}
    assert "shell.execute" in granted
