"""How a connection to an address begins: directly or through a proxy, with TLS or without.

The environment names proxies by variables, which are read as `curl` and `httpx` read them. URLs of
proxies are never shown, because they may hold passwords.
"""

from __future__ import annotations

__all__ = (
    "Dial",
    "Dialer",
    "HttpRoute",
    "ProxyError",
    "chosen_proxy",
    "proxy_address",
    "proxy_fields",
    "proxy_for",
)

import os
import ssl
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple

import anyio
from anyio.abc import ByteStream as AnyioStream
from anyio.streams.tls import TLSStream

from kinwire.transports.http_client.address import ServerAddress, hint_for, reason_of, split_url
from kinwire.transports.http_client.fields import USER_AGENT, Fields
from kinwire.transports.http_client.response import Headers, MalformedResponseError, ResponseReader
from kinwire.transports.task_spawner import TaskSpawner
from kinwire.transports.tcp.streams import (
    ByteStream,
    Receiver,
    TaskStream,
    client_context,
    connected,
    dial,
)

_EXAMPLE = "expected a URL such as http://proxy.example:3128"
_WANTS_NAME = 407


def proxy_address(url: str, *, source: str = "proxy") -> ServerAddress:
    """Return where the proxy is; "proxy.example:3128" is read as if it began with `http://`.

    Args:
        url: the URL of the proxy, perhaps with a name and a password.
        source: the option or variable that names the proxy, for the error.

    Raises:
        ValueError: it is not the URL of a proxy that can be used.
    """
    scheme, mark, _ = url.partition("://")
    if mark and scheme.lower().startswith("socks"):
        raise ValueError(
            f"{source}: {_EXAMPLE}, got one of SOCKS. Pass a client of your own that "
            "can use it: http=httpx2.AsyncClient(proxy=...)"
        )
    try:
        address = split_url(url if mark else f"http://{url}")
    except ValueError:
        address = None
    if address is None or address.scheme not in ("http", "https"):
        raise ValueError(f"{source}: {_EXAMPLE}")
    return address


def proxy_for(address: ServerAddress, environment: Mapping[str, str]) -> ServerAddress | None:
    """Return the proxy that the environment names for an address, None for a direct connection.

    `HTTPS_PROXY` is for `https` and `wss`, `HTTP_PROXY` for `http` and `ws`, `ALL_PROXY` for both;
    `NO_PROXY` lists hosts that are connected to directly. Names in lower case precede. `HTTP_PROXY`
    is ignored in a CGI program, where a client's header `Proxy` sets it.

    Raises:
        ValueError: the variable that counts does not hold the URL of a proxy. It is named.
    """
    kind = "https_proxy" if address.secure else "http_proxy"
    for name in (kind, "all_proxy"):
        variable = _set_variable(name, environment)
        if variable is None:
            continue
        value = environment[variable].strip()
        if value:
            no_proxy = _set_variable("no_proxy", environment)
            hosts = "" if no_proxy is None else environment[no_proxy]
            return None if _is_listed(address, hosts) else proxy_address(value, source=variable)
    return None


def _set_variable(name: str, environment: Mapping[str, str]) -> str | None:
    """Return how the variable is spelled that counts, None if it is not set."""
    if name in environment:
        return name
    if name == "http_proxy" and "REQUEST_METHOD" in environment:
        return None
    return name.upper() if name.upper() in environment else None


def _is_listed(address: ServerAddress, no_proxy: str) -> bool:
    return any(_matches(address, entry) for entry in no_proxy.replace(",", " ").split())


def _matches(address: ServerAddress, entry: str) -> bool:
    if entry == "*":
        return True
    host, entry = address.host.lower().rstrip("."), entry.lower().rpartition("://")[2]
    numeric = _ip(host)
    if numeric is not None and "/" in entry:
        with suppress(ValueError):
            return numeric in ip_network(entry, strict=False)
        return False
    name, port = _host_and_port(entry)
    if port is not None and port != str(address.port):
        return False
    if numeric is not None:
        return numeric == _ip(name)
    name = name.removeprefix("*").removeprefix(".").rstrip(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))


def _host_and_port(entry: str) -> tuple[str, str | None]:
    """Return both, the port as None if it is not there. IPv6 may stand in brackets."""
    if _ip(entry) is not None:
        return entry, None
    host, mark, port = entry.rpartition(":")
    if not mark or not port.isdigit():
        host, port = entry, ""
    return host.removeprefix("[").removesuffix("]"), port or None


def _ip(text: str) -> IPv4Address | IPv6Address | None:
    with suppress(ValueError):
        return ip_address(text)
    return None


class ProxyError(ConnectionError):
    """The proxy does not connect to the server."""


class HttpRoute(NamedTuple):
    """The way to a server."""

    address: ServerAddress
    proxy: ServerAddress | None

    @property
    def absolute(self) -> bool:
        """Return whether the proxy gets each request itself, with an absolute target."""
        return self.proxy is not None and self.address.scheme == "http"


