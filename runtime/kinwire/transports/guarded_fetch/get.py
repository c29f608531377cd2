"""GET of a URL that is not trusted: checked, resolved once, asked where it was checked, bounded.

A connection goes to the very address that was checked, so that a name whose answer changes does
not lead elsewhere; each redirect is checked again. Only the identity of TLS, `Host` and the
target come from the URL. Left out: cookies, credentials, compression, HTTP/2.
"""

from __future__ import annotations

__all__ = ("Fetched", "GuardedClient")

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import urljoin

import anyio
from anyio.abc import ByteStream

from kinwire.transports.guarded_fetch.errors import NotFetchedError
from kinwire.transports.guarded_fetch.network import Network
from kinwire.transports.guarded_fetch.rules.addresses import is_public
from kinwire.transports.guarded_fetch.rules.urls import web_address
from kinwire.transports.http_client.address import ServerAddress
from kinwire.transports.http_client.fields import RequestHead
from kinwire.transports.http_client.response import (
    Headers,
    MalformedResponseError,
    ResponseReader,
    media_type,
)

_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_HOPS = 5
_READ = 64 * 1024  # bytes
_NEXT = 1.0  # seconds until the next address is tried; the last one has all the time that is left


class Fetched(NamedTuple):
    """What was there."""

    media_type: str
    """In lower case, without parameters."""
    body: bytes


class GuardedClient:
    """Fetches what `allow` says yes to, on `network`.

    `allow` is asked for each address, those of redirects too. `insecure` lets plain `http` through;
    what began with TLS never goes on without. An answer has at most `size` bytes and is there
    within `timeout` seconds, redirects included.
    """

    def __init__(
        self,
        allow: Callable[[ServerAddress], bool],
        *,
        insecure: bool,
        size: int,
        timeout: float,
        network: Network,
    ) -> None:
        self._allow = allow
        self._insecure = insecure
        self._size = size
        self._timeout = timeout
        self._network = network

    async def get(self, url: str, media_types: Collection[str]) -> Fetched:
        """Return what is at `url`, of one of these types.

        Raises:
            NotFetchedError: it may not be asked, or does not give such a thing.
        """
        with anyio.move_on_after(self._timeout):  # a TimeoutError of `allow` is its own
            return await self._followed(url, media_types)
        raise NotFetchedError(f"no answer within {self._timeout:g} seconds")

    async def _followed(self, url: str, media_types: Collection[str]) -> Fetched:
        secure = False
        for _ in range(_MOST_HOPS + 1):
            address = self._checked(url, before_secure=secure)
            secure = address.secure
            answer = await self._asked(address, media_types)
            if answer.moved_to is None:
                return Fetched(answer.media_type, bytes(answer.content))
            url = _joined(address, answer.moved_to)
        raise NotFetchedError(f"there were more than {_MOST_HOPS} redirects")

    def _checked(self, url: str, *, before_secure: bool) -> ServerAddress:
        address = web_address(url)
        if not address.secure and (before_secure or not self._insecure):
            raise NotFetchedError(f"{address.origin} has no TLS, so others could change the answer")
        if not self._allow(address):
            raise NotFetchedError(f"the host does not allow {address.origin}")
        return address

    async def _asked(self, address: ServerAddress, media_types: Collection[str]) -> _Answer:
        stream = await self._connected(address)
        try:
            return await _exchanged(stream, address, _Answer(media_types, self._size))
        except MalformedResponseError as error:
            raise NotFetchedError(f"{address.origin} does not speak HTTP/1.1: {error}") from None
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            raise NotFetchedError(f"{address.origin} broke off its answer") from None
        finally:
            await anyio.aclose_forcefully(stream)

    async def _connected(self, address: ServerAddress) -> ByteStream:
        found: Sequence[str] = ()
        with suppress(OSError):
            found = await self._network.resolve(address.host, address.port)
        if not found:
            raise NotFetchedError(f"{address.host} has no address")
        for one in found:  # a single private one is reason enough: nobody has both in good faith
            if not is_public(one):
                raise NotFetchedError(f"{address.host} leads to {one}, which is not public")
        tls_name = address.host if address.secure else None
        for place, one in enumerate(found, start=1):
            with (
                anyio.move_on_after(_NEXT if place < len(found) else None),
                suppress(OSError, anyio.EndOfStream, anyio.BrokenResourceError),
            ):
                return await self._network.connect(one, address.port, tls_name)
        raise NotFetchedError(f"{address.origin} cannot be connected to, or not trusted")


def _joined(address: ServerAddress, reference: str) -> str:
    try:
        return urljoin(address.url, reference)
    except ValueError:  # a host in brackets that is not an address
        raise NotFetchedError(f"{address.origin} redirects to an invalid URL") from None


async def _exchanged(stream: ByteStream, address: ServerAddress, answer: _Answer) -> _Answer:
    fields = {
        "Accept": ", ".join(answer.media_types),
        "Accept-Encoding": "identity",
        "User-Agent": "kinwire",
        "Connection": "close",
    }
    await stream.send(RequestHead("GET", address, fields.items()).followed_by(b""))
    reader = ResponseReader()
    reader.expect(answer)
    while answer.moved_to is None:
        try:
            chunk = await stream.receive(_READ)
        except anyio.EndOfStream:
            if reader.ended():
                break
            raise
        if reader.feed(chunk):
            break
    return answer


class _Answer:
    """A response as it comes; anything that cannot be used is refused immediately."""

    def __init__(self, media_types: Collection[str], size: int) -> None:
        self.media_types = media_types
        self._size = size
        self.media_type = ""
        self.moved_to: str | None = None
        self.content = bytearray()

    def head(self, status: int, headers: Headers) -> None:
        """See `ResponseReceiver.head`."""
        if status in _REDIRECTS and headers.get("location"):
            self.moved_to = headers["location"]
            return
        if status != 200:
            raise NotFetchedError(f"it is answered by HTTP status {status}")
        self.media_type = media_type(headers)
        if self.media_type not in self.media_types:
            raise NotFetchedError(
                f"it is of the type {self.media_type!r:.60}, which is not accepted"
            )
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise NotFetchedError("it is compressed, which was not asked for")

    def body(self, chunk: bytes) -> None:
        """See `ResponseReceiver.body`."""
        if self.moved_to is None:
            self.content += chunk
        if len(self.content) > self._size:
            raise NotFetchedError(f"it has more than {self._size} bytes")

    def end(self) -> None:
        """See `ResponseReceiver.end`."""

    def broken(self, error: Exception) -> None:
        """See `ResponseReceiver.broken`."""
