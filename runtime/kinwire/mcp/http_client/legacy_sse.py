"""HTTP+SSE, the transport of 2024-11-05: all that the server says comes on one stream, whose first
event names the address to post to."""

from __future__ import annotations

__all__ = ("LegacySseStream",)

from collections.abc import Callable
from math import inf

import anyio

from kinwire.mcp.http_client.event_stream import EventStream
from kinwire.rpc.errors import ConnectionClosedError
from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports.http.sse import Event
from kinwire.transports.http_client.address import ServerAddress
from kinwire.transports.http_client.client import RequestSender
from kinwire.transports.http_client.fields import RequestHead

_PATIENCE = 10.0  # seconds for the address

_ENDED = "The server closed the event stream, and with it the session."


class LegacySseStream:
    """The stream; `found` gets the address."""

    def __init__(
        self,
        callbacks: SessionCallbacks,
        client: RequestSender,
        address: ServerAddress,
        found: Callable[[ServerAddress], object],
    ) -> None:
        self._callbacks = callbacks
        self._client = client
        self._address = address
        self._found = found
        self._scope = anyio.CancelScope()
        self.named = False
        """Whether it named an address, that is, whether it is such a stream."""
        self.refused = False
        """Whether it named one of another origin."""

    async def read(self, head: RequestHead) -> ConnectionClosedError:
        """Hand over what comes, and return why nothing does any more."""
        with self._scope:
            self._scope.deadline = anyio.current_time() + _PATIENCE
            await EventStream(self._callbacks, self._client, self._take).read(head)
        if self.refused:
            return ConnectionClosedError(
                f"{self._address.origin} wants messages to be posted elsewhere. It may not: what "
                "is sent here is not for another."
            )
        return ConnectionClosedError(_ENDED)

    def _take(self, event: Event) -> None:
        if event.name == "endpoint" and not self.named:
            address = self._address.with_target(event.data.decode(errors="replace").strip())
            if address is None:
                self.refused = True
                self._scope.cancel()
            else:
                self.named = True
                self._scope.deadline = inf
                self._found(address)
        elif event.overlong:
            self._callbacks.overlong(event.data)
        elif event.name == "message" and event.data.strip():
            self._callbacks.feed(event.data)
