"""Code safety over live sessions: a raw server never sees code that breaks the rules."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Connection
from kinwire.mgp import MgpKernel, ServerPolicy, ToolPolicy
from kinwire_protocols.mgp.errors import CodeSafetyViolationError
from tests.runtime.mgp.fixtures_kernel import audited, guarded, outcome
from tests.runtime.mgp.raw_peers import Json, RawServer, tool

pytestmark = pytest.mark.anyio

MGP: Json = {"version": "0.2.0", "extensions": ["security", "code_safety"]}
DECLARED: Json = {
    "level": "standard",
    "language": "python",
    "max_code_size_bytes": 200,
    "blocked_imports": ["csv"],
    "blocked_patterns": ["print("],
}
CREATE = tool(
    "create",
    "code",
    security={"risk_level": "safe", "validator": "code_safety", "code_safety": DECLARED},
)
PLAIN = tool("run_python", "code")


def kernel(**policy: Any) -> MgpKernel:
    """Return a kernel that asks for no confirmation."""
    return MgpKernel(servers={"s": ServerPolicy(confirm=[], **policy)})


async def run(connection: Connection, name: str, code: str) -> Any:
    return await connection.mcp.tools_call(name=name, arguments={"code": code})


@pytest.mark.spec("mgp-7.1-1", "mgp-7.3-1", "mgp-7.3-3")
async def test_what_a_tool_declares_is_kept() -> None:
    raw = RawServer(CREATE, mgp=MGP)
    with audited() as events:
        async with guarded(raw, kernel(code_safety="standard")) as connection:
            for code in (
                "import csv",  # blocked by the tool
                "print('x')",  # blocked by the tool
                "import subprocess",  # blocked by the kernel
                "x = 1\n" * 40,  # too large for the tool
            ):
                assert await outcome(run(connection, "create", code)) == 1011, code
            await run(connection, "create", "import json\nx = json.loads('1')")
    assert [one["arguments"]["code"][:11] for one in raw.calls] == ["import json"]
    types = [one["event_type"] for one in events.of_calls]
    assert types == ["CODE_REJECTED"] * 4 + ["TOOL_EXECUTED"]


@pytest.mark.spec("mgp-7.4-1", "mgp-7.4-2", "mgp-7.4-3")
async def test_the_error_has_the_rejection_in_its_details() -> None:
    async with guarded(RawServer(CREATE, mgp=MGP), kernel(code_safety="standard")) as connection:
        with pytest.raises(CodeSafetyViolationError) as caught:
            await run(connection, "create", "import subprocess\neval('1')\nimport csv")
    assert "create: the code is not allowed at the level 'standard'" in caught.value.message
    assert caught.value.code == 1011
    assert caught.value.data == {
        "_mgp": {
            "category": "security",
            "retryable": False,
            "details": {
                "status": "rejected",
                "reason": "Code validation failed",
                "violations": [
                    "Blocked import: 'subprocess'",
                    "Blocked pattern: 'eval('",
                    "Blocked import: 'csv'",
                ],
                "hints": {
                    "blocked_imports": ["subprocess", "shutil", "socket", "ctypes", "csv"],
                    "max_code_size_bytes": 200,
                },
            },
        }
    }


@pytest.mark.spec("mgp-7.2-1", "mgp-7.2-2", "mgp-7.2-3")
async def test_trust_and_configuration_decide_the_level() -> None:
    blocked: list[tuple[dict[str, Any], str, bool]] = [
        ({"trust": "trusted"}, "import glob", False),
        ({"trust": "trusted"}, "import subprocess", True),
        ({}, "import glob", True),
        ({}, "import os\nos.environ['A'] = 'b'", False),
        ({"trust": "sandboxed", "access": "opt-out"}, "import os\nos.environ['A'] = 'b'", True),
        ({"code_safety": "unrestricted"}, "import subprocess", False),
        ({"code_safety": "readonly"}, "import httpx\nhttpx.post('https://example.com/')", True),
        (
            {
                "code_safety": "unrestricted",
                "tools": {"run_python": ToolPolicy(code_safety="strict")},
            },
            "import glob",
            True,
        ),
    ]
    for policy, code, expected in blocked:
        raw = RawServer(PLAIN)
        async with guarded(raw, kernel(**policy)) as connection:
            found = await outcome(run(connection, "run_python", code))
        assert (found == 1011) == expected, (policy, found)
        assert len(raw.calls) == (not expected)


@pytest.mark.spec("mgp-4.5-4", "mgp-4.5-6", "mgp-4.5-7")
async def test_a_server_cannot_widen_the_level_of_the_kernel() -> None:
    wide = {**DECLARED, "level": "unrestricted", "allowed_imports": ["subprocess"]}
    security = {"risk_level": "safe", "validator": "code_safety", "code_safety": wide}
    raw = RawServer(tool("create", "code", security=security), mgp=MGP)
    async with guarded(raw, kernel()) as connection:
        assert await outcome(run(connection, "create", "import subprocess")) == 1011
    assert raw.calls == []


async def test_other_languages_are_only_for_unrestricted() -> None:
    declared = {"level": "unrestricted", "language": "javascript"}
    security = {"risk_level": "safe", "validator": "code_safety", "code_safety": declared}
    for level, expected in (("standard", 1011), ("unrestricted", None)):
        raw = RawServer(tool("create", "code", security=security), mgp=MGP)
        async with guarded(raw, kernel(code_safety=level)) as connection:
            found = await outcome(run(connection, "create", "x = 1"))
        assert (found if isinstance(found, int) else None) == expected


@pytest.mark.spec("mgp-7-1")
async def test_the_configuration_names_arguments_that_are_code() -> None:
    raw = RawServer(tool("think", "formula"))
    named = ToolPolicy(validator="code_safety", code_arguments=["formula"])
    async with guarded(raw, kernel(tools={"think": named})) as connection:
        call = connection.mcp.tools_call(name="think", arguments={"formula": "import glob"})
        assert await outcome(call) == 1011
    assert raw.calls == []
