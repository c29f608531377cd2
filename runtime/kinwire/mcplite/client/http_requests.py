"""Requests of MCP-lite over HTTP: where they go, as whom, and what is said when they fail.

A server may have only one of the paths that the specification writes in several ways (4.2, A.1,
A.4), so the next is tried where nothing is served: what was answered with 404 has done nothing.
"""

from __future__ import annotations

__all__ = ("CALL", "LIST", "Endpoint", "LiteRequests", "http_failures")

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import NamedTuple

import anyio

from kinwire.mcplite.client.transport import NOT_ACCEPTED, SAY_WHO
from kinwire.rpc.codec import longer_than
from kinwire.rpc.errors import InvalidResponseError, RequestTimeoutError, SessionStateError
from kinwire.transports.http.sse import MEDIA_TYPE
from kinwire.transports.http_client.address import ServerAddress, hint_for, no_connection
from kinwire.transports.http_client.client import HttpClient, HttpOptions
from kinwire.transports.http_client.credentials import Credentials
from kinwire.transports.http_client.fields import Fields, RequestHead
from kinwire.transports.http_client.response import Headers, MalformedResponseError
from kinwire.transports.http_client.streamed import StreamedResponse
from kinwire_protocols.mcplite.tables import HTTP

CALL, LIST = "tools/call", "tools/list"
_JSON = "application/json"
_NOTHING_THERE = (404, 405)
_WHO = 401
_HINT = " Nothing is served there. Look at the path of the URL: it is often /mcp-lite/v1/."
_TIMEOUT_HINT = "Pass a longer timeout, or call a tool that answers with a promise."


class Endpoint(NamedTuple):
    """A path that may serve a method, and whether it takes JSON-RPC."""

    name: str
    enveloped: bool


def _endpoints() -> dict[str, tuple[Endpoint, ...]]:
    listing, calling = HTTP.paths["listtools"], HTTP.paths["calltools"]
    calls = [Endpoint(name, enveloped=True) for name in ("calltools", *calling.aliases)]
    lists = [Endpoint(name, enveloped=False) for name in ("listtools", *listing.aliases)]
    return {CALL: tuple(calls), LIST: (*lists, *calls[-1:])}


_ENDPOINTS = _endpoints()


