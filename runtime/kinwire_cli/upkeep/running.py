"""The kernel of `kinwire up` and of `kinwire gateway`, from its configuration to its end."""

from __future__ import annotations

__all__ = ("Prepare", "Serve", "Upkeep", "keep_alive", "run_kernel", "socket_place")

import os
import sys
import time
from argparse import Namespace
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from functools import partial
from pathlib import Path
from socket import socket
from typing import NamedTuple, TextIO

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from kinwire import Host, __version__
from kinwire.mgp import AuditOptions, MgpKernel, MiniLmEmbedder
from kinwire.mgp.kernel.config import ConfigFile
from kinwire.mgp.kernel.supervisor.supervisor import Supervisor
from kinwire.mgp.kernel.tool_discovery_options import EVERY_AGENT, ToolDiscovery
from kinwire.mgp.rules.config_problem import ConfigError
from kinwire.mgp.rules.kernel_config import KernelConfig
from kinwire.support.background import background
from kinwire_cli.control.listening import serve_owner
from kinwire_cli.control.messages import KernelFacts, ServerRow
from kinwire_cli.control.place import bound_socket, place_of
from kinwire_cli.extras import install_command, is_installed
from kinwire_cli.failure import UsageError
from kinwire_cli.kernel_config import config_file
from kinwire_cli.kernel_state import kernel_storage
from kinwire_cli.layout import counted
from kinwire_cli.live_table import LiveLines, live_lines
from kinwire_cli.status_line import takes_status
from kinwire_cli.upkeep.configuration import must_be_watchable, note, read_config, say, warn
from kinwire_cli.upkeep.display import Rows, ServerDisplay
from kinwire_cli.upkeep.orders import Orders
from kinwire_cli.upkeep.routes import ControlHandlers, control_routes
from kinwire_cli.upkeep.rows import rows_of
from kinwire_cli.upkeep.server_logs import server_logs

_LOOK = 1.0  # seconds between looks at the file

Serve = Callable[[Orders], Awaitable[None]]
"""Serves somebody while the servers are kept alive; they are drained when it returns."""

Prepare = Callable[[MgpKernel, Supervisor], Serve]
"""Returns what serves, before the first server is started."""


class Upkeep(NamedTuple):
    """What is kept alive, and for whom."""

    file: ConfigFile
    control: socket | None
    """Where other commands of the user reach the kernel."""
    prepare: Prepare
    has_stdout: bool
    """Whether stdout is for people: else what happens to servers goes to stderr."""


async def run_kernel(arguments: Namespace) -> int:
    """Keep the servers alive until a signal ends it; return the exit code.

    Raises:
        UsageError: the configuration is wrong, or a kernel runs it already.
        StorageError: the store cannot be opened.
    """
    file = read_config(config_file(arguments.config))
    with bound_socket(socket_place(arguments, file)) as control:
        return await keep_alive(Upkeep(file, control, _nobody, has_stdout=True), arguments)


def _nobody(_: MgpKernel, __: Supervisor) -> Serve:
    async def wait(orders: Orders) -> None:
        await orders.drain.wait()

    return wait


def socket_place(arguments: Namespace, file: ConfigFile) -> Path:
    """Return where other commands find the kernel."""
    return Path(arguments.socket) if arguments.socket else place_of(Path(file.path))


async def keep_alive(upkeep: Upkeep, arguments: Namespace) -> int:
    """Keep the servers of a configuration alive, serve, and return the exit code.

    Raises:
        UsageError: an extra is missing.
        StorageError: the store cannot be opened.
    """
    if arguments.semantic and not is_installed("semantic"):
        text = "--semantic needs the extra [semantic]."
        raise UsageError(text, install_command("semantic"))
    orders = Orders()
    with server_logs(), anyio.CancelScope() as scope:
        async with background() as tasks:
            tasks.start_soon(orders.follow)
            tasks.start_soon(_cancel_at, orders.end, scope)
            async with _kernel(arguments, upkeep.file.current) as kernel:
                await _KernelRun(upkeep, kernel, orders).run()
            tasks.cancel_scope.cancel()
    return 128 + (orders.number or 0) if scope.cancelled_caught else 0


