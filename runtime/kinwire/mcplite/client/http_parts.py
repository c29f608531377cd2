"""The parts of a call that come as an event stream (MCP-lite 0.042 section 4.3)."""

from __future__ import annotations

__all__ = ("HttpPartStream", "WholeResult")

from collections import deque

from pydantic_core import from_json

from kinwire.mcplite.client.errors import error_from
from kinwire.mcplite.client.http_requests import CALL, give_up, http_failures
from kinwire.mcplite.client.transport import StreamMessage
from kinwire.mcplite.rules.reading import answer_in, is_error
from kinwire.rpc.codec import is_object, longer_than, same_id
from kinwire.rpc.errors import ConnectionClosedError, InvalidResponseError
from kinwire.transports.http.sse import Event, SseDecoder
from kinwire.transports.http_client.address import ServerAddress
from kinwire.transports.http_client.streamed import StreamedResponse
from kinwire_protocols.base import JsonObject


class WholeResult:
    """See `PartStream`: of a server that does not stream, so the result is all there is."""

    def __init__(self, result: JsonObject) -> None:
        self._result = result

    async def receive(self, timeout: float) -> StreamMessage:
        """See `PartStream.receive`."""
        return StreamMessage(self._result, final=True)

    def close(self) -> None:
        """See `PartStream.close`."""


class HttpPartStream:
    """See `PartStream`. Events of other names than those of the specification are ignored."""

    def __init__(
        self, address: ServerAddress, response: StreamedResponse, identifier: int, size: int
    ) -> None:
        self._address = address
        self._response = response
        self._identifier = identifier
        self._size = size
        self._decoder = SseDecoder(size)
        self._events: deque[Event] = deque()

    async def receive(self, timeout: float) -> StreamMessage:
        """See `PartStream.receive`."""
        while True:
            while self._events:
                message = self._message(self._events.popleft())
                if message is not None:
                    return message
            self._events += self._decoder.feed(await self._chunk(timeout))

    def close(self) -> None:
        """See `PartStream.close`."""
        give_up(self._response)

    async def _chunk(self, timeout: float) -> bytes:
        with http_failures(CALL, self._address, timeout):
            async for chunk in self._response:
                return chunk
        raise ConnectionClosedError(f"{self._address.origin} ended the stream before its result.")

    def _message(self, event: Event) -> StreamMessage | None:
        """Return what an event says; None if that is nothing.

        Raises:
            RpcError: it is the error that ends the stream.
            InvalidResponseError: it breaks the protocol.
        """
        if event.name not in ("message", "done", "error"):
            return None
        if event.overlong:
            raise InvalidResponseError(f"{CALL}: an event is {longer_than(self._size)}")
        value = _object_in(event)
        if event.name == "error":
            raise _error_of(value)
        if event.name == "message" and "jsonrpc" not in value:
            return StreamMessage(value, final=False)
        return StreamMessage(self._result(value), final=True)

    def _result(self, value: JsonObject) -> JsonObject:
        """Return the result in the last event: alone, with an id, or as a response of JSON-RPC."""
        if "jsonrpc" in value:
            answered = answer_in(value, self._identifier)
            if answered.error is not None:
                raise _error_of(answered.error)
            if not is_object(answered.result):
                fault = answered.fault or "its result is not an object"
                raise InvalidResponseError(f"{CALL}: an event does not answer the call: {fault}")
            return answered.result
        if not same_id(value.get("id", self._identifier), self._identifier):
            raise InvalidResponseError(f"{CALL}: an event has the id of another request")
        return {name: inner for name, inner in value.items() if name != "id"}


def _object_in(event: Event) -> JsonObject:
    try:
        value: object = from_json(event.data, allow_inf_nan=False)
    except ValueError:
        value = None
    if not is_object(value):
        raise InvalidResponseError(f"{CALL}: an event has no JSON object in it")
    return value


def _error_of(value: JsonObject) -> Exception:
    inner = value.get("error")
    error = inner if is_object(inner) else value
    if not is_error(error):
        return InvalidResponseError(f"{CALL}: the stream ended with an error that is malformed")
    return error_from(error["code"], error["message"], error.get("data"))