class LiteRequests:
    """Sends requests to the server at `base`, an address that ends with a slash."""

    def __init__(
        self, base: ServerAddress, fields: Fields, reached: HttpOptions, credentials: Credentials
    ) -> None:
        self.base = base
        self._fields = fields
        self._reached = reached
        self._credentials = credentials
        self._client: HttpClient | None = None
        self._served: dict[str, Endpoint] = {}  # by method, what has answered
        self._heads: dict[tuple[str, str], RequestHead] = {}

    def refusal(self, method: str, status: int, headers: Headers) -> InvalidResponseError:
        """Return the error for a status that stands for no answer of the protocol."""
        hint = hint_for(self.base, status, headers.get("location"))
        if status in _NOTHING_THERE:
            hint = _HINT
        elif status == _WHO:
            hint = NOT_ACCEPTED if self._says_who else SAY_WHO
        error = InvalidResponseError(
            f"{method}: {self.base.origin} answered with HTTP status {status}.{hint}"
        )
        error.status = status
        seconds = headers.get("retry-after", "")
        if seconds.isascii() and seconds.isdigit():  # else a date, which few servers write
            error.retry_after = float(seconds)
        return error

    @property
    def _says_who(self) -> bool:
        named = any(name.lower() == "authorization" for name, _ in self._fields)
        return named or self._credentials.value is not None

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """See `LiteTransport.opened`."""
        async with HttpClient.opened(self._reached) as self._client:
            try:
                yield
            finally:
                self._client = None

    async def begin(
        self,
        method: str,
        body: Callable[[Endpoint], bytes],
        *,
        streams: bool = False,
        repeatable: bool = False,
    ) -> StreamedResponse:
        """Return the response to a request, when its head has come; `give_up` ends it.

        Args:
            method: the method of the protocol.
            body: returns the content for a path.
            streams: whether an event stream is wanted.
            repeatable: whether the server may get it twice.

        Raises:
            OSError, MalformedResponseError: see `HttpClient.request`.
            SessionStateError: the client is not open.
        """
        known = self._served.get(method)
        tried = _ENDPOINTS[method] if known is None else (known,)
        accept = MEDIA_TYPE if streams else _JSON
        for endpoint in tried:
            content = body(endpoint)
            response = await self._authorized(endpoint, accept, content, repeatable)
            if response.status == 404 and endpoint is not tried[-1]:
                give_up(response)
                continue
            if response.status == 200:
                self._served[method] = endpoint
            return response
        raise AssertionError("a method has a path")

    async def _authorized(
        self, endpoint: Endpoint, accept: str, content: bytes, repeatable: bool
    ) -> StreamedResponse:
        """Return the response, to the second request if the first wanted other credentials."""
        if self._credentials.missing:
            await self._renew(0, None)
        number = self._credentials.number
        response = await self._sent(endpoint, accept, content, repeatable)
        if response.status == 401 and self._credentials.renewable:
            give_up(response)
            await self._renew(number, response.headers.get("www-authenticate"))
            response = await self._sent(endpoint, accept, content, repeatable)
        return response

    async def _renew(self, number: int, challenge: str | None) -> None:
        await self._credentials.renew(number, challenge)
        self._heads.clear()

    async def _sent(
        self, endpoint: Endpoint, accept: str, content: bytes, repeatable: bool
    ) -> StreamedResponse:
        if self._client is None:
            raise SessionStateError("The client is not open. Write: async with LiteClient(...)")
        response = StreamedResponse()
        head = self._head(endpoint.name, accept)
        response.handle = self._client.send(head, content, response, repeatable=repeatable)
        try:
            await response.begun()
        except BaseException:
            give_up(response)
            raise
        return response

    def _head(self, name: str, accept: str) -> RequestHead:
        head = self._heads.get((name, accept))
        if head is None:
            path, mark, query = self.base.target.partition("?")
            address = self.base._replace(target=f"{path}{name}{mark}{query}")
            fields = [("Accept", accept), ("Content-Type", _JSON), *self._fields]
            if self._credentials.value is not None:
                fields.append(("Authorization", self._credentials.value))
            head = self._heads[name, accept] = RequestHead("POST", address, fields)
        return head


def give_up(response: StreamedResponse) -> None:
    """Want nothing more of a response; its connection is closed if it is not complete."""
    if response.handle is not None:
        response.handle.cancel()


@contextmanager
def http_failures(method: str, address: ServerAddress, timeout: float) -> Generator[None]:
    """Limit the time of the block, and raise the errors of the runtime for what fails in it.

    Raises:
        RequestTimeoutError: the block took longer than `timeout` seconds.
        ConnectionClosedError: there was no connection, or it was lost.
        InvalidResponseError: the answer is not HTTP.
    """
    try:
        with anyio.fail_after(timeout):
            yield
    except TimeoutError:
        failure: Exception = RequestTimeoutError(method, timeout, _TIMEOUT_HINT)
    except MalformedResponseError as error:
        failure = InvalidResponseError(f"{method}: {address.origin} does not speak HTTP: {error}")
    except OSError as error:
        failure = no_connection(address, error)
    else:
        return
    raise failure


async def body_of(response: StreamedResponse, size: int) -> bytes:
    """Return the whole body of a response.

    Raises:
        InvalidResponseError: it has more than `size` bytes.
    """
    found = bytearray()
    try:
        async for chunk in response:
            found += chunk
            if len(found) > size:
                raise InvalidResponseError(f"The answer is {longer_than(size)}")
    finally:
        give_up(response)
    return bytes(found)
