"""Serve MCP-lite until a signal comes: over HTTP, over gRPC, or over both in one process."""

from __future__ import annotations

__all__ = ("serve_lite",)

import sys
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

import anyio

from kinwire_cli.failure import UsageError
from kinwire_cli.layout import one_line
from kinwire_cli.lite.place import LITE_PATH, LitePlace
from kinwire_cli.network import listening, names_of

if TYPE_CHECKING:
    from kinwire.mcplite import LiteServer
    from kinwire_cli.tokens import Tokens
    from kinwire_cli.upkeep.orders import Orders


async def serve_lite(
    lite: LiteServer, place: LitePlace, tokens: Tokens | None, orders: Orders
) -> None:
    """Serve until `orders.drain`, and return when the calls under way are answered.

    Raises:
        UsageError: nobody can listen there, or a name or the path is not valid.
        InsecureAddressError: `host` can be reached from other machines.
    """
    with ExitStack() as stack:
        listener = None if place.http is None else stack.enter_context(listening(place.http))
        async with anyio.create_task_group() as tasks:
            if listener is not None and place.http is not None:
                from kinwire.transports.http.running import serve_on

                app = lite.asgi(
                    path=place.http.path or LITE_PATH,
                    allowed_hosts=names_of(place.http),
                    authenticate=tokens,
                    insecure=place.insecure,
                )
                serve = partial(serve_on, started=partial(_say, listener.url))
                tasks.start_soon(serve, app, listener.socket, orders.drain)
            if place.grpc_port is not None:
                tasks.start_soon(_serve_grpc, lite, place, tokens, orders)
    await lite.close()


async def _serve_grpc(
    lite: LiteServer, place: LitePlace, tokens: Tokens | None, orders: Orders
) -> None:
    async with anyio.create_task_group() as tasks:

        async def stop() -> None:
            await orders.drain.wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(stop)
        try:
            await lite.serve_grpc(
                place.host,
                place.grpc_port or 0,
                authenticate=tokens,
                insecure=place.insecure,
                started=_say,
            )
        except OSError as error:
            where = f"{place.host}, port {place.grpc_port}"
            text = f"Cannot listen on {where}: {error.strerror or error}."
            failure = UsageError(text, "--grpc-port 0 takes a free one.")
        else:
            return
        raise failure


def _say(address: str) -> None:
    print(one_line(f"serving MCP-lite at {address}"), file=sys.stderr, flush=True)
