"""Requests to URLs that are not trusted: checked, resolved once, asked where checked, bounded.

A connection goes to the very address that was checked, so that a name whose answer changes does
not lead elsewhere; each redirect is checked again. Only the identity of TLS, `Host` and the
target come from the URL. Left out: cookies, credentials, proxies, HTTP/2.
"""

from __future__ import annotations

__all__ = ("Fetched", "GuardedClient", "Network", "SystemNetwork", "connect_checked")

import socket
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple, Protocol
from urllib.parse import urljoin

import anyio
from anyio.abc import ByteStream as AnyioStream

from kinwire.support.background import background
from kinwire.transports.guarded_fetch.rules import (
    NotFetchedError,
    is_named,
    is_public,
    web_address,
)
from kinwire.transports.http_client.address import ServerAddress
from kinwire.transports.http_client.client import HttpClient, HttpOptions
from kinwire.transports.http_client.content_coding import ContentCodingError
from kinwire.transports.http_client.dialing import HttpRoute
from kinwire.transports.http_client.fields import RequestHead
from kinwire.transports.http_client.response import (
    MalformedResponseError,
    media_type,
    need_parser,
)
from kinwire.transports.http_client.streamed import StreamedResponse
from kinwire.transports.tcp.streams import ByteStream, Receiver, TaskStream, client_context

_MOVED = (301, 302, 303)  # a client may ask there with another method
_REDIRECTS = (307, 308)
_MOST_HOPS = 5
_NEXT = 1.0  # seconds until the next address is tried; the last one has all the time that is left


class Network(Protocol):
    """Looks names up, and connects to addresses."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses of a host, those to be tried first at the beginning.

        Raises:
            OSError: the host has no addresses.
        """
        ...

    async def connect(self, address: str, port: int, tls_name: str | None) -> AnyioStream:
        """Return a connection to just that address; with TLS if the certificate's name is given.

        Raises:
            OSError: nobody answers there, or not with a certificate to be trusted.
        """
        ...


