"""Ids that are in use more than once: by a hundred clients, and twice in one session.

What the other project does is a fact about its pinned version, and stands in `docs/peers.md`.
"""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from kinwire import Host
from kinwire_protocols import mcp
from tests.interop import peers
from tests.interop.conftest import required
from tests.interop.listening import HERE, listening, ours, python_server
from tests.interop.same_ids import Outcome, two_at_once

pytestmark = pytest.mark.interop

REFUSED = -32600
CLIENTS, CALLS = 100, 3


def test_our_server_refuses_an_id_in_use_and_answers_the_first_call(
    tmp_path: Path,
) -> None:
    with listening(ours("http", HERE / "servers" / "slow_kinwire.py"), tmp_path) as server:
        assert two_at_once(server.port) == Outcome("first", REFUSED)


def test_mcp_2_leaves_the_first_caller_of_an_id_without_an_answer(tmp_path: Path) -> None:
    python = required(peers.mcp2_python)
    with listening((str(python), str(HERE / "servers" / "slow_mcp2.py")), tmp_path) as server:
        assert two_at_once(server.port) == Outcome(None, "second")


@pytest.mark.parametrize("name", ["kinwire", "mcp2"])
def test_a_hundred_sessions_with_the_same_ids_get_their_own_answers(
    name: str, tmp_path: Path
) -> None:
    command = ours("http") if name == "kinwire" else required(lambda: python_server(name))
    with listening(command, tmp_path) as server:
        assert anyio.run(own_answers, server.url("/mcp")) == CLIENTS * CALLS


async def own_answers(url: str) -> int:
    """Return how many calls got the text that they sent."""
    right = 0

    async def use(host: Host, number: int) -> None:
        nonlocal right
        connection = await host.connect(url)
        for call in range(CALLS):
            text = f"client {number}, call {call}"
            result = await connection.mcp.tools_call(name="echo", arguments={"message": text})
            right += result.content == [mcp.TextContent(text=text)]

    with anyio.fail_after(60):
        async with Host("hundred", "0") as host, anyio.create_task_group() as tasks:
            for number in range(CLIENTS):
                tasks.start_soon(use, host, number)
    return right