async def _cancel_at(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


@asynccontextmanager
async def _kernel(arguments: Namespace, config: KernelConfig) -> AsyncGenerator[MgpKernel]:
    discovery = await _discovery(config, by_meaning=arguments.semantic)
    make = partial(MgpKernel, policy=config.policy, discovery=discovery)
    if arguments.store is None:
        yield make()
        return
    async with kernel_storage(arguments.store, arguments.timeout, create=True) as (
        records,
        log,
    ):
        yield make(records=records, audit=AuditOptions(log=log))


async def _discovery(config: KernelConfig, *, by_meaning: bool) -> ToolDiscovery:
    pinned = [(server.id, tool) for server in config.servers for tool in server.pinned_tools]
    return ToolDiscovery(
        pinned={EVERY_AGENT: pinned},
        budget=config.tool_context_budget,
        embedder=await anyio.to_thread.run_sync(MiniLmEmbedder) if by_meaning else None,
    )


class _KernelRun:
    """One run of a kernel over a configuration."""

    def __init__(self, upkeep: Upkeep, kernel: MgpKernel, orders: Orders) -> None:
        self._file = upkeep.file
        self._upkeep = upkeep
        self._kernel = kernel
        self._orders = orders
        self._is_gone = False
        self._facts = KernelFacts(
            pid=os.getpid(),
            config=os.path.abspath(self._file.path),
            since=time.time(),
            version=__version__,
        )

    async def run(self) -> None:
        """Supervise the servers and serve, until an order to drain; and drain them."""
        kernel, specs = self._kernel, self._file.current.specs
        _advertise(kernel, self._file.current)
        async with (
            Host("kinwire", __version__, extensions=[kernel]) as host,
            background() as tasks,
        ):
            with self._lines() as lines:
                supervisor = kernel.supervise(host, specs)
                serve = self._upkeep.prepare(kernel, supervisor)
                rows = partial(self._rows, supervisor)
                display = ServerDisplay(rows, time.time, lines, self._out)
                try:
                    async with supervisor:
                        self._begin(tasks, supervisor, rows)
                        tasks.start_soon(_show, display, supervisor)
                        await serve(self._orders)
                        if self._orders.drain.is_set():
                            note("draining; a second signal ends the servers immediately")
                finally:
                    display.show()
            tasks.cancel_scope.cancel()

    @property
    def _out(self) -> TextIO:
        return sys.stdout if self._upkeep.has_stdout else sys.stderr

    def _lines(self) -> AbstractContextManager[LiveLines | None]:
        is_table = self._upkeep.has_stdout and takes_status(sys.stdout)
        return live_lines() if is_table else nullcontext()

    def _begin(self, tasks: TaskGroup, supervisor: Supervisor, rows: Rows) -> None:
        if self._upkeep.control is not None:
            handlers = ControlHandlers(self._kernel, supervisor, self._facts, rows)
            tasks.start_soon(serve_owner, self._upkeep.control, control_routes(handlers))
        tasks.start_soon(self._follow_file, supervisor)

    def _rows(self, supervisor: Supervisor) -> list[ServerRow]:
        refused, began = self._file.current.refused, self._facts.since
        return rows_of(supervisor.statuses, refused, began, time.time())

    async def _follow_file(self, supervisor: Supervisor) -> None:
        """Go over to what the file says, whenever it has changed or is to be read again."""
        while True:
            with anyio.move_on_after(_LOOK) as waiting:
                await self._orders.wait_reload()
            self._note_absence()
            config = self._reloaded(asked=not waiting.cancelled_caught)
            if config is not None:
                await self._apply(supervisor, config)

    def _note_absence(self) -> None:
        """Say once that the file is away: what appears in its place may be of a server's tool."""
        is_gone = not os.path.lexists(self._facts.config)
        if is_gone and not self._is_gone:
            note(f"{self._file.path} is gone; a file that appears there is not loaded")
        self._is_gone = is_gone

    async def _apply(self, supervisor: Supervisor, config: KernelConfig) -> None:
        try:
            judged = self._kernel.replace_policy(config.policy)
            _advertise(self._kernel, config)
            await supervisor.replace(config.specs)
            await _connect_again(supervisor, judged)
        except Exception as error:  # such as a store that is away: the servers that run go on
            say(f"error: the configuration is not applied as a whole: {error}")

    def _reloaded(self, *, asked: bool) -> KernelConfig | None:
        try:
            config = self._file.reload() if asked else self._file.poll()
            if config is not None:
                must_be_watchable(config)
        except (ConfigError, OSError, UsageError) as error:
            say(f"error: {error}")
            note("the kernel goes on with the configuration as it was")
            return None
        if config is not None:
            note(f"read {config.file} again: {counted(len(config.servers), 'server')}")
            warn(config)
        return config


def _advertise(kernel: MgpKernel, config: KernelConfig) -> None:
    """Let `mgp/discovery/list` say what servers support before they are connected."""
    kernel.registry.advertise({one.id: one.profile for one in config.servers})


async def _connect_again(supervisor: Supervisor, judged: Iterable[str]) -> None:
    """Restart servers of which the file says something else, unless they are new or down."""
    up = {one.id for one in supervisor.statuses if one.state == "connected"}
    for id in up.intersection(judged):
        await supervisor.restart(id, reason="configuration_change")


async def _show(display: ServerDisplay, supervisor: Supervisor) -> None:
    with supervisor.changes() as changes:
        await display.run(changes)
