"""A plain client of others subscribes to events of ours by the tools."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.interop import runs
from tests.interop.conftest import required

pytestmark = pytest.mark.interop

ROOT = Path(__file__).parents[2]
SERVER = ROOT / "tests" / "runtime" / "mcpe" / "programs" / "repository.py"


@pytest.mark.spec("mcpe-1.2-5")
def test_a_client_on_mcp_2() -> None:
    command = json.dumps([sys.executable, "-m", "kinwire", "serve", str(SERVER)])
    found = required(lambda: runs.program("mcp2", "mcp2_events_client.py", command))
    said = {
        name: json.loads(result["content"][0]["text"])
        for name, result in found.items()
        if name not in ("listed", "heard", "pushed")
    }
    assert [one for one in found["listed"] if one.startswith("events_")] == [
        f"events_{name}"
        for name in ("subscribe", "unsubscribe", "list", "pause", "resume", "update")
    ]
    assert found["pushed"]["content"][0]["text"] == "1"
    assert said["made"]["status"] == "active"
    assert (said["paused"]["status"], said["resumed"]["status"]) == ("paused", "active")
    assert said["left"] == {"subscriptions": [said["updated"]]}
    assert said["updated"]["filter"] == {"tags": ["x"]}
    assert said["gone"] == {"success": True}
    assert (found["lost"]["isError"], said["lost"]["error"]["code"]) == (True, -32001)
