"""Members that no version of MCP has: kinwire shows them to its users; some others lose them.

What others lose is a fact about the versions that are pinned next to this file: it changes only
where a pin does, and then `docs/peers.md` has to. It says what a protocol that adds members to MCP
can count on.
"""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from tests.interop import host
from tests.interop.conftest import Runner
from tests.interop.expected import KEEP_ALL, KEPT
from tests.interop.recording import Recorded
from tests.interop.runs import UNKNOWN
from tests.interop.test_methods import how


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_our_client_preserves_unknown_capabilities_and_tool_fields(
    backend: str, tmp_path: Path
) -> None:
    found = anyio.run(host.unknown_members, Recorded(UNKNOWN, tmp_path), backend=backend)
    assert found == KEEP_ALL


@pytest.mark.interop
@pytest.mark.parametrize("client", KEPT)
def test_what_a_client_of_another_project_keeps(client: str, run_of: Runner) -> None:
    assert (
        run_of(f"client {client}", how(f"client {client}")).found["unknown members"]
        == (KEPT[client])
    )


@pytest.mark.interop
def test_the_inspector_loses_an_unknown_member_of_a_tool(run_of: Runner) -> None:
    tools = run_of("client inspector", "auto").found["tools/list"]["tools"]
    (echo,) = (tool for tool in tools if tool["name"] == "echo")
    assert "security" not in echo
    assert "security" in echo["_meta"]
