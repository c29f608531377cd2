"""What a host connects to: a transport as it is, or the one that a URL asks for."""

from __future__ import annotations

__all__ = ("TARGET_KINDS", "transport_to")

from kinwire.rpc.transport import TRANSPORT_KIND, Transport
from kinwire.support.arguments import ArgumentCheck, ValueKind, WrongValue
from kinwire.transports.url_options import OPTION_KINDS, UrlOptions

_STDIO = 'stdio("python", "server.py")'


class _TargetKind(ValueKind):
    """What `connect` takes; a server object is answered with `pair`."""

    def __init__(self) -> None:
        super().__init__(f"{_STDIO}, a URL or another transport", _STDIO, _is_target)

    def refusal(self, place: str, value: object) -> WrongValue:
        wrong = super().refusal(place, value)
        is_server = hasattr(value, "asgi") and not isinstance(value, type)
        return wrong._replace(call="pair(server)") if is_server else wrong


def _is_target(value: object) -> bool:
    return "://" in value if isinstance(value, str) else TRANSPORT_KIND.fits(value)


TARGET_KINDS: dict[str, ValueKind] = {"target": _TargetKind()}
_TRANSPORT_TO = ArgumentCheck("connect", f"connect({_STDIO})", TARGET_KINDS, **OPTION_KINDS)


def transport_to(
    target: Transport | str, options: UrlOptions, check: ArgumentCheck = _TRANSPORT_TO
) -> Transport:
    """Return what carries frames to `target`; `check` is that of the function that takes it.

    Raises:
        TypeError: `target` is neither, an option is not of its type, or options for a URL are
            passed with a transport.
        ValueError: the URL is invalid, or an option cannot be sent.
        InsecureAddressError: others could read what is sent there.
        ImportError: the URL is of WebSocket, and the extra `ws` is not installed.
    """
    for name in options:
        if name not in OPTION_KINDS:
            raise TypeError(f"{name}: expected one of {', '.join(sorted(OPTION_KINDS))}")
    check.check(target=target)
    check.showing(_STDIO, '"http://127.0.0.1:8000/mcp"').check(**options)
    if isinstance(target, str):
        return _transport_of(target, options)
    for name in options:
        raise TypeError(f"{name}: this option is for a URL, not for a transport")
    return target


def _transport_of(url: str, options: UrlOptions) -> Transport:
    from kinwire.transports.http_client.address import address_of

    address = address_of(url, insecure=options.get("insecure", False))
    if address.scheme in ("ws", "wss"):
        if options.get("proxy") is not None:
            raise ValueError("proxy: this option is for http and https, not for WebSocket")
        from kinwire.transports.websocket.client import websocket_transport

        return websocket_transport(address, options)
    from kinwire.mcp.http_client.transport import http_transport

    return http_transport(address, options)
