"""`kinwire serve demo mcp-lite`: over which transports, and which options are refused."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from kinwire.mcplite import LiteServer
from kinwire.mcplite.rules.calls import ToolCall
from kinwire_cli.demos import server_of
from tests.cli.fixtures_scripts import ran
from tests.each import each

SERVE = ("serve", "demo", "mcp-lite")


def test_http_and_grpc_are_served_together_until_a_signal(tmp_path: Path) -> None:
    grpc = pytest.importorskip("grpc")
    words = ("--transport", "http", "--transport", "grpc", "--port", "0", "--grpc-port", "0")
    command = (sys.executable, "-m", "kinwire", *SERVE, *words)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline() + process.stderr.readline()
        try:
            web = re.search(r"http://127\.0\.0\.1:\d+/mcp-lite/v1/", said)
            other = re.search(r"grpc://(127\.0\.0\.1:\d+)", said)
            assert web is not None, said
            assert other is not None, said
            fields = {"Content-Type": "application/json"}
            with urllib.request.urlopen(
                urllib.request.Request(f"{web[0]}listtools", b"{}", fields), timeout=10
            ) as response:
                names = [tool["name"] for tool in json.loads(response.read())["tools"]]
            assert names[:2] == ["redeem", "search_documents"]
            with grpc.insecure_channel(other[1]) as channel:
                tools = channel.unary_unary("/mcplite.MCPLite/GetTools")(b"", timeout=10)
            assert b"search_documents" in tools
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


@each(
    ("words", "text"),
    [
        ((*SERVE, "--transport", "stdio"), "not served over stdio"),
        ((*SERVE, "--transport", "http", "--transport", "ws"), "not served over ws"),
        ((*SERVE, "--grpc-port", "1"), "--grpc-port: for grpc alone"),
        ((*SERVE, "--transport", "grpc", "--path", "/x"), "--port and --path: for http alone"),
        ((*SERVE, "--transport", "http", "--port", "65536"), "Cannot listen"),
        ((*SERVE, "--host", "0.0.0.0"), "without TLS"),
        ((*SERVE, "other"), "has no server 'other'"),
        (("serve", "demo", "mcp", "--transport", "grpc"), "Only MCP-lite is served over gRPC"),
        (("serve", "demo", "mcp", "--grpc-port", "1"), "Only MCP-lite is served over gRPC"),
        (("serve", "demo", "mcp", "--transport", "http", "--transport", "ws"), "expected one"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], text: str
) -> None:
    code, _, err = ran(capsys, *words)
    assert (code, text in err) == (2, True), err


@pytest.mark.anyio
@each(
    ("name", "arguments", "kind"),
    [
        ("search_documents", {"query": "mcp", "limit": 1}, "answer"),
        ("generate_report", {"topic": "q"}, "answer"),
        ("analyze_dataset", {"dataset_id": "d", "seconds": 0}, "promise"),
        ("write_letter", {"to": "Ada"}, "elicitation"),
        ("divide", {"a": 1, "b": 0}, "failure"),
    ],
)
async def test_the_demo_has_a_tool_for_each_kind_of_response(
    name: str, arguments: dict[str, Any], kind: str
) -> None:
    lite = LiteServer(server_of("mcp-lite"))
    result = await lite.call(ToolCall(name, arguments))
    assert result["_meta"]["response_type"] == kind
    await lite.close()
