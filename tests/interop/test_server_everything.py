"""Our command and our host use npm's `@modelcontextprotocol/server-everything` over stdio."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from kinwire import connect, stdio
from kinwire_protocols import mcp
from kinwire_protocols.base import UnknownVariant
from tests.interop.recording import Recorded

pytestmark = pytest.mark.interop

SOME_OF_ITS_TOOLS = {"echo", "get-sum", "get-tiny-image", "trigger-long-running-operation"}
TIMEOUT = 60.0  # seconds


def kinwire(*words: str, server: Recorded) -> subprocess.CompletedProcess[str]:
    """Run a subcommand of our command against `server`."""
    return subprocess.run(
        (sys.executable, "-m", "kinwire", *words, "--", *server.words),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )


def text_of(result: Any) -> str:
    content = result["content"][0]
    assert content["type"] == "text"
    return str(content["text"])


def test_the_command_lists_its_tools(everything: Recorded) -> None:
    done = kinwire("list", "--format", "json", server=everything)
    assert done.returncode == 0, done.stderr
    assert {tool["name"] for tool in json.loads(done.stdout)} > SOME_OF_ITS_TOOLS


def test_the_command_calls_a_tool_with_typed_arguments(everything: Recorded) -> None:
    done = kinwire("call", "get-sum", "a=1", "b=2.5", server=everything)
    assert done.returncode == 0, done.stderr
    assert text_of(json.loads(done.stdout)) == "The sum of 1 and 2.5 is 3.5."


def test_the_command_shows_progress_with_the_answer(everything: Recorded) -> None:
    call = ("call", "trigger-long-running-operation", "duration=0.2", "steps=2")
    done = kinwire(*call, server=everything)
    assert done.returncode == 0, done.stderr
    assert "completed" in text_of(json.loads(done.stdout))
    shown = [line for line in done.stderr.splitlines() if line.startswith("progress")]
    assert len(shown) == 2


def test_the_command_ends_with_5_when_a_tool_fails(everything: Recorded) -> None:
    done = kinwire("call", "tools/call", "name=nosuch", server=everything)
    assert done.returncode == 5, done.stderr
    assert "nosuch" in text_of(json.loads(done.stdout))


@pytest.mark.anyio
async def test_content_of_a_later_version_is_kept_as_it_came(
    everything: Recorded,
) -> None:
    name, arguments = "get-resource-links", {"count": 1}
    async with connect(stdio(*everything.words)) as server:
        known, later = (await server.mcp.tools_call(name=name, arguments=arguments)).content
        call = {"name": name, "arguments": arguments}
        content = (await server.session.raw("tools/call", call))["content"]
    assert isinstance(known, mcp.TextContent)
    assert isinstance(later, UnknownVariant)
    assert [known.type, later.fields] == ["text", content[1]]
    assert later.fields["type"] == "resource_link"


@pytest.mark.anyio
async def test_a_host_lists_and_calls_its_tools(everything: Recorded) -> None:
    async with connect(stdio(*everything.words)) as server:
        assert server.protocol_version == "2024-11-05"
        assert server.server_info.name == "mcp-servers/everything"
        tools = {tool.name for tool in (await server.mcp.tools_list()).tools}
        assert tools > SOME_OF_ITS_TOOLS
        message = "grüße, 世界 \U0001f600\u2028"
        echoed = await server.mcp.tools_call(name="echo", arguments={"message": message})
        assert [content.text for content in texts(echoed)] == [f"Echo: {message}"]
        image = await server.mcp.tools_call(name="get-tiny-image", arguments={})
        assert any(isinstance(content, mcp.ImageContent) for content in image.content)


@pytest.mark.anyio
async def test_a_host_sees_the_progress_of_a_long_call(everything: Recorded) -> None:
    seen: list[tuple[float, float | None]] = []

    def note(report: mcp.ProgressNotificationParams) -> None:
        seen.append((report.progress, report.total))

    async with connect(stdio(*everything.words)) as server:
        result = await mcp.ServerStub(server.with_options(on_progress=note)).tools_call(
            name="trigger-long-running-operation", arguments={"duration": 0.3, "steps": 3}
        )
    assert not result.is_error
    assert seen == [(1, 3), (2, 3), (3, 3)]


def texts(result: mcp.CallToolResult) -> list[mcp.TextContent]:
    return [content for content in result.content if isinstance(content, mcp.TextContent)]
