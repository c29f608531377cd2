"""Scenarios of MCPL between our side and a raw peer, each over every wire.

A scenario is an asynchronous function whose first parameter is named `connect`::

    @against_raw_host
    async def test_events_go_out_as_blocks(connect: ConnectHost) -> None:
        live = McplServer(feature_sets={"bell": feature("pushEvents")})
        host = await connect(Server("bell", "1", extensions=[live]))
        await host.open({"version": "0.4", "pushEvents": True}, update={"enabled": ["bell"]})
        ...

    @against_raw_server
    async def test_disabled_sets_are_refused(connect: ConnectServer) -> None:
        live = McplHost(enabled=["memory.*"])
        raw = RawServer({"version": "0.4", "pushEvents": True, "featureSets": {...}})
        async with Host("h", "1", extensions=[live]) as host:
            connection = await connect(host, raw)
            ...

`RawPeer` (in `peer.py`) has what a raw peer can do. `connect` may be called several times: for
several peers, or for a second connection after `await peer.hang_up()`. A raw server stays reachable
at its address (its URL or command), so connecting to it again is the same server for our host;
`connect(host, RawServer(...), at=raw)` puts another server at the address of `raw`. Further options
are those of `Host.connect`, such as `server_id="notes"`.

Memory runs on every change, the other wires with what is slow; `wires=("memory", "stdio")` chooses,
`quick=("memory", "stdio")` says which of them run on every change. Over stdio a raw server is
reached through a real child process. Marks and further parameters of pytest work as usual.
"""

from __future__ import annotations

__all__ = ("WIRES", "ConnectHost", "ConnectServer", "against_raw_host", "against_raw_server")

import inspect
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar, overload

import anyio
import pytest

from kinwire import Connection, Host, Server
from tests.runtime.mcpl.raw.peer import RawHost, RawServer
from tests.runtime.mcpl.raw.raw_hosts import WAYS
from tests.runtime.mcpl.raw.raw_servers import ADDRESSES, Address

WIRES = ("memory", "stdio", "http", "ws")
SECONDS = 30  # for one scenario over one wire


class ConnectHost:
    """Lets raw hosts connect to servers of ours: `host = await connect(server)`."""

    def __init__(self, wire: str, stack: AsyncExitStack) -> None:
        self.wire = wire
        self._stack = stack

    async def __call__(self, server: Server, host: RawHost | None = None) -> RawHost:
        """Return a raw host that is connected, before the handshake."""
        host = RawHost() if host is None else host
        await self._stack.enter_async_context(WAYS[self.wire](server, host))
        return host


class ConnectServer:
    """Connects hosts of ours to raw servers: `connection = await connect(host, raw)`."""

    def __init__(self, wire: str, stack: AsyncExitStack) -> None:
        self.wire = wire
        self._stack = stack
        self._addresses: dict[RawServer, Address] = {}

    async def __call__(
        self, host: Host, server: RawServer, *, at: RawServer | None = None, **options: Any
    ) -> Connection:
        """Return the connection, after the handshake."""
        address = await self.address_of(at or server)
        address.peer = server
        self._addresses[server] = address
        return await host.connect(address.target(), **options)

    async def address_of(self, server: RawServer) -> Address:
        """Return where the server is reached."""
        address = self._addresses.get(server)
        if address is None:
            opened = ADDRESSES[self.wire](server)
            address = self._addresses[server] = await self._stack.enter_async_context(opened)
        return address


Scenario = TypeVar("Scenario", bound=Callable[..., Any])


@overload
def against_raw_host(scenario: Scenario, /) -> Scenario: ...
@overload
def against_raw_host(
    *, wires: Collection[str] = WIRES, quick: Collection[str] = ("memory",)
) -> Callable[[Scenario], Scenario]: ...
def against_raw_host(scenario: Any = None, /, **options: Any) -> Any:
    """Make a test of a scenario in which our side is the server."""
    return _against(ConnectHost, scenario, **options)


@overload
def against_raw_server(scenario: Scenario, /) -> Scenario: ...
@overload
def against_raw_server(
    *, wires: Collection[str] = WIRES, quick: Collection[str] = ("memory",)
) -> Callable[[Scenario], Scenario]: ...
def against_raw_server(scenario: Any = None, /, **options: Any) -> Any:
    """Make a test of a scenario in which our side is the host."""
    return _against(ConnectServer, scenario, **options)


def _against(
    kind: type[ConnectHost] | type[ConnectServer],
    scenario: Any,
    *,
    wires: Collection[str] = WIRES,
    quick: Collection[str] = ("memory",),
) -> Any:
    def decorate(scenario: Any) -> Any:
        return _over_wires(kind, scenario, [_marked(wire, quick) for wire in wires])

    return decorate if scenario is None else decorate(scenario)


def _marked(wire: str, quick: Collection[str]) -> Any:
    return pytest.param(wire, marks=() if wire in quick else pytest.mark.slow)


def _over_wires(
    kind: type[ConnectHost] | type[ConnectServer], scenario: Callable[..., Any], wires: list[Any]
) -> Any:
    async def test(wire: str, **others: Any) -> None:
        async with _scope() as stack:
            await scenario(kind(wire, stack), **others)

    test.__dict__.update(scenario.__dict__)
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(test, name, getattr(scenario, name))
    _, *others = inspect.signature(scenario).parameters.values()
    first = inspect.Parameter("wire", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    test.__signature__ = inspect.Signature([first, *others])  # type: ignore[attr-defined]
    return pytest.mark.anyio(pytest.mark.parametrize("wire", wires)(test))


@asynccontextmanager
async def _scope() -> AsyncGenerator[AsyncExitStack]:
    with anyio.fail_after(SECONDS):
        async with AsyncExitStack() as stack:
            yield stack
