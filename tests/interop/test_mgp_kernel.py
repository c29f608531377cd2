"""Servers that know nothing of MGP behind a kernel: their calls are judged, limited and audited."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from kinwire import Connection, Host, RpcError, result_text, stdio
from kinwire.mgp import CallLimit, MgpKernel, ServerPolicy, ToolPolicy
from tests.interop.conftest import required
from tests.interop.peers import npm_server
from tests.runtime.mgp.fixtures_kernel import AuditEvents, audited

pytestmark = [pytest.mark.interop, pytest.mark.anyio]

TIMEOUT = 60.0  # seconds


@asynccontextmanager
async def behind(
    kernel: MgpKernel, name: str, *words: str
) -> AsyncGenerator[tuple[Connection, AuditEvents]]:
    """Yield a guarded connection to a server of npm, and the audit events."""
    command = required(lambda: npm_server(name))
    with audited() as events, anyio.fail_after(TIMEOUT):
        async with Host("h", "1", extensions=[kernel]) as host:
            transport = stdio(*command, *words, stderr="discard")
            yield await host.connect(transport, server_id=name), events


async def call(connection: Connection, name: str, **arguments: Any) -> str | int:
    """Return the text of the result, or the code of the error."""
    try:
        result = await connection.mcp.tools_call(name=name, arguments=arguments)
    except RpcError as error:
        return error.code
    return result_text(result)


@pytest.mark.spec("mgp-8.2-2", "mgp-1.3-3")
async def test_server_filesystem(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("alpha", encoding="utf-8")
    policy = ServerPolicy(
        confirm=[],
        tools={
            "write_file": ToolPolicy(validator="readonly"),
            "move_file": ToolPolicy(enabled=False),
            "list_directory": ToolPolicy(rate=CallLimit(1, 3600)),
        },
    )
    kernel = MgpKernel(servers={"filesystem": policy})
    await kernel.access.grant("agent.a", "filesystem", "deny", tool="edit_file")
    file = str(tmp_path / "a.txt")
    async with behind(kernel, "filesystem", str(tmp_path)) as (connection, events):
        with kernel.acting_for("agent.a"):
            listed = {tool.name async for tool in connection.tools()}
            assert "alpha" in str(await call(connection, "read_text_file", path=file))
            assert "a.txt" in str(await call(connection, "list_directory", path=str(tmp_path)))
            codes = [
                await call(connection, "list_directory", path=str(tmp_path)),
                await call(connection, "write_file", path=file, content="beta"),
                await call(connection, "edit_file", path=file, edits=[]),
                await call(connection, "move_file", source=file, destination=f"{file}.b"),
                await call(connection, "read_text_file", path=7),
                await call(connection, "remove_everything"),
            ]
        risks = {name: tool.risk for name, tool in kernel.servers[0].tools.items()}
    assert codes == [3000, 1010, 1001, 4002, 4000, 4001]
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "alpha"
    assert {"edit_file", "move_file"}.isdisjoint(listed)
    assert {"read_text_file", "write_file"} < listed
    assert (risks["read_text_file"], risks["write_file"]) == ("safe", "dangerous")
    assert [one["event_type"] for one in events.of_calls] == [
        *["TOOL_EXECUTED"] * 2,
        "TOOL_BLOCKED",
        "VALIDATION_FAILED",
        *["TOOL_BLOCKED"] * 4,
    ]


async def test_server_everything() -> None:
    kernel = MgpKernel(unknown=ServerPolicy(trust="sandboxed", confirm=[]))
    await kernel.access.grant("host", "everything", tool="echo")
    async with behind(kernel, "everything") as (connection, events):
        assert await call(connection, "echo", message="hello") == "Echo: hello"
        assert await call(connection, "get-sum", a=1, b=2) == 1001  # opt-in
        assert [tool.name async for tool in connection.tools()] == ["echo"]
        assert (await connection.mcp.prompts_list()).prompts  # calls of tools alone are guarded
    assert [one["event_type"] for one in events.of_calls] == ["TOOL_EXECUTED", "TOOL_BLOCKED"]
    assert len(events.of("SERVER_CONNECTED", "SERVER_DISCONNECTED")) == 2
