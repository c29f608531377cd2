"""Puts the parts of a WebSocket connection together."""

from __future__ import annotations

__all__ = ("websocket_transport",)

from typing import TYPE_CHECKING

from kinwire.transports.http_client.address import ServerAddress
from kinwire.transports.http_client.credentials import credentials_of
from kinwire.transports.http_client.fields import checked_headers
from kinwire.transports.websocket.client import WebSocketClient

if TYPE_CHECKING:
    from kinwire.transports.urls import UrlOptions


def websocket_transport(address: ServerAddress, options: UrlOptions) -> WebSocketClient:
    """Return the connection to the server at `address`.

    Raises:
        ValueError: an option cannot be sent, or two of them say who is calling.
        ImportError: the extra `ws` is not installed.
    """
    fields = checked_headers(options.get("headers", {}))
    return WebSocketClient(address, fields, credentials_of(address, fields, options.get("auth")))
