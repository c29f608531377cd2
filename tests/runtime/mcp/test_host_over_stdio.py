"""All that a host does, with a server in a child process that shares no code with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
import pytest

from kinwire.mcp.host import Host
from kinwire.mcp.sampling import Sampling, unattended
from kinwire.rpc.errors import ProtocolVersionError
from kinwire.transports.child import ChildProcess, stdio
from kinwire_protocols import mcp
from kinwire_protocols.jsonrpc.errors import InternalError
from tests.runtime.fixtures_wire import PROGRAMS

pytestmark = pytest.mark.anyio

NOTES = "file:///notes"
KITCHEN = """\
from kinwire import Server

server = Server("kitchen", "1")


@server.tool
def bake() -> str:
    raise KeyError("oven")


server.run()
"""


def asking(version: str = "2024-11-05") -> ChildProcess:
    return stdio(sys.executable, str(PROGRAMS / "asks.py"), version)


def exists(pid: int | None) -> bool:
    assert pid is not None
    return Path(f"/proc/{pid}").exists()


async def model(params: mcp.CreateMessageRequestParams) -> mcp.CreateMessageResult:
    return mcp.CreateMessageResult(
        role="assistant", content=mcp.TextContent(text="written"), model="m"
    )


async def test_the_reason_of_an_internal_error_is_on_stderr_and_not_in_the_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kitchen.py").write_text(KITCHEN)
    with anyio.fail_after(20):
        async with Host("h", "1") as host:
            client = await host.connect(stdio(sys.executable, str(tmp_path / "kitchen.py")))
            with pytest.raises(InternalError) as caught:
                await client.mcp.tools_call(name="bake")
    number = caught.value.data["correlationId"]
    assert str(caught.value).startswith(
        "Internal error. The reason is in the log of the server (on stderr by default), "
        f"with correlation id {number}."
    )
    assert "oven" not in f"{caught.value!r} {caught.value.data}"
    shown = capsys.readouterr().err
    assert f"tools/call failed (correlation id {number})" in shown
    assert "KeyError: 'oven'" in shown


async def test_one_call_makes_use_of_all_that_a_host_offers() -> None:
    sampling = Sampling(model, approve_request=unattended, approve_result=unattended)
    host = Host("h", "1", roots=[mcp.Root(uri="file:///a", name="A")], sampling=sampling)
    logged: list[mcp.LoggingMessageNotificationParams] = []
    with anyio.fail_after(20):
        async with host:
            client = await host.connect(asking(), on_log=logged.append)
            with client.changes() as changes:
                async with client.subscription(NOTES) as updates:
                    asked = client.with_options(timeout=10).mcp
                    result = await asked.tools_call(name="ask", arguments={"uri": f"{NOTES}/1"})
                    assert await anext(changes) == "tools"
                    assert await anext(updates) == f"{NOTES}/1"
            assert [tool.name async for tool in client.tools()] == ["tool 0", "tool 1", "tool 2"]
    (content,) = result.content
    assert isinstance(content, mcp.TextContent)
    _, roots, message = json.loads(content.text)
    assert roots == {"roots": [{"uri": "file:///a", "name": "A"}]}
    assert message == {
        "role": "assistant",
        "content": {"type": "text", "text": "written"},
        "model": "m",
    }
    assert [(entry.level, entry.data) for entry in logged] == [("loud", "telling")]


async def test_a_server_whose_version_nobody_speaks_is_ended() -> None:
    target = asking("2099-01-01")
    with anyio.fail_after(20):
        async with Host("h", "1") as host:
            with pytest.raises(ProtocolVersionError, match="expected 2024-11-05"):
                await host.connect(target)
            assert not exists(target.pid)
            await host.connect(asking())
