"""The gRPC binding of the client (MCP-lite 0.042 section 5): asyncio, and the extra `grpc`."""

from __future__ import annotations

__all__ = ("GrpcTransport",)

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio
import grpc
import grpc.aio

from kinwire.mcplite.client.grpc_faults import fault_of
from kinwire.mcplite.client.transport import (
    OutgoingCall,
    PartStream,
    StreamMessage,
    TransportOptions,
    trusting,
)
from kinwire.mcplite.rules.calls import ToolCall
from kinwire.mcplite.rules.grpc_messages import encoded_call, response_from, tools_from
from kinwire.rpc.errors import (
    InvalidResponseError,
    KinwireError,
    RequestTimeoutError,
    RpcError,
    SessionStateError,
    UnsendableError,
)
from kinwire.transports.grpc.address import GrpcAddress, grpc_address
from kinwire.transports.grpc.cancel_guard import guarded
from kinwire.transports.grpc.needed import need_asyncio
from kinwire.transports.http.security import is_loopback
from kinwire.transports.http_client.credentials import Credentials
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcplite.descriptor import SERVICE

T = TypeVar("T")

_LIST, _CALL = "tools/list", "tools/call"
_EMPTY = b""
_METADATA = re.compile(r"[a-z0-9_.-]+")
_BAD_TOKEN = grpc.StatusCode.UNAUTHENTICATED


class GrpcTransport:
    """Calls one server over one channel, while the block of `opened` runs."""

    def __init__(self, url: str, options: TransportOptions) -> None:
        """Take the URL, as "grpc://127.0.0.1:50051".

        Raises:
            ValueError: it is not such a URL, or an option is one that gRPC does not have.
            InsecureAddressError: it leads to another machine, and others could read what is sent.
        """
        self._address = grpc_address(url, insecure=options.insecure)
        _must_be_possible(options)
        self._options = options
        if options.certificates is not None:
            trusting(options.certificates)
        self._fields = _metadata_of(options)
        self._credentials = Credentials(options.auth, None)
        self._channel: grpc.aio.Channel | None = None

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[GrpcTransport]:
        """See `LiteTransport.opened`.

        Raises:
            KinwireError: another loop than asyncio's runs.
        """
        need_asyncio()
        channel = self._channel = _channel_to(self._address, self._options)
        try:
            yield self
        finally:
            self._channel = None
            with anyio.CancelScope(shield=True):
                await channel.close()

    async def list_tools(self, timeout: float) -> list[JsonObject]:
        """See `LiteTransport.list_tools`."""
        encoded = await self._answer("GetTools", _EMPTY, timeout, None)
        return self._read(tools_from, encoded)

    async def call(self, call: OutgoingCall, timeout: float) -> JsonObject:
        """See `LiteTransport.call`."""
        encoded = await self._answer("CallTool", _request(call), timeout, call.name)
        return self._read(response_from, encoded)[0]

    async def stream(self, call: OutgoingCall, timeout: float) -> PartStream:
        """See `LiteTransport.stream`. A refusal is raised by `receive`."""
        request = _request(call)
        await self._ask_who(timeout)
        self._opened_channel()
        return _GrpcStream(self, request, call.name)

    def begin(self, request: bytes) -> Any:
        """Return a new call of the streaming method."""
        start = self._opened_channel().unary_stream(f"/{SERVICE}/CallToolStream")
        return start(request, metadata=self._metadata())

    async def renewed(self, error: grpc.aio.AioRpcError) -> bool:
        """Return whether the call may be made again: nothing was done, and there is a new token."""
        if error.code() is not _BAD_TOKEN or not self._credentials.renewable:
            return False
        await self._credentials.renew(self._credentials.number, None)
        return True

    def message(self, encoded: bytes) -> StreamMessage:
        """Return one message of a stream.

        Raises:
            InvalidResponseError: it is not one.
        """
        return StreamMessage(*self._read(response_from, encoded))

    def fault(
        self, error: grpc.aio.AioRpcError, timeout: float, tool: str | None
    ) -> RpcError | KinwireError:
        """Return what a status is for the caller."""
        method = _LIST if tool is None else _CALL
        says_who = any(name == "authorization" for name, _ in self._metadata())
        return fault_of(error, self._address.origin, method, timeout, tool, says_who=says_who)

    async def _answer(self, name: str, request: bytes, timeout: float, tool: str | None) -> bytes:
        await self._ask_who(timeout)
        try:
            return await self._unary(name, request, timeout)
        except grpc.aio.AioRpcError as error:
            if not await self.renewed(error):
                raise self.fault(error, timeout, tool) from None
        try:
            return await self._unary(name, request, timeout)
        except grpc.aio.AioRpcError as error:
            raise self.fault(error, timeout, tool) from None

    async def _unary(self, name: str, request: bytes, timeout: float) -> bytes:
        start = self._opened_channel().unary_unary(f"/{SERVICE}/{name}")
        call = start(request, metadata=self._metadata(), timeout=timeout)
        answer: bytes = await guarded(call, call)
        return answer

    async def _ask_who(self, timeout: float) -> None:
        if self._credentials.missing:
            try:
                with anyio.fail_after(timeout):
                    await self._credentials.renew(0, None)
            except TimeoutError:
                raise RequestTimeoutError("auth", timeout) from None

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        value = self._credentials.value
        return self._fields if value is None else (*self._fields, ("authorization", value))

    def _opened_channel(self) -> Any:
        if self._channel is None:
            raise SessionStateError("Calls are made in the block of the client: async with client.")
        return self._channel

    def _read(self, decode: Callable[[bytes], T], encoded: bytes) -> T:
        try:
            return decode(encoded)
        except ValueError as error:
            raise InvalidResponseError(f"{self._address.origin}: the answer: {error}.") from None


