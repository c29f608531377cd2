"""The kernel of `kinwire up`, from its configuration to its end."""

from __future__ import annotations

__all__ = ("run_kernel",)

import os
import sys
import time
from argparse import Namespace
from collections.abc import AsyncGenerator, Iterable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from socket import socket

import anyio
from anyio.abc import TaskGroup

from kinwire import Host, __version__
from kinwire.mgp import AuditOptions, MgpKernel, Policy
from kinwire.mgp.kernel.config import ConfigFile
from kinwire.mgp.kernel.supervisor.supervisor import Supervisor
from kinwire.mgp.rules.config_problem import ConfigError
from kinwire.mgp.rules.kernel_config import KernelConfig
from kinwire.support.background import background
from kinwire_cli.control.listening import serve_owner
from kinwire_cli.control.messages import KernelFacts, ServerRow
from kinwire_cli.control.place import bound_socket, place_of
from kinwire_cli.extras import install_command
from kinwire_cli.failure import UsageError
from kinwire_cli.kernel_config import config_file, refused_text
from kinwire_cli.kernel_state import kernel_storage
from kinwire_cli.layout import counted, one_line, with_labels
from kinwire_cli.live_table import LiveLines, live_lines
from kinwire_cli.status_line import takes_status
from kinwire_cli.upkeep.display import Rows, ServerDisplay
from kinwire_cli.upkeep.orders import Orders
from kinwire_cli.upkeep.routes import ControlHandlers, control_routes
from kinwire_cli.upkeep.rows import rows_of

_LOOK = 1.0  # seconds between looks at the file


async def run_kernel(arguments: Namespace) -> int:
    """Keep the servers alive until a signal ends it; return the exit code.

    Raises:
        UsageError: the configuration is wrong, or a kernel runs it already.
        StorageError: the store cannot be opened.
    """
    file = _read(config_file(arguments.config))
    path = Path(arguments.socket) if arguments.socket else place_of(Path(file.path))
    orders = Orders()
    with bound_socket(path) as listener, anyio.CancelScope() as scope:
        async with background() as tasks:
            tasks.start_soon(orders.follow)
            tasks.start_soon(_cancel_at, orders.end, scope)
            async with _kernel(arguments, file.current.policy) as kernel:
                await _Upkeep(file, kernel, orders).run(listener)
            tasks.cancel_scope.cancel()
    return 128 + (orders.number or 0) if scope.cancelled_caught else 0


def _read(path: Path) -> ConfigFile:
    try:
        file = ConfigFile(path)
    except ConfigError as error:
        raise UsageError(str(error), "Nothing was started.") from None
    _must_be_watchable(file.current)
    _warn(file.current)
    return file


def _must_be_watchable(config: KernelConfig) -> None:
    """Raise where the memory of a server is limited and nothing here can look at it.

    Raises:
        UsageError: an extra is missing.
    """
    limited = [spec.id for spec in config.specs if spec.max_memory_bytes is not None]
    if limited and find_spec("psutil") is None:
        text = f"{limited[0]}: max_memory_bytes needs the extra [supervisor]."
        raise UsageError(text, install_command("supervisor"))


def _warn(config: KernelConfig) -> None:
    for problem in config.warnings:
        _say(f"warning: {problem}")
    for server, problem in config.refused.items():
        _say(f"error: {problem.place}: {refused_text(server, problem)}")


def _note(text: str) -> None:
    _say(f"note: {text}")


def _say(text: str) -> None:
    with suppress(OSError):  # the terminal is gone
        print(with_labels(one_line(text)), file=sys.stderr)


async def _cancel_at(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


@asynccontextmanager
async def _kernel(arguments: Namespace, policy: Policy) -> AsyncGenerator[MgpKernel]:
    if arguments.store is None:
        yield MgpKernel(policy=policy)
        return
    async with kernel_storage(arguments.store, arguments.timeout, create=True) as (
        records,
        log,
    ):
        yield MgpKernel(policy=policy, records=records, audit=AuditOptions(log=log))


class _Upkeep:
    """One run of a kernel over a configuration."""

    def __init__(self, file: ConfigFile, kernel: MgpKernel, orders: Orders) -> None:
        self._file = file
        self._kernel = kernel
        self._orders = orders
        self._is_gone = False
        self._facts = KernelFacts(
            pid=os.getpid(),
            config=os.path.abspath(file.path),
            since=time.time(),
            version=__version__,
        )

    async def run(self, listener: socket) -> None:
        """Supervise the servers until an order to drain, and drain them."""
        kernel, specs = self._kernel, self._file.current.specs
        _advertise(kernel, self._file.current)
        async with (
            Host("kinwire", __version__, extensions=[kernel]) as host,
            background() as tasks,
        ):
            with _display() as lines:
                supervisor = kernel.supervise(host, specs)
                rows = partial(self._rows, supervisor)
                display = ServerDisplay(rows, time.time, lines)
                try:
                    async with supervisor:
                        self._begin(tasks, supervisor, rows, listener)
                        tasks.start_soon(_show, display, supervisor)
                        await self._orders.drain.wait()
                        _note("draining; a second signal ends the servers immediately")
                finally:
                    display.show()
            tasks.cancel_scope.cancel()

    def _begin(
        self, tasks: TaskGroup, supervisor: Supervisor, rows: Rows, listener: socket
    ) -> None:
        handlers = ControlHandlers(self._kernel, supervisor, self._facts, rows)
        tasks.start_soon(serve_owner, listener, control_routes(handlers))
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
            _note(f"{self._file.path} is gone; a file that appears there is not loaded")
        self._is_gone = is_gone

    async def _apply(self, supervisor: Supervisor, config: KernelConfig) -> None:
        try:
            judged = self._kernel.replace_policy(config.policy)
            _advertise(self._kernel, config)
            await supervisor.replace(config.specs)
            await _connect_again(supervisor, judged)
        except Exception as error:  # such as a store that is away: the servers that run go on
            _say(f"error: the configuration is not applied as a whole: {error}")

    def _reloaded(self, *, asked: bool) -> KernelConfig | None:
        try:
            config = self._file.reload() if asked else self._file.poll()
            if config is not None:
                _must_be_watchable(config)
        except (ConfigError, OSError, UsageError) as error:
            _say(f"error: {error}")
            _note("the kernel goes on with the configuration as it was")
            return None
        if config is not None:
            _note(f"read {config.file} again: {counted(len(config.servers), 'server')}")
            _warn(config)
        return config


def _advertise(kernel: MgpKernel, config: KernelConfig) -> None:
    """Let `mgp/discovery/list` say what servers support before they are connected."""
    kernel.registry.advertise({one.id: one.profile for one in config.servers})


async def _connect_again(supervisor: Supervisor, judged: Iterable[str]) -> None:
    """Restart servers of which the file says something else, unless they are new or down."""
    up = {one.id for one in supervisor.statuses if one.state == "connected"}
    for id in up.intersection(judged):
        await supervisor.restart(id, reason="configuration_change")


def _display() -> AbstractContextManager[LiveLines | None]:
    return live_lines() if takes_status(sys.stdout) else nullcontext()


async def _show(display: ServerDisplay, supervisor: Supervisor) -> None:
    with supervisor.changes() as changes:
        await display.run(changes)
