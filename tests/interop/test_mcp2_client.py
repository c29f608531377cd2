"""A client on PyPI's `mcp` 2.x uses our demo server over stdio."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.interop.recording import Recorded

pytestmark = pytest.mark.interop

CLIENT = Path(__file__).parent / "clients" / "mcp2_client.py"
INVALID_PARAMS = -32602
TIMEOUT = 90.0  # seconds; above the client's own limit, so that its message is seen


@pytest.fixture(params=["auto", "legacy"])
def found(request: pytest.FixtureRequest, mcp2_python: Path, demo_server: Recorded) -> Any:
    """What the client saw, with its probe for a later protocol first and without."""
    command = (str(mcp2_python), str(CLIENT), request.param, *demo_server.words)
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_client_lists_and_calls_the_demo_servers_tools(found: Any) -> None:
    assert (found["server"], found["protocol_version"]) == ("kinwire-demo", "2024-11-05")
    assert set(found["tools"]) == {"add", "echo", "countdown", "divide"}
    assert found["tools"]["add"]["required"] == ["a", "b"]
    assert found["add"] == {"text": "5", "is_error": False}
    assert found["echo"] == {"text": "grüße, 世界 \U0001f600\u2028", "is_error": False}
    assert found["countdown"] == {"text": "Lift-off", "is_error": False}
    assert found["progress"] == [[1, 3], [2, 3], [3, 3]]
    assert found["divide"] == {"text": "Nothing can be divided by zero.", "is_error": True}
    assert found["unknown_tool"]["code"] == INVALID_PARAMS
    assert "nosuch" in found["unknown_tool"]["message"]
    assert found["bad_arguments"]["code"] == INVALID_PARAMS
    assert "/arguments/a" in found["bad_arguments"]["message"]
    assert found["after_all"] == {"text": "2", "is_error": False}
