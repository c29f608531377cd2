"""What a host connects to: a transport as it is, or the one for a URL or a `Server`."""

from __future__ import annotations

__all__ = ("TARGET_KINDS", "transport_to")

import re
from typing import TYPE_CHECKING, cast

from kinwire.mcp.in_process import InProcessServer, is_server
from kinwire.rpc.transport import TRANSPORT_KIND, Transport
from kinwire.support.arguments import ArgumentCheck, ValueKind
from kinwire.transports.url_options import OPTION_KINDS, UrlOptions

if TYPE_CHECKING:
    from kinwire.mcp.server import Server

_STDIO = 'stdio("python", "server.py")'
_URL = '"http://127.0.0.1:8000/mcp"'
_NO_SCHEME = re.compile(r"[\w.-]+:[0-9]+(?:/\S*)?")


def _is_target(value: object) -> bool:
    if isinstance(value, str):
        return "://" in value
    return TRANSPORT_KIND.fits(value) or is_server(value)


_TARGET = ValueKind(f"{_STDIO}, a Server, a URL or another transport", _STDIO, _is_target)
TARGET_KINDS: dict[str, ValueKind] = {"target": _TARGET}
_TRANSPORT_TO = ArgumentCheck("connect", f"connect({_STDIO})", TARGET_KINDS, **OPTION_KINDS)


def transport_to(
    target: Transport | Server | str, options: UrlOptions, check: ArgumentCheck = _TRANSPORT_TO
) -> Transport:
    """Return what carries frames to `target`; `check` is that of the function that takes it.

    Raises:
        TypeError: `target` is something else, an option is not of its type, or options for a URL
            are passed without one.
        ValueError: the URL is invalid, or an option cannot be sent.
        InsecureAddressError: others could read what is sent there.
        ImportError: the URL is of WebSocket, and the extra `ws` is not installed.
    """
    for name in options:
        if name not in OPTION_KINDS:
            raise TypeError(f"{name}: expected one of {', '.join(sorted(OPTION_KINDS))}")
    of_url = check.showing(_STDIO, _URL)
    means_url = isinstance(target, str) and _NO_SCHEME.fullmatch(target)
    (of_url if means_url else check).check(target=target)
    of_url.check(**options)
    if isinstance(target, str):
        return _transport_of(target, options)
    for name in options:
        raise TypeError(f"{name}: this option is for a URL, not for a transport")
    if is_server(target):
        return InProcessServer(target)
    return cast("Transport", target)


def _transport_of(url: str, options: UrlOptions) -> Transport:
    from kinwire.transports.http_client.address import address_of

    address = address_of(url, insecure=options.get("insecure", False))
    if address.scheme in ("ws", "wss"):
        if options.get("http") is not None:
            raise ValueError("http: this option is for http and https, not for WebSocket")
        from kinwire.transports.websocket.client import websocket_transport

        return websocket_transport(address, options)
    from kinwire.mcp.http_client.transport import http_transport

    return http_transport(address, options)
