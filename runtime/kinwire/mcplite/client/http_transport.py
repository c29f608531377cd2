"""MCP-lite over HTTP, the client's half: each call is a POST of its own (section 4)."""

from __future__ import annotations

__all__ = ("HttpLiteTransport", "http_lite_transport")

import ssl
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from itertools import count

import anyio
from pydantic_core import from_json

from kinwire.mcplite.client.errors import error_from
from kinwire.mcplite.client.http_parts import HttpPartStream, WholeResult
from kinwire.mcplite.client.http_requests import (
    CALL,
    LIST,
    Endpoint,
    LiteRequests,
    body_of,
    http_failures,
)
from kinwire.mcplite.client.transport import (
    OutgoingCall,
    PartStream,
    TransportOptions,
    trusting,
)
from kinwire.mcplite.rules.polling import TRANSIENT
from kinwire.mcplite.rules.reading import Answered, answer_in, tools_in
from kinwire.rpc.codec import encode, is_object
from kinwire.rpc.errors import InvalidResponseError
from kinwire.transports.http.sse import MEDIA_TYPE
from kinwire.transports.http_client.address import address_of
from kinwire.transports.http_client.client import HttpOptions
from kinwire.transports.http_client.credentials import credentials_of
from kinwire.transports.http_client.dialing import chosen_proxy
from kinwire.transports.http_client.response import media_type, need_parser
from kinwire.transports.http_client.streamed import StreamedResponse
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidRequestError
from kinwire_protocols.mcplite.tables import HTTP

_EMPTY = b"{}"
_MOST = 128  # requests under way, each with a connection; streams are not counted
# Statuses that say more than an error in the body: about the caller, or that it may ask again.
_MORE_THAN_ERRORS = frozenset({401, 403, 407, *TRANSIENT})
_NOT_THERE = (404, 405)  # or an unknown tool, by its code


def http_lite_transport(url: str, options: TransportOptions) -> HttpLiteTransport:
    """Return the transport to the server whose base is `url`; without a path, the usual base.

    Raises:
        ValueError: the URL or an option cannot be used.
        InsecureAddressError: others could read what is sent there.
        ImportError: the extra `http` is not installed.
    """
    need_parser()
    address = address_of(url, insecure=options.insecure)
    credentials = credentials_of(address, options.fields, options.auth)
    proxy = chosen_proxy(address, options.proxy, trust_env=options.trust_env)
    reached = HttpOptions(_tls_of(options), proxy, trust_env=False)
    has_path = "/" in url.partition("://")[2]
    path, mark, query = address.target.partition("?")
    path = f"{path.removesuffix('/')}/" if has_path else HTTP.base
    base = address._replace(target=f"{path}{mark}{query}")
    requests = LiteRequests(base, options.fields, reached, credentials)
    return HttpLiteTransport(requests, options.size)


def _tls_of(options: TransportOptions) -> ssl.SSLContext | None:
    if options.tls is not None or options.certificates is None:
        return options.tls
    return trusting(options.certificates)


class HttpLiteTransport:
    """See `LiteTransport`."""

    def __init__(self, requests: LiteRequests, size: int) -> None:
        self._requests = requests
        self._size = size
        self._numbers = count(1)
        self._slots = anyio.Semaphore(_MOST)

    def opened(self) -> AbstractAsyncContextManager[object]:
        """See `LiteTransport.opened`."""
        return self._requests.opened()

    async def list_tools(self, timeout: float) -> list[JsonObject]:
        """See `LiteTransport.list_tools`."""
        identifier = next(self._numbers)
        request = encode({"jsonrpc": "2.0", "id": identifier, "method": LIST})

        def body(endpoint: Endpoint) -> bytes:
            return request if endpoint.enveloped else _EMPTY

        with http_failures(LIST, self._requests.base, timeout):
            async with self._slots:
                response = await self._requests.begin(LIST, body, repeatable=True)
                value = await self._value(LIST, response)
        answered = answer_in(value, identifier) if _is_envelope(value) else Answered(value)
        tools = tools_in(self._answer(LIST, response, answered))
        if tools is None:
            raise InvalidResponseError(f"{LIST}: expected a list of tools, got something else")
        return tools

    async def call(self, call: OutgoingCall, timeout: float) -> JsonObject:
        """See `LiteTransport.call`."""
        identifier, body = self._call_body(call)
        with http_failures(CALL, self._requests.base, timeout):
            async with self._slots:
                response = await self._requests.begin(CALL, body, repeatable=call.repeatable)
                value = await self._value(CALL, response)
        return self._result(response, value, identifier)

    async def stream(self, call: OutgoingCall, timeout: float) -> PartStream:
        """See `LiteTransport.stream`."""
        identifier, body = self._call_body(call)
        with http_failures(CALL, self._requests.base, timeout):
            response = await self._requests.begin(
                CALL, body, streams=True, repeatable=call.repeatable
            )
            if response.status == 200 and media_type(response.headers) == MEDIA_TYPE:
                return HttpPartStream(self._requests.base, response, identifier, self._size)
            value = await self._value(CALL, response)
        return WholeResult(self._result(response, value, identifier))

    def _call_body(self, call: OutgoingCall) -> tuple[int, Callable[[Endpoint], bytes]]:
        identifier = next(self._numbers)
        params: JsonObject = {"name": call.name, "arguments": call.arguments}
        if call.meta:
            params["_meta"] = call.meta
        request = encode({"jsonrpc": "2.0", "id": identifier, "method": CALL, "params": params})
        return identifier, lambda _: request

    async def _value(self, method: str, response: StreamedResponse) -> object:
        """Return the JSON in a response, of whatever status.

        Raises:
            InvalidResponseError: it has none, or is too long.
        """
        body = await body_of(response, self._size)
        try:
            return from_json(body, allow_inf_nan=False)
        except ValueError:
            failure = self._no_answer(method, response, "it is not JSON")
        raise failure

    def _result(self, response: StreamedResponse, value: object, identifier: int) -> JsonObject:
        result = self._answer(CALL, response, answer_in(value, identifier))
        if not is_object(result):
            raise self._no_answer(CALL, response, "its result is not an object")
        return result

    def _answer(self, method: str, response: StreamedResponse, answered: Answered) -> object:
        """Return the result.

        Raises:
            RpcError: the server refused the request.
            InvalidResponseError: this does not answer the request, or the status says so.
        """
        error = answered.error
        if error is not None and not _is_of_http(error["code"], response.status):
            raise error_from(error["code"], error["message"], error.get("data"))
        if answered.fault is not None or not 200 <= response.status < 300:
            raise self._no_answer(method, response, answered.fault or "")
        return answered.result

    def _no_answer(
        self, method: str, response: StreamedResponse, fault: str
    ) -> InvalidResponseError:
        base = self._requests.base
        if not 200 <= response.status < 300:
            return self._requests.refusal(method, response.status, response.headers)
        return InvalidResponseError(
            f"{method}: {base.origin} sent something else than an answer: {fault}"
        )


def _is_of_http(code: int, status: int) -> bool:
    """Return whether a status says more than the error in the body."""
    if status in _NOT_THERE:
        return code == InvalidRequestError.default_code
    return status in _MORE_THAN_ERRORS


def _is_envelope(value: object) -> bool:
    """Return whether a list of tools came as a response of JSON-RPC, or is its error."""
    return is_object(value) and "tools" not in value
