"""How long a supervised server is away after kill -9, compared with what cannot be less.

What cannot be less is the delay before a restart and the start of the same process by a plain host,
in the same rounds. It is wall time: the waiting is part of it.
"""

from __future__ import annotations

__all__ = ("recovery",)

import os
import signal
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from kinwire import Host, stdio
from kinwire.mgp import MgpKernel, RestartRules, ServerSpec, Supervisor
from tests.bench.measure import Row, at_most, spread

ROUNDS = 15
DELAY = 0.1  # seconds before each restart
PROGRAM = Path(__file__).parents[1] / "runtime" / "mgp" / "programs" / "raw_child.py"


async def recovery() -> Row:
    """Return the row."""
    with TemporaryDirectory() as folder:
        words = [str(PROGRAM), str(Path(folder) / "starts")]
        rules = RestartRules(max_restarts=1000, backoff_base=DELAY, backoff_max=DELAY)
        spec = ServerSpec("killed", sys.executable, args=words, restart=rules)
        kernel = MgpKernel()
        async with (
            Host("h", "1", extensions=[kernel]) as host,
            Host("plain", "1") as plain,
            kernel.supervise(host, [spec]) as supervisor,
        ):
            await supervisor["killed"].wait_connected()
            pairs = [
                (await _recovered(supervisor), DELAY + await _started(plain, words))
                for _ in range(ROUNDS)
            ][1:]  # the first one warms up
    mine, least = [one for one, _ in pairs], [other for _, other in pairs]
    times = spread(mine, least)
    return Row(
        "a supervised server is back after kill -9, with a delay of 100 ms",
        f"{median(mine) * 1e3:.0f} ms",
        f"the delay and a plain start {median(least) * 1e3:.0f} ms: {times}",
        "at most 1.5x",
        "at most 1.2x",
        at_most(times.median, 1.5, 1.2),
    )


async def _recovered(supervisor: Supervisor) -> float:
    """Return the seconds from a kill to the end of the next handshake."""
    server = supervisor["killed"]
    pid = server.status.pid
    assert pid is not None
    with supervisor.changes() as changes:
        begun = time.perf_counter()
        os.kill(pid, signal.SIGKILL)
        while server.status.state == "connected":
            await anext(changes)
        await server.wait_connected()
        return time.perf_counter() - begun


async def _started(host: Host, words: list[str]) -> float:
    begun = time.perf_counter()
    connection = await host.connect(stdio(sys.executable, *words, stderr="discard"))
    took = time.perf_counter() - begun
    await connection.aclose()
    return took
