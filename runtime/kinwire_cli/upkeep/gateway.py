"""What `kinwire gateway` does while it runs: it serves clients, and keeps the servers alive."""

from __future__ import annotations

__all__ = ("check_pinned", "run_gateway", "serve_http", "serve_stdio", "wait_for_servers")

import os
import shlex
from argparse import Namespace
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from functools import partial
from socket import socket

import anyio

from kinwire import Server
from kinwire.mcp.context import Context
from kinwire.mgp import Gateway, MgpKernel
from kinwire.mgp.gateway.forwarding import AgentOf
from kinwire.mgp.kernel.config import ConfigFile
from kinwire.mgp.kernel.supervisor.status import ServerStatus
from kinwire.mgp.kernel.supervisor.supervisor import Supervisor
from kinwire.mgp.rules.access import is_name
from kinwire.support.background import background
from kinwire.transports.stdio import OwnStdio
from kinwire_cli.control.place import bound_socket
from kinwire_cli.failure import UsageError
from kinwire_cli.kernel_config import config_file
from kinwire_cli.network import (
    BoundAddress,
    ListenAddress,
    address_in,
    announce,
    application,
    listening,
)
from kinwire_cli.tokens import Tokens, tokens_from
from kinwire_cli.upkeep.configuration import note, read_config
from kinwire_cli.upkeep.orders import Orders
from kinwire_cli.upkeep.running import Serve, Upkeep, keep_alive, socket_place


async def run_gateway(arguments: Namespace) -> int:
    """Serve until the input ends or a signal comes; return the exit code.

    Raises:
        UsageError: the options or the configuration are wrong.
        InsecureAddressError: other machines could reach it in plain text.
        StorageError: the store cannot be opened.
        ContextBudgetError: pinned tools have no room in the budget.
    """
    place, tokens = address_in(arguments), tokens_from(arguments.token)
    _must_know_clients(arguments, place, tokens)
    file = read_config(config_file(arguments.config))
    with _listening(place) as listener, _control(arguments, file) as control:
        logs = None if control is None else file.path
        prepare = partial(_prepared, arguments, listener, tokens, logs)
        return await keep_alive(Upkeep(file, control, prepare, has_stdout=False), arguments)


def _must_know_clients(
    arguments: Namespace, place: ListenAddress | None, tokens: Tokens | None
) -> None:
    """Raise where it would not be clear for whom clients call.

    Raises:
        UsageError: always, in these cases.
    """
    from kinwire.transports.http.security import is_loopback

    agent: str | None = arguments.agent
    if agent is not None and not is_name(agent):
        raise UsageError("--agent: expected a name.", "Write it as in --agent agent.helper.")
    if tokens is None:
        if place is not None and place.insecure and not is_loopback(place.host):
            text = f"Everybody who reaches {place.host} could call the tools."
            raise UsageError(text, "Add --token AGENT=VARIABLE for each agent.")
    elif place is None:
        raise UsageError("--token: clients on stdin have no token.", "Write --agent NAME.")
    elif agent is not None:
        raise UsageError("--agent: each client has the agent of its token.", "Leave one out.")


@contextmanager
def _listening(place: ListenAddress | None) -> Generator[BoundAddress | None]:
    if place is None:
        yield None
        return
    with listening(place) as listener:
        yield listener


@contextmanager
def _control(arguments: Namespace, file: ConfigFile) -> Generator[socket | None]:
    """Yield where other commands reach the kernel; None if another one is there already.

    Several clients may start a gateway each with one configuration.
    """
    with ExitStack() as stack:
        control: socket | None = None
        try:
            control = stack.enter_context(bound_socket(socket_place(arguments, file)))
        except UsageError as error:
            if arguments.socket:
                raise
            note(f"kinwire ps will not show this kernel: {error}")
        yield control


