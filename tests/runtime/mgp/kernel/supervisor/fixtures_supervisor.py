"""A supervisor whose servers are raw JSON peers, or real child processes in raw JSON."""

from __future__ import annotations

__all__ = ("Children", "reached", "supervising", "ways")

import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from kinwire import Host
from kinwire.mgp import MgpKernel, ServerSpec, Supervisor
from kinwire.mgp.kernel.supervisor.launch import Launch
from kinwire.mgp.kernel.supervisor.log_lines import LogLines
from tests.runtime.mgp.fixtures_kernel import AuditEvents
from tests.runtime.mgp.raw_peers import RawServer

PROGRAM = Path(__file__).parents[2] / "programs" / "raw_child.py"


@asynccontextmanager
async def supervising(
    *specs: ServerSpec,
    raw: Callable[[ServerSpec], RawServer] | None = None,
    kernel: MgpKernel | None = None,
    **services: Any,
) -> AsyncGenerator[Supervisor]:
    """Yield a supervisor; with `raw` each start is a connection to the server that it returns.

    Jitter is 0 unless `services` say otherwise.
    """
    used = kernel or MgpKernel()
    async with Host("h", "1", extensions=[used]) as host:

        def launched(spec: ServerSpec, log: LogLines) -> Launch:
            assert raw is not None
            connect = partial(host.connect, server_id=spec.id, handshake_timeout=spec.start_timeout)
            return Launch(partial(connect, raw(spec)))

        supervisor = used.supervise(host, specs)
        changed: dict[str, Any] = {"jitter": lambda: 0.0, **services}
        if raw is not None:
            changed["launch"] = launched
        supervisor._services = replace(supervisor._services, **changed)
        async with supervisor:
            yield supervisor


async def reached(supervisor: Supervisor, id: str, *states: str, within: float = 20) -> None:
    """Wait until a server is in one of some states."""
    actor = supervisor._actors[id]
    with anyio.fail_after(within):
        while actor.life.state not in states:
            assert not actor.orders.closed, "nobody looks after it any more"
            await actor.news.wait()


def ways(events: AuditEvents, server: str = "s") -> list[str]:
    """Return the changes of a server's state, in order: `connecting connected`."""
    changes = events.of("io.kinwire.server_state")
    details = [one["details"] for one in changes if one["target"]["server_id"] == server]
    return [f"{one['previous_state']} {one['new_state']}" for one in details]


class Children:
    """The processes of one spec: `raw_child.py` notes each of its starts in a file."""

    def __init__(self, folder: Path, *words: str, **options: Any) -> None:
        self._notes = folder / f"notes-{len(list(folder.iterdir()))}"
        self._notes.touch()
        args = [str(PROGRAM), str(self._notes), *words]
        self.spec = ServerSpec("s", sys.executable, args=args, **options)

    def pids(self, kind: str = "start") -> list[int]:
        """Return the processes that there were; `kind` is `start` or `grandchild`."""
        return [int(pid) for name, pid, _ in self._lines() if name == kind]

    @property
    def times(self) -> list[float]:
        """When each of them began, in seconds since 1970."""
        return [float(at) for name, _, at in self._lines() if name == "start"]

    async def gone(self) -> None:
        """Wait until none of them runs; a grandchild is reaped by the system, not by us."""
        everybody = [*self.pids(), *self.pids("grandchild")]
        with anyio.fail_after(20):
            while any(map(_runs, everybody)):  # noqa: ASYNC110 - they report to nobody here
                await anyio.sleep(0.005)
        assert [pid for pid in self.pids() if _is_known(pid)] == [], "zombies of ours"

    def _lines(self) -> list[list[str]]:
        return [line.split() for line in self._notes.read_text("utf-8").splitlines()]


def _is_known(pid: int) -> bool:
    """Return whether there is such a process, also one that has ended and is not reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _runs(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return _is_known(pid) and not Path("/proc/self").exists()
