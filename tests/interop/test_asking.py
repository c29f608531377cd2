"""A server that asks its client during the first call over HTTP: the question is never lost."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from kinwire import Host, result_text
from tests.interop import peers
from tests.interop.conftest import required
from tests.interop.listening import HERE, listening

pytestmark = pytest.mark.interop

SESSIONS = 50
ROOT = "file:///home/ada"


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_question_during_the_first_call_is_never_lost(backend: str, tmp_path: Path) -> None:
    script = HERE / "servers" / "typescript1_asking.cjs"
    command = (str(required(peers.node)), str(script))
    env = {"NODE_PATH": str(required(peers.npm_packages))}

    async def ask() -> None:
        for _ in range(SESSIONS):
            async with Host("asked", "1", roots=[ROOT]) as host:
                server = await host.connect(url)
                with anyio.fail_after(5):
                    assert result_text(await server.mcp.tools_call(name="ask")) == ROOT

    with listening(command, tmp_path, env=env) as running:
        url = running.url("/mcp")
        anyio.run(ask, backend=backend)
