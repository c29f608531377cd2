"""The result of a tool that rejects code, as a raw client sees it."""

from __future__ import annotations

import json

import pytest

from kinwire import Host, Server
from kinwire.mgp import code_rejection
from kinwire_protocols import mcp
from kinwire_protocols.mgp import CodeSafety

pytestmark = pytest.mark.anyio


@pytest.mark.spec("mgp-7.4-1", "mgp-7.4-2", "mgp-7.4-3")
async def test_a_tool_answers_with_the_structured_rejection() -> None:
    server = Server("s", "1")
    safety = CodeSafety(level="strict", allowed_imports=["json"], max_code_size_bytes=100)

    @server.tool
    def run(code: str) -> mcp.CallToolResult | str:
        return code_rejection(code, safety=safety) or "ran"

    async with Host("h", "1") as host:
        connection = await host.connect(server)
        good = await connection.session.raw(
            "tools/call", {"name": "run", "arguments": {"code": "import json"}}
        )
        bad = await connection.session.raw(
            "tools/call", {"name": "run", "arguments": {"code": "import csv"}}
        )
    assert good["content"] == [{"type": "text", "text": "ran"}]
    assert bad["isError"] is True
    assert json.loads(bad["content"][0]["text"]) == {
        "status": "rejected",
        "reason": "Code validation failed",
        "violations": ["Blocked import: 'csv'"],
        "hints": {
            "blocked_imports": ["subprocess", "shutil", "socket", "ctypes"],
            "allowed_imports": ["json"],
            "max_code_size_bytes": 100,
        },
    }


def test_arguments_of_the_helper_are_checked() -> None:
    with pytest.raises(TypeError, match="code_rejection"):
        code_rejection(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r'Write code_rejection\(code, level="unrestricted"\)$'):
        code_rejection("1", level="lenient")
    assert code_rejection("import subprocess", level="unrestricted") is None
