"""What wrong arguments are passed to, and calls that must not come to anything."""

from __future__ import annotations

__all__ = (
    "ROUTING",
    "URL",
    "any_connection",
    "awaited",
    "complete",
    "connected",
    "guarded_server",
    "handler",
    "hosted",
    "in_a_tool",
    "paired",
    "server",
)

import inspect
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

import anyio

import kinwire
import kinwire.mcpl
import kinwire.mgp
from kinwire import (
    Connection,
    Context,
    Host,
    Server,
    connect,
    pair,
)
from kinwire_protocols import mcpl

URL = "http://127.0.0.1:9/mcp"
ROUTING = mcpl.RoutingPolicy(default="m")


async def handler(params: Any) -> Any: ...


def server() -> Server:
    return Server("s", "1")


def any_connection() -> Connection:
    """Return one that is never used: what is called refuses another argument first."""
    return object.__new__(Connection)


def guarded_server() -> kinwire.mgp.GuardedServer:
    """Return one that is never used."""
    made = object.__new__(kinwire.mgp.GuardedServer)
    return vars(made).update(extensions=frozenset(), offer=None) or made


async def connected(target: Any, **options: Any) -> None:
    async with connect(target, **options):
        raise AssertionError("it is connected")


async def paired(first: Any, second: Any) -> None:
    async with pair(first, second):
        raise AssertionError("they are connected")


async def hosted(target: Any, **options: Any) -> None:
    async with Host("h", "1") as host:
        await host.connect(target, **options)


# -- habits --


def complete(value: Any) -> None:
    if inspect.isawaitable(value) or isinstance(value, AbstractAsyncContextManager):
        anyio.run(partial(awaited, value))


async def awaited(value: Any) -> None:
    with anyio.fail_after(5):
        if isinstance(value, AbstractAsyncContextManager):
            async with value:
                raise AssertionError("it is entered")
        if inspect.isawaitable(value):
            await value


def in_a_tool(call: Callable[[Context], Any]) -> str:
    """Return the text of what `call` raises inside a tool."""
    raised: list[str] = []

    async def body() -> None:
        served = server()

        @served.tool
        async def use(context: Context) -> None:
            try:
                await awaited(call(context))
            except Exception as error:
                raised.append(str(error))

        async with pair(served) as connection:
            await connection.mcp.tools_call(name="use")

    anyio.run(body)
    return raised[0]


# -- every public function --
