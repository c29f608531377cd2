"""What the two bridges, and the demo, do while they run."""

from __future__ import annotations

__all__ = ("run_lite", "run_lite_server", "run_lite_service")

from argparse import Namespace
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, nullcontext

from kinwire.mcp.connection import Connection
from kinwire.mcp.server import Server
from kinwire.mcplite import LiteClient, LiteServer
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.storage import Records
from kinwire.support.background import background
from kinwire_cli.failure import UsageError
from kinwire_cli.headers import headers_from
from kinwire_cli.lite.listening import serve_lite
from kinwire_cli.lite.place import LitePlace, lite_place
from kinwire_cli.lite.service import LiteBridge
from kinwire_cli.lite.target import reaching
from kinwire_cli.lite.upstream import UpstreamTools
from kinwire_cli.network import address_in, listening
from kinwire_cli.target import reach, target_from
from kinwire_cli.tokens import tokens_from
from kinwire_cli.upkeep.gateway import serve_http, serve_stdio
from kinwire_cli.upkeep.orders import Orders

_RECORDS = "mcp-lite"


async def run_lite(arguments: Namespace) -> int:
    """Serve the tools of an MCP server over MCP-lite, until a signal comes or the server ends.

    Raises:
        UsageError: the options are wrong.
        InsecureAddressError: other machines could reach it in plain text.
        StorageError: the store cannot be opened.
        ConnectionClosedError: the server ended.
    """
    tokens = tokens_from(arguments.token)
    place = lite_place(arguments, knows_clients=tokens is not None)
    target = target_from(arguments.what, arguments)
    async with _obeyed() as orders, _records(arguments.store) as records, reach(target) as server:
        source = UpstreamTools(server, arguments.promise_after)
        lite = LiteServer(source, records=records)
        async with background() as tasks:
            tasks.start_soon(source.follow)
            tasks.start_soon(_drain_with, server, orders)
            await serve_lite(lite, place, tokens, orders)
            tasks.cancel_scope.cancel()
        if orders.number is None:
            raise ConnectionClosedError("The MCP server has ended.")
    return 0


async def run_lite_server(server: Server, place: LitePlace) -> int:
    """Serve the tools of a server of ours over MCP-lite, until a signal comes.

    Raises:
        UsageError: nobody can listen there.
        InsecureAddressError: other machines could reach it in plain text.
    """
    async with _obeyed() as orders:
        await serve_lite(LiteServer(server), place, None, orders)
    return 0


async def _drain_with(server: Connection, orders: Orders) -> None:
    """End with the server."""
    await server.session.wait_closed()
    orders.drain.set()


async def run_lite_service(url: str, arguments: Namespace) -> int:
    """Serve a service of MCP-lite as an MCP server, until the input ends or a signal comes.

    Raises:
        UsageError: the options are wrong.
        InsecureAddressError: the service, or this server, could be reached in plain text.
        RpcError, KinwireError: the service does not list its tools.
    """
    place = address_in(arguments)
    async with _obeyed() as orders, _client(url, arguments) as client:
        bridge = LiteBridge(client)
        with reaching():
            await bridge.refresh()
        async with background() as tasks:
            tasks.start_soon(bridge.keep_fresh)
            if place is None:
                await serve_stdio(bridge.server, orders)
            else:
                with listening(place) as listener:
                    await serve_http(bridge.server, listener, None, orders)
            tasks.cancel_scope.cancel()
    return 0


def _client(url: str, arguments: Namespace) -> LiteClient:
    headers = headers_from(arguments.header)
    try:
        return LiteClient(url, headers=headers, insecure=arguments.insecure)
    except ValueError as error:
        raise UsageError(str(error)) from None


@asynccontextmanager
async def _obeyed() -> AsyncGenerator[Orders]:
    """Yield the orders of the user; a second signal ends the block immediately."""
    orders = Orders()
    async with background() as tasks:
        tasks.start_soon(orders.follow)

        async def end() -> None:
            await orders.end.wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(end)
        yield orders
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def _records(url: str | None) -> AsyncGenerator[Records | None]:
    from kinwire.storage import open_store

    if url is None:
        async with nullcontext():
            yield None
        return
    async with open_store(url) as store:
        yield await store.records(_RECORDS)