def _prepared(
    arguments: Namespace,
    listener: BoundAddress | None,
    tokens: Tokens | None,
    logs: str | None,
    kernel: MgpKernel,
    supervisor: Supervisor,
) -> Serve:
    agent_of = None if arguments.agent is None else _always(arguments.agent)
    gateway = Gateway(kernel, supervisor, level=arguments.level, agent_of=agent_of)

    async def serve(orders: Orders) -> None:
        await wait_for_servers(supervisor, orders, arguments.wait)
        if logs is not None:
            _name_logs(supervisor, logs)
        await check_pinned(kernel, orders, arguments.wait)
        if listener is None:
            await serve_stdio(gateway.server, orders)
        else:
            await serve_http(gateway.server, listener, tokens, orders)

    return serve


def _always(agent: str) -> AgentOf:
    def agent_of(_: Context) -> str:
        return agent

    return agent_of


async def wait_for_servers(supervisor: Supervisor, orders: Orders, seconds: float) -> None:
    """Return when each server has started or has failed, after `seconds`, or on a signal.

    A client that asks for tools immediately then finds those that there are.
    """
    with supervisor.changes() as changes, anyio.move_on_after(seconds) as scope:
        async with background() as tasks:
            tasks.start_soon(_cancel_at_drain, orders, scope)
            while any(map(_is_starting, supervisor.statuses)):
                await anext(changes)
            tasks.cancel_scope.cancel()
    starting = [one.id for one in supervisor.statuses if _is_starting(one)]
    if starting and not orders.drain.is_set():
        note(f"serves before all servers have started: {', '.join(starting)}")


async def check_pinned(kernel: MgpKernel, orders: Orders, seconds: float) -> None:
    """Look at the pinned tools, as far as servers list what they have in `seconds`.

    Raises:
        ContextBudgetError: pinned tools have no room in the budget.
    """
    with anyio.move_on_after(seconds) as scope:
        async with background() as tasks:
            tasks.start_soon(_cancel_at_drain, orders, scope)
            await kernel.tool_sessions.check()
            tasks.cancel_scope.cancel()
    if scope.cancelled_caught and not orders.drain.is_set():
        note("serves before all servers have listed their tools; pinned tools may have no room")


def _name_logs(supervisor: Supervisor, config: str) -> None:
    """Say how to see what servers that have not started wrote on stderr."""
    failed = [one.id for one in supervisor.statuses if one.state in ("restarting", "error")]
    if failed:
        command = f"kinwire logs {shlex.quote(failed[0])} -c {shlex.quote(str(config))}"
        note(f"{', '.join(failed)} did not start; {command} shows what it wrote, while this runs")


async def _cancel_at_drain(orders: Orders, scope: anyio.CancelScope) -> None:
    await orders.drain.wait()
    scope.cancel()


def _is_starting(status: ServerStatus) -> bool:
    is_new = status.state == "registered" and not status.note
    return is_new or status.state == "connecting"


async def serve_stdio(server: Server, orders: Orders) -> None:
    """Serve over stdin and stdout until the input ends or `orders.drain`."""
    stdio = OwnStdio()
    if os.isatty(0):
        note("a client starts this, and talks to it over stdin and stdout; Ctrl-C ends it")
    async with background() as tasks:
        tasks.start_soon(_stop_at_drain, orders, stdio)
        await server.serve(stdio)
        tasks.cancel_scope.cancel()
    if stdio.refused is not None:
        raise stdio.refused


async def _stop_at_drain(orders: Orders, stdio: OwnStdio) -> None:
    await orders.drain.wait()
    stdio.stop()


async def serve_http(
    server: Server, listener: BoundAddress, tokens: Tokens | None, orders: Orders
) -> None:
    """Serve over HTTP until `orders.drain`."""
    from kinwire.transports.http.running import serve_on

    app = application(server, listener, tokens)
    started = partial(announce, server, listener)
    await serve_on(app, listener.socket, orders.drain, started=started, grace=app.grace)
