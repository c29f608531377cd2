"""What a host connects to: a transport as it is, or the one that a URL asks for."""

from __future__ import annotations

__all__ = ("UrlOptions", "transport_to")

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypedDict

from kinwire.rpc.transport import Transport
from kinwire.support.signatures import name_of

if TYPE_CHECKING:
    from kinwire.transports.http_client.credentials import Auth

_EXAMPLES = 'stdio("python", "server.py"), a URL such as "http://127.0.0.1:8000/mcp"'


class UrlOptions(TypedDict, total=False):
    """The options of a URL. Their values are never shown or logged."""

    headers: Mapping[str, str]
    """Sent with every request."""

    auth: Auth
    """Asked for the `Authorization` header before the first request, with None, and once more
    when the server answers 401, with its `WWW-Authenticate` header."""

    proxy: str | None
    """The URL of a proxy for `http` and `https`, with its name and password if it wants them."""

    insecure: bool
    """Whether plain text may go to another machine: over a network of your own."""


_NAMES = UrlOptions.__annotations__.keys()


def transport_to(target: Transport | str, options: UrlOptions) -> Transport:
    """Return what carries frames to `target`.

    Raises:
        TypeError: `target` is neither, or options for a URL are passed with a transport.
        ValueError: the URL is invalid, or an option cannot be sent.
        InsecureAddressError: others could read what is sent there.
        ImportError: the URL is of WebSocket, and the extra `ws` is not installed.
    """
    for name in options:
        if name not in _NAMES:
            raise TypeError(f"{name}: expected one of {', '.join(sorted(_NAMES))}")
    if isinstance(target, str):
        return _transport_of(target, options)
    if not hasattr(target, "run"):
        raise TypeError(f"expected {_EXAMPLES}, got {name_of(target)}")
    for name in options:
        raise TypeError(f"{name}: this option is for a URL, not for a transport")
    return target


def _transport_of(url: str, options: UrlOptions) -> Transport:
    if "://" not in url:
        raise TypeError(f"expected {_EXAMPLES}, got {url!r:.60}")
    from kinwire.transports.http_client.address import address_of

    address = address_of(url, insecure=options.get("insecure", False))
    if address.scheme in ("ws", "wss"):
        if options.get("proxy") is not None:
            raise ValueError("proxy: this option is for http and https, not for WebSocket")
        from kinwire.transports.websocket.client import websocket_transport

        return websocket_transport(address, options)
    from kinwire.transports.http_client.transport import http_transport

    return http_transport(address, options)