Dial = Callable[[HttpRoute, Receiver], Awaitable[ByteStream]]
"""Connects, with TLS if the address is secure, and has the receiver get what arrives."""


class Dialer:
    """Connects: on asyncio's `loop`, if there is one, else with tasks of `tasks`."""

    def __init__(
        self, tasks: TaskSpawner, loop: AbstractEventLoop | None, tls: ssl.SSLContext | None
    ) -> None:
        self._tasks = tasks
        self._loop = loop
        self._tls = tls

    async def dial(self, route: HttpRoute, receiver: Receiver) -> ByteStream:
        """Return a connection on that way.

        Raises:
            OSError: nobody answers there, or (`ssl.SSLError`) not with a certificate to be trusted.
            ProxyError: the proxy refuses, or cannot be reached.
        """
        address, proxy = route
        if proxy is None:
            return await self._to(address, receiver)
        if not route.absolute:
            return await self._through(proxy, address, receiver)
        try:
            return await self._to(proxy, receiver)
        except OSError as error:
            raise _unreachable(proxy, error) from error

    async def _to(self, address: ServerAddress, receiver: Receiver) -> ByteStream:
        """Return a connection without anything in between."""
        host, port, tls = address.host, address.port, self._tls_for(address)
        return await dial(host, port, receiver, tls=tls, loop=self._loop, tasks=self._tasks)

    async def _through(
        self, proxy: ServerAddress, address: ServerAddress, receiver: Receiver
    ) -> ByteStream:
        """Return a connection to the server inside of one to the proxy."""
        try:
            outer = await connected(proxy.host, proxy.port, self._tls_for(proxy))
        except OSError as error:
            raise _unreachable(proxy, error) from error
        try:
            await _open_tunnel(outer, proxy, address)
            inner = await self._with_tls(outer, address)
        except BaseException as error:
            with anyio.CancelScope(shield=True):
                await anyio.aclose_forcefully(outer)
            if isinstance(error, (anyio.EndOfStream, anyio.BrokenResourceError)):
                raise ProxyError("the proxy closed the connection") from None
            raise
        stream = TaskStream(inner, receiver)
        self._tasks.spawn(stream.run)
        return stream

    async def _with_tls(self, stream: AnyioStream, address: ServerAddress) -> AnyioStream:
        tls = self._tls_for(address)
        if tls is None:  # WebSocket needs a tunnel without TLS, too
            return stream
        return await TLSStream.wrap(
            stream, hostname=address.host, ssl_context=tls, standard_compatible=False
        )

    def _tls_for(self, address: ServerAddress) -> ssl.SSLContext | None:
        return (self._tls or client_context()) if address.secure else None


def chosen_proxy(
    address: ServerAddress, proxy: str | None, *, trust_env: bool
) -> ServerAddress | None:
    """Return the proxy for an address: the one that is passed, else that of the environment.

    Raises:
        ValueError: it is not the URL of a proxy that can be used.
    """
    if proxy is not None:
        return proxy_address(proxy)
    return proxy_for(address, os.environ) if trust_env else None


async def _open_tunnel(stream: AnyioStream, proxy: ServerAddress, address: ServerAddress) -> None:
    """Have the proxy connect to the server (RFC 9110, section 9.3.6).

    Raises:
        ProxyError: it does not.
    """
    host = f"[{address.host}]" if ":" in address.host else address.host
    place = f"{host}:{address.port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}", f"User-Agent: {USER_AGENT}"]
    lines += [f"{name}: {value}" for name, value in proxy_fields(proxy)]
    await stream.send("\r\n".join([*lines, "", ""]).encode("latin-1"))
    answer, reader = _TunnelReply(), ResponseReader()
    reader.expect(answer, bodiless=True)
    try:
        while not reader.feed(await stream.receive()):
            pass
    except MalformedResponseError as error:
        raise ProxyError(f"the proxy does not speak HTTP/1.1: {error}") from None
    if not 200 <= answer.status < 300:
        hint = hint_for(proxy, answer.status, None) if answer.status == _WANTS_NAME else ""
        raise ProxyError(f"the proxy answered HTTP {answer.status}.{hint}")


def _unreachable(proxy: ServerAddress, error: Exception) -> ProxyError:
    return ProxyError(f"the proxy {proxy.origin} cannot be used: {reason_of(error)}")


def proxy_fields(proxy: ServerAddress) -> Fields:
    """Return the headers for the proxy itself."""
    if proxy.authorization is None:
        return ()
    return (("Proxy-Authorization", proxy.authorization),)


class _TunnelReply:
    """A `ResponseReceiver` that keeps the status."""

    status = 0

    def head(self, status: int, headers: Headers, /) -> None:
        """See `ResponseReceiver.head`."""
        self.status = status

    def body(self, chunk: bytes, /) -> None:
        """See `ResponseReceiver.body`."""

    def end(self) -> None:
        """See `ResponseReceiver.end`."""

    def broken(self, error: Exception, /) -> None:
        """See `ResponseReceiver.broken`."""
