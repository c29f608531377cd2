"""What this side knows of its session with the server, and the requests that speak of it.

A server that has forgotten the session answers 404. Then the handshake is repeated, if repeating
it gives the same session: nothing else was said in it, and the server offers the same. Other
state of the server, such as subscriptions, is gone (MCP, Streamable HTTP).
"""

from __future__ import annotations

__all__ = ("RESERVED", "HttpClientSession")

import json
import re
from typing import Any

from kinwire.rpc.codec import OutgoingFrame
from kinwire.transports.http_client.address import ServerAddress
from kinwire.transports.http_client.fields import Fields, RequestHead

RESERVED = frozenset({"mcp-protocol-version", "mcp-session-id"})
"""Headers that this transport writes itself."""

_VISIBLE = re.compile(r"[\x21-\x7e]{1,1024}")


class HttpClientSession:
    """Address, headers and ids."""

    def __init__(self, address: ServerAddress, fields: Fields) -> None:
        self._fields = fields
        self.address = address
        self.authorization = address.authorization
        self.id: str | None = None
        self.version: str | None = None
        self.number = 0
        """Rises with each new id."""
        self.handshake: list[OutgoingFrame] = []
        """Every frame from `initialize` to `notifications/initialized`, these two included."""
        self._shaken = False
        self._greeting: object = None
        self.write()

    def write(self) -> None:
        """Write the heads of requests again."""
        common = list(self._fields)
        if self.authorization is not None:
            common.append(("Authorization", self.authorization))
        if self.id is not None:
            common.append(("Mcp-Session-Id", self.id))
        if self.version is not None:
            common.append(("MCP-Protocol-Version", self.version))
        json_body = ("Content-Type", "application/json")
        both = ("Accept", "application/json, text/event-stream")
        self.post = RequestHead("POST", self.address, (json_body, both, *common))
        self.delete = RequestHead("DELETE", self.address, common)
        self._common = common

    def get(self, last_event_id: str = "") -> RequestHead:
        """Return the request for an event stream, resumed after an event if there is an id."""
        fields = [("Accept", "text/event-stream"), ("Cache-Control", "no-store"), *self._common]
        if last_event_id:
            fields.append(("Last-Event-ID", last_event_id.encode().decode("latin-1")))
        return RequestHead("GET", self.address, fields)

    def begun(self, session_id: str | None) -> None:
        """`initialize` is being answered, with that id."""
        if session_id is not None and _VISIBLE.fullmatch(session_id):
            self.id = session_id
            self.number += 1
            self.write()

    def greeted(self, frame: bytes) -> bool:
        """`initialize` is answered; return whether with what was offered before, if ever."""
        try:
            result: Any = json.loads(frame)["result"]
            version, offers = result["protocolVersion"], result.get("capabilities")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return False  # the session raises for its caller
        if isinstance(version, str) and _VISIBLE.fullmatch(version):
            self.version = version
            self.write()
        greeting = (version, offers)
        same = self._greeting is None or self._greeting == greeting
        self._greeting = greeting
        return same

    def forget(self) -> None:
        """Forget the session, which the server does not know any more."""
        self.id = self.version = None
        self.write()

    def sent(self, message: OutgoingFrame) -> None:
        """Remember the handshake."""
        if not self._shaken:
            self.handshake.append(message)
            self._shaken = message.method == "notifications/initialized"

    @property
    def repeatable(self) -> bool:
        """Return whether the handshake can be repeated."""
        return self._shaken and len(self.handshake) == 2