class _GrpcStream:
    """The messages of one call; `close` gives it up."""

    def __init__(self, transport: GrpcTransport, request: bytes, tool: str) -> None:
        self._transport = transport
        self._call = transport.begin(request)
        self._again: bytes | None = request
        self._tool = tool

    async def receive(self, timeout: float) -> StreamMessage:
        """See `PartStream.receive`."""
        encoded: Any = None
        with anyio.move_on_after(timeout) as scope:
            encoded = await self._read(timeout)
        if scope.cancelled_caught:
            raise RequestTimeoutError(_CALL, timeout)
        if not isinstance(encoded, bytes):
            raise InvalidResponseError("The stream ended without a result.")
        return self._transport.message(encoded)

    def close(self) -> None:
        """See `PartStream.close`."""
        self._call.cancel()

    async def _read(self, timeout: float) -> object:
        again, self._again = self._again, None
        try:
            return await guarded(self._call, self._call.read())
        except grpc.aio.AioRpcError as error:
            if again is None or not await self._transport.renewed(error):
                raise self._transport.fault(error, timeout, self._tool) from None
        self._call = self._transport.begin(again)
        return await self._read(timeout)


def _must_be_possible(options: TransportOptions) -> None:
    if options.tls is not None:
        raise ValueError("tls: gRPC takes no SSLContext. Pass certificates=, authorities as PEM.")
    if options.proxy is not None:
        raise ValueError("proxy: gRPC takes it from the variable https_proxy alone. Leave it out.")


def _metadata_of(options: TransportOptions) -> tuple[tuple[str, str], ...]:
    found = tuple((name.lower(), value) for name, value in options.fields)
    for name, value in found:
        if not _METADATA.fullmatch(name) or name.endswith("-bin") or not value.isascii():
            raise ValueError(f"headers: {name!r:.60} cannot be metadata of gRPC, which is ASCII.")
        if name.startswith("grpc-"):
            raise ValueError(f"headers: {name!r:.60} is written by gRPC itself. Leave it out.")
        if name == "authorization" and options.auth is not None:
            raise ValueError("expected one way to authenticate, got a header and auth. Keep one.")
    return found


def _request(call: OutgoingCall) -> bytes:
    try:
        return encoded_call(ToolCall(*call))
    except ValueError as error:
        raise UnsendableError(f"tools/call#{error}.") from None


def _channel_to(address: GrpcAddress, options: TransportOptions) -> grpc.aio.Channel:
    settings = (
        ("grpc.max_receive_message_length", options.size),
        ("grpc.max_send_message_length", options.size),
        ("grpc.enable_retries", 0),  # a call may do its work twice
        ("grpc.enable_http_proxy", int(options.trust_env and not is_loopback(address.host))),
    )
    if not address.secure:
        return grpc.aio.insecure_channel(address.target, options=settings)
    credentials = grpc.ssl_channel_credentials(options.certificates)
    return grpc.aio.secure_channel(address.target, credentials, options=settings)
