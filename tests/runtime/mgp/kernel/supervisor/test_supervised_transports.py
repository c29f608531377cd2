"""A server of MGP in another process, under a supervisor, over each transport (MGP 1.4, 11)."""

from __future__ import annotations

import os
import signal
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest

from kinwire import result_text
from kinwire.mgp import RestartRules, ServerSpec, Supervisor
from tests.runtime.mgp.fixtures_kernel import audited
from tests.runtime.mgp.kernel.supervisor.fixtures_supervisor import reached, supervising, ways
from tests.runtime.transports.fixtures_processes import serving

pytestmark = pytest.mark.anyio

FILE = Path(__file__).parents[2] / "programs" / "kept_server.py"
ARGS = ("-m", "kinwire", "serve", str(FILE))
slow = partial(pytest.param, marks=pytest.mark.slow)
ALWAYS = RestartRules(policy="always", backoff_base=0.05)


async def process(supervisor: Supervisor) -> int:
    """Return the process that answers."""
    return int(result_text(await supervisor["s"].mcp.tools_call(name="process")))


async def test_a_child_that_speaks_mgp_is_drained_and_restarted_however_it_ends() -> None:
    """It ends its transport itself; asked by a signal it announces that, and exits with 0."""
    spec = ServerSpec(
        "s", sys.executable, args=ARGS, restart=ALWAYS, when_restarting="wait", ping_interval=0.05
    )
    with audited() as events:
        async with supervising(spec) as supervisor:
            await supervisor["s"].wait_connected()
            assert await process(supervisor) == supervisor["s"].status.pid
            with supervisor.changes() as changes, anyio.fail_after(30):
                while supervisor["s"].status.health is None:
                    await anext(changes)
            first = supervisor["s"].status.pid
            assert first is not None
            os.kill(first, signal.SIGTERM)
            await reached(supervisor, "s", "restarting")
            assert await process(supervisor) != first
            with anyio.fail_after(30):
                await supervisor.stop("s")
    found = ways(events)
    up = ["connecting connected", "connected draining"]
    assert found == [
        *("registered connecting", *up, "draining restarting"),
        *("restarting connecting", *up, "draining disconnected"),
    ]


@pytest.mark.faults
@pytest.mark.parametrize("transport", ["http", "sse", "ws"])
async def test_a_server_elsewhere_is_reached_again_when_it_is_back(transport: str) -> None:
    """Nobody can restart it from here: the kernel connects again, by the same rules."""
    with serving(FILE, transport) as program:
        rules = RestartRules(backoff_base=0.05, backoff_max=0.1, max_restarts=1000)
        spec = ServerSpec(
            "s",
            url=program.url(transport),
            restart=rules,
            when_restarting="wait",
            ping_interval=0.05,
            ping_timeout=0.3,
        )
        async with supervising(spec) as supervisor:
            await supervisor["s"].wait_connected()
            assert await process(supervisor) == program.process.pid
            assert supervisor["s"].status.pid is None
            program.process.kill()
            program.process.wait()
            await reached(supervisor, "s", "restarting")
            with serving(FILE, transport, program.port) as again, anyio.fail_after(20):
                assert await process(supervisor) == again.process.pid
                await supervisor.stop("s")
                assert supervisor["s"].status.state == "disconnected"