class SystemNetwork:
    """Those of this machine. No proxy is asked, whatever variables say: it would look names up."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """See `Network.resolve`."""
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(one[4][0]) for one in found))

    async def connect(self, address: str, port: int, tls_name: str | None) -> AnyioStream:
        """See `Network.connect`."""
        if tls_name is None:
            return await anyio.connect_tcp(address, port)
        return await anyio.connect_tcp(
            address,
            port,
            ssl_context=client_context(),
            tls_hostname=tls_name,
            tls_standard_compatible=False,
        )


async def connect_checked(address: ServerAddress, network: Network) -> AnyioStream:
    """Return a connection to a host all of whose addresses are public, at one that was checked.

    Raises:
        NotFetchedError: the host has no address or a private one, or cannot be connected to.
    """
    found: Sequence[str] = ()
    with suppress(OSError):
        found = await network.resolve(address.host, address.port)
    if not found:
        raise NotFetchedError(f"{address.host} has no address")
    for one in found:  # a single private one is reason enough: nobody has both in good faith
        if not is_public(one):
            raise NotFetchedError(f"{address.host} leads to {one}, which is not public")
    return await _connected(address, found, network)


async def connect_any(address: ServerAddress, network: Network) -> AnyioStream:
    """Return a connection to a host that may be private.

    Raises:
        NotFetchedError: the host has no address, or cannot be connected to.
    """
    found: Sequence[str] = ()
    with suppress(OSError):
        found = await network.resolve(address.host, address.port)
    return await _connected(address, found, network)


async def _connected(address: ServerAddress, found: Sequence[str], network: Network) -> AnyioStream:
    tls_name = address.host if address.secure else None
    for place, one in enumerate(found, start=1):
        with (
            anyio.move_on_after(_NEXT if place < len(found) else None),
            suppress(OSError, anyio.EndOfStream, anyio.BrokenResourceError),
        ):
            return await network.connect(one, address.port, tls_name)
    raise NotFetchedError(f"{address.origin} cannot be connected to, or not trusted")


class Fetched(NamedTuple):
    """What was there, or what was answered."""

    media_type: str
    """In lower case, without parameters."""
    body: bytes


class _Request(NamedTuple):
    method: str
    fields: tuple[tuple[str, str], ...]
    body: bytes
    media_types: Collection[str] | None
    """Those that are accepted, None for all."""
    follows: bool = True
    """Whether redirects are followed."""
    reads: bool = True
    """Whether the body of the answer is read."""


class GuardedClient:
    """Sends requests to what `allow` says yes to, on `network`.

    `allow` is asked for each address, those of redirects too. `insecure` lets plain `http` through;
    what began with TLS never goes on without. An answer has at most `size` bytes, decoded, and is
    there within `timeout` seconds, redirects included. The hosts of `private_hosts`, written with
    or without a port, may be private and have any port.
    """

    def __init__(
        self,
        allow: Callable[[ServerAddress], bool],
        *,
        insecure: bool,
        size: int,
        timeout: float,
        network: Network,
        private_hosts: Collection[str] = (),
    ) -> None:
        """Prepare to send.

        Raises:
            ImportError: the extra `http` is not installed.
        """
        need_parser()
        self._allow = allow
        self._insecure = insecure
        self._size = size
        self._timeout = timeout
        self._network = network
        self._private_hosts = private_hosts

    async def get(self, url: str, media_types: Collection[str]) -> Fetched:
        """Return what is at `url`, of one of these types.

        Raises:
            NotFetchedError: it may not be asked, or does not give such a thing.
        """
        fields = (("Accept", ", ".join(media_types)),)
        return await self._fetched(url, _Request("GET", fields, b"", media_types))

    async def post(
        self,
        url: str,
        body: bytes,
        content_type: str,
        *,
        headers: Iterable[tuple[str, str]] = (),
        follows: bool = True,
        reads: bool = True,
    ) -> Fetched:
        """Send `body` to `url` and return the answer, which has a status from 200 to 299.

        Unless it `reads`, the status is all that is waited for, and the body is empty.

        The body and the `headers` are sent once more where a redirect with status 307 or 308 leads,
        unless `follows` is false. The other redirects are refused, because some programs send GET
        there.

        Raises:
            NotFetchedError: it may not be sent there, or is not accepted. The server may have
                acted on it unless the connection was refused.
        """
        fields = (("Content-Type", content_type), *headers)
        return await self._fetched(url, _Request("POST", fields, body, None, follows, reads))

    async def _fetched(self, url: str, request: _Request) -> Fetched:
        with anyio.move_on_after(self._timeout):  # a TimeoutError of `allow` is its own
            return await self._followed(url, request)
        raise NotFetchedError(f"no answer within {self._timeout:g} seconds")

    async def _followed(self, url: str, request: _Request) -> Fetched:
        secure = False
        for _ in range(_MOST_HOPS + 1):
            address = self._checked(url, before_secure=secure)
            secure = address.secure
            answer = await self._asked(address, request)
            if isinstance(answer, Fetched):
                return answer
            url = _joined(address, answer)
        raise NotFetchedError(f"there were more than {_MOST_HOPS} redirects")

    def _checked(self, url: str, *, before_secure: bool) -> ServerAddress:
        address = web_address(url, self._private_hosts)
        if not address.secure and (before_secure or not self._insecure):
            raise NotFetchedError(f"{address.origin} has no TLS, so others could change the answer")
        if not self._allow(address):
            raise NotFetchedError(f"the host does not allow {address.origin}")
        return address

    async def _asked(self, address: ServerAddress, request: _Request) -> Fetched | str:
        """Return the answer, or where a redirect leads."""
        head = RequestHead(request.method, address, (*request.fields, ("Connection", "close")))
        try:
            async with (
                self._client(address) as client,
                client.stream(head, request.body) as response,
            ):
                return await self._read(response, request)
        except MalformedResponseError as error:
            raise NotFetchedError(f"{address.origin} does not speak HTTP/1.1: {error}") from None
        except ContentCodingError as error:
            raise NotFetchedError(f"{address.origin} sent what is unreadable: {error}") from None
        except OSError:
            raise NotFetchedError(f"{address.origin} broke off its answer") from None

    @asynccontextmanager
    async def _client(self, address: ServerAddress) -> AsyncGenerator[HttpClient]:
        async with background() as tasks:

            async def dial(route: HttpRoute, receiver: Receiver) -> ByteStream:
                is_private = is_named(address.host, address.port, self._private_hosts)
                connect = connect_any if is_private else connect_checked
                stream = TaskStream(await connect(address, self._network), receiver)
                tasks.start_soon(stream.run)
                return stream

            async with HttpClient.opened(HttpOptions(dial=dial, redirects=0)) as client:
                yield client
            tasks.cancel_scope.cancel()

    async def _read(self, response: StreamedResponse, request: _Request) -> Fetched | str:
        moved = response.headers.get("location")
        follows = _REDIRECTS if request.method == "POST" else (*_MOVED, *_REDIRECTS)
        if request.follows and response.status in follows and moved:
            return moved
        if not _is_accepted(response.status, request):
            reason = f"it is answered by HTTP status {response.status}"
            raise NotFetchedError(reason, response.status)
        kind = media_type(response.headers)
        if request.media_types is not None and kind not in request.media_types:
            raise NotFetchedError(f"it is of the type {kind!r:.60}, which is not accepted")
        content = bytearray()
        if not request.reads:
            return Fetched(kind, b"")
        async for chunk in response:
            content += chunk
            if len(content) > self._size:
                raise NotFetchedError(f"it has more than {self._size} bytes")
        return Fetched(kind, bytes(content))


def _is_accepted(status: int, request: _Request) -> bool:
    return status == 200 if request.method == "GET" else 200 <= status < 300


def _joined(address: ServerAddress, reference: str) -> str:
    try:
        return urljoin(address.url, reference)
    except ValueError:  # a host in brackets that is not an address
        raise NotFetchedError(f"{address.origin} redirects to an invalid URL") from None
