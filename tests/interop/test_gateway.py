"""Plain clients of others find and call tools of server-filesystem through a gateway of ours."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.interop import runs
from tests.interop.conftest import required
from tests.interop.listening import listening
from tests.interop.peers import npm_server

pytestmark = pytest.mark.interop

QUERY = "read a text file"
TOOL = "filesystem__read_text_file"
TEXT = "grüße, 世界 \U0001f600"


@pytest.fixture
def gateway(tmp_path: Path) -> tuple[str, ...]:
    """Return the command of a gateway before server-filesystem; it may look into `tmp_path`."""
    program, *words = (*required(lambda: npm_server("filesystem")), str(tmp_path))
    (tmp_path / "note.txt").write_text(TEXT, encoding="utf-8")
    lines = [f"command = {json.dumps(program)}", f"args = {json.dumps(words)}"]
    config = tmp_path / "mgp.toml"
    config.write_text("\n".join(["[[servers]]", 'id = "filesystem"', *lines, ""]), encoding="utf-8")
    kernel = ("-c", str(config), "--socket", str(tmp_path / "private" / "kernel"))
    return (sys.executable, "-m", "kinwire", "gateway", *kernel)


def texts(result: Any) -> str:
    """Return the text of a result of a tool."""
    assert not result.get("isError"), result
    return "".join(block.get("text", "") for block in result["content"])


def check(listed: Iterable[str], found: Any, called: Any) -> None:
    """The tool was not listed, a search found it, and it read the file."""
    names = list(listed)
    assert "mgp_tools_discover" in names
    assert TOOL not in names
    assert TOOL in texts(found)
    assert TEXT in texts(called)


@pytest.mark.spec("mgp-16.3-5")
def test_a_client_on_mcp_2(gateway: tuple[str, ...], tmp_path: Path) -> None:
    arguments = json.dumps({"path": str(tmp_path / "note.txt")})
    words = (json.dumps(gateway), QUERY, TOOL, arguments)
    found = required(lambda: runs.program("mcp2", "mcp2_gateway_client.py", *words))
    check(found["listed"], found["found"], found["called"])
    assert TEXT in texts(found["again"])  # under the name of the tool


def test_the_inspector(gateway: tuple[str, ...], tmp_path: Path) -> None:
    called = {"name": TOOL, "arguments": {"path": str(tmp_path / "note.txt")}}
    command = (*gateway, "--transport", "http", "--port", "0")
    call = ("--method", "tools/call", "--tool-name")
    lines = (
        ("--method", "tools/list"),
        (*call, "mgp_tools_discover", "--tool-arg", f"query={QUERY}"),
        (
            *call,
            "mgp_tools_call",
            *(f"--tool-arg={key}={json.dumps(one)}" for key, one in called.items()),
        ),
    )
    with listening(command, tmp_path) as server:
        options = ("--transport", "http", "--server-url", server.url("/mcp"))
        listed, *results = required(lambda: runs.inspected(lines, tmp_path, options))
    check((tool["name"] for tool in listed["tools"]), *results)
