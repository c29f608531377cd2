"""What a connected server is watched for: its end, its health, idleness and memory."""

from __future__ import annotations

__all__ = ("Happening", "Watch", "watch")

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

import anyio

from kinwire.mgp.kernel.guarded_server import GuardedServer
from kinwire.mgp.kernel.health import HealthMonitor
from kinwire.mgp.kernel.supervisor.call_gate import CallGate
from kinwire.mgp.kernel.supervisor.group_memory import GroupMemory
from kinwire.mgp.rules.health import ServerHealth
from kinwire.mgp.rules.idleness import Idleness
from kinwire.mgp.rules.server_spec import ServerSpec

MEMORY_INTERVAL = 5.0  # seconds between two looks at the memory of a group

Kind = Literal["ended", "ordered", "announced", "unresponsive", "idle_timeout", "resource_limit"]


@dataclass(frozen=True, slots=True)
class Happening:
    """What ends the watch of a server."""

    kind: Kind
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Watch:
    """A connected server, and those who want to know about it."""

    server: GuardedServer
    spec: ServerSpec
    gate: CallGate
    pid: int | None
    memory: GroupMemory
    announced: anyio.Event
    """Set when the server says that it shuts down."""
    monitored: Callable[[HealthMonitor], object]
    """Gets what has the health from now on."""
    healthy: Callable[[ServerHealth], object]
    """Gets the health whenever it changes."""


class _First:
    """The first thing that happens."""

    def __init__(self) -> None:
        self.happening: Happening | None = None
        self._set = anyio.Event()

    def happened(self, kind: Kind, detail: str = "") -> None:
        if self.happening is None:
            self.happening = Happening(kind, detail)
            self._set.set()

    async def wait(self) -> None:
        await self._set.wait()


async def watch(about: Watch, ordered: Callable[[], Awaitable[object]]) -> Happening:
    """Return the first thing that ends the watch; `ordered` returns when an order has come."""
    first = _First()

    async def wait_order() -> None:
        await ordered()
        first.happened("ordered")

    async def wait_end() -> None:
        await about.server.session.wait_closed()
        first.happened("ended")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait_end)
        tasks.start_soon(wait_order)
        tasks.start_soon(_wait_announced, about, first)
        if about.spec.ping_interval is not None:
            tasks.start_soon(_monitor(about, about.spec.ping_interval, first).run)
        if about.spec.idle_timeout is not None:
            tasks.start_soon(_watch_idleness, about, about.spec.idle_timeout, first)
        if about.spec.max_memory_bytes is not None and about.pid is not None:
            tasks.start_soon(_watch_memory, about, about.pid, about.spec.max_memory_bytes, first)
        await first.wait()
        tasks.cancel_scope.cancel()
    assert first.happening is not None  # that was waited for
    return first.happening


def _monitor(about: Watch, interval: float, first: _First) -> HealthMonitor:
    spec = about.spec

    def failed(health: ServerHealth) -> None:
        text = f"It left {health.misses} pings in a row unanswered for {spec.ping_timeout:g} s."
        first.happened("unresponsive", text)

    monitor = HealthMonitor(
        about.server,
        interval=interval,
        timeout=spec.ping_timeout,
        misses=spec.ping_misses,
        changed=about.healthy,
        failed=failed,
    )
    about.monitored(monitor)
    return monitor


async def _wait_announced(about: Watch, first: _First) -> None:
    await about.announced.wait()
    first.happened("announced")


async def _watch_idleness(about: Watch, timeout: float, first: _First) -> None:
    idleness, gate = Idleness(timeout, anyio.current_time()), about.gate
    while True:
        now = anyio.current_time()
        pause = idleness.wait(now, gate.last_used, busy=gate.under_way > 0)
        if pause is None:
            first.happened("idle_timeout", f"It had no call for {timeout:g} s.")
            return
        await anyio.sleep(pause)


async def _watch_memory(about: Watch, group: int, most: int, first: _First) -> None:
    while True:
        used = await about.memory.of(group)
        if used > most:
            text = f"Its processes have {used} bytes in memory; {most} are allowed."
            first.happened("resource_limit", text)
            return
        await anyio.sleep(MEMORY_INTERVAL)
