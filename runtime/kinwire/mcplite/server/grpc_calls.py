"""The three calls of the gRPC binding (MCP-lite 0.042 section 5).

A call ends with a result, or with a status of a closed list: never with the text of an exception.
"""

from __future__ import annotations

__all__ = ("GrpcCalls",)

from asyncio import get_running_loop
from collections.abc import Awaitable, Callable
from typing import Any, Never, Protocol

import grpc

from kinwire.mcplite.rules.calls import ToolCall
from kinwire.mcplite.rules.grpc_errors import DOMAIN, TOO_MANY_CALLS, GrpcError, grpc_error
from kinwire.mcplite.rules.grpc_messages import (
    call_from,
    encoded_part,
    encoded_result,
    encoded_tools,
)
from kinwire.mcplite.server.faults import ends_task
from kinwire.mcplite.server.service import LiteServer
from kinwire.mcplite.server.source import ANYONE, LiteCaller
from kinwire.rpc.codec import EncodedObject
from kinwire.rpc.error_table import internal_error
from kinwire.rpc.errors import RpcError
from kinwire.transports.grpc.limits import GrpcLimits
from kinwire.transports.grpc.status import DETAILS, ErrorDetails, encoded_details
from kinwire.transports.http.bearer import NO_TOKEN, NOT_VALID, BearerCheck, token_in
from kinwire_protocols.base import JsonObject
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcplite.descriptor import SERVICE

_NUMBERS: dict[str, int] = {code.name: code.value[0] for code in grpc.StatusCode}


class CallContext(Protocol):
    """What `grpc.aio` hands to a call."""

    def invocation_metadata(self) -> Any:
        """Return names and values that came with the call."""

    def time_remaining(self) -> float | None:
        """Return the seconds until the deadline; None without one."""

    async def write(self, message: bytes) -> None:
        """Send a part, when the client can take it."""

    async def abort(self, code: Any, details: str, trailing_metadata: Any) -> None:
        """End the call with a status, by an exception."""


class _EndedError(Exception):
    """The call ends with this status."""

    def __init__(self, status: str, reason: str, message: str) -> None:
        super().__init__(message)
        self.found = GrpcError(status, message, ErrorDetails(reason, DOMAIN, {}))


class GrpcCalls:
    """Answers calls from a `LiteServer`."""

    def __init__(self, server: LiteServer, bearers: BearerCheck | None, limits: GrpcLimits) -> None:
        self._server = server
        self._bearers = bearers
        self._size = limits.message_size
        self._most, self._open = limits.in_flight, 0
        self._listed: tuple[EncodedObject, bytes] | None = None

    def handlers(self) -> Any:
        """Return the handlers of the service, which take and return encoded messages."""
        methods: dict[str, Any] = {
            "GetTools": grpc.unary_unary_rpc_method_handler(self._get_tools),
            "CallTool": grpc.unary_unary_rpc_method_handler(self._call_tool),
            "CallToolStream": grpc.unary_stream_rpc_method_handler(self._call_tool_stream),
        }
        return grpc.method_handlers_generic_handler(SERVICE, methods)

    async def _get_tools(self, _request: bytes, context: CallContext) -> bytes:
        self._open += 1
        try:
            if self._open > self._most:
                raise _too_many()
            listed = await self._server.list_tools(await self._known(context))
            if self._listed is None or self._listed[0] is not listed:
                self._listed = (listed, encoded_tools(listed["tools"]))
            return self._bounded(self._listed[1])
        except BaseException as error:
            return await _end("tools/list", error, context)
        finally:
            self._open -= 1

    async def _call_tool(self, request: bytes, context: CallContext) -> bytes:
        self._open += 1
        try:
            if self._open > self._most:
                raise _too_many()
            caller = _anyone(context) if self._bearers is None else await self._known(context)
            result = await self._server.call(_call_in(request), caller)
            return self._sendable(encoded_result, result)
        except BaseException as error:
            return await _end("tools/call", error, context)
        finally:
            self._open -= 1

    async def _call_tool_stream(self, request: bytes, context: CallContext) -> None:
        def send(part: JsonObject) -> Awaitable[None]:
            return context.write(self._sendable(encoded_part, part))

        self._open += 1
        try:
            if self._open > self._most:
                raise _too_many()
            caller = _anyone(context) if self._bearers is None else await self._known(context)
            result = await self._server.stream(_call_in(request), caller, send)
            await context.write(self._sendable(encoded_result, result))
        except BaseException as error:
            await _end("tools/call", error, context)
        finally:
            self._open -= 1

    async def _known(self, context: CallContext) -> LiteCaller:
        caller, bearers = _anyone(context), self._bearers
        if bearers is None:
            return caller
        found = [value for name, value in context.invocation_metadata() if name == "authorization"]
        token = token_in(found[0]) if len(found) == 1 and isinstance(found[0], str) else None
        if token is None:
            raise _EndedError("UNAUTHENTICATED", "TOKEN_MISSING", NO_TOKEN)
        try:
            principal = await bearers.principal_of(token)
        except BaseException as error:
            if ends_task(error):
                raise
            raise internal_error("authenticate", error) from None
        if principal is None:
            raise _EndedError("UNAUTHENTICATED", "TOKEN_INVALID", NOT_VALID)
        return caller._replace(principal=principal)

    def _sendable(self, encode: Callable[[JsonObject], bytes], value: JsonObject) -> bytes:
        try:
            message = encode(value)
        except ValueError as error:
            raise InvalidParamsError(f"The result does not fit gRPC: {error}.") from None
        return self._bounded(message) if len(message) > self._size else message

    def _bounded(self, message: bytes) -> bytes:
        if len(message) > self._size:
            why = f"The result has {len(message)} bytes, more than {self._size}."
            raise _EndedError("RESOURCE_EXHAUSTED", "TOO_LARGE", why)
        return message


def _too_many() -> _EndedError:
    said = "Too many calls at the moment. Come back later."
    return _EndedError("RESOURCE_EXHAUSTED", TOO_MANY_CALLS, said)


def _anyone(context: CallContext) -> LiteCaller:
    seconds = context.time_remaining()
    return ANYONE if seconds is None else LiteCaller(None, get_running_loop().time() + seconds)


async def _end(method: str, error: BaseException, context: CallContext) -> Never:
    """End the call with the status for `error`, by an exception."""
    found = _status_for(method, error)
    details = encoded_details(_NUMBERS[found.status], found.message, found.details)
    status = grpc.StatusCode[found.status]
    await context.abort(status, found.message, trailing_metadata=((DETAILS, details),))
    raise AssertionError("the call has been ended")


def _status_for(method: str, error: BaseException) -> GrpcError:
    """Return the status; what does not concern the client is raised again."""
    if isinstance(error, _EndedError):
        return error.found
    if isinstance(error, RpcError):
        return grpc_error(error)
    if ends_task(error):  # by the client, its deadline, or the end of the server
        raise error
    return grpc_error(internal_error(method, error))


def _call_in(request: bytes) -> ToolCall:
    try:
        return call_from(request)
    except ValueError as error:
        raise InvalidParamsError(f"tools/call#{error}") from None
