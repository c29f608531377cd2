"""How a client of MCP-lite reaches its server: the options, their checks, and the transport."""

from __future__ import annotations

__all__ = ("LiteOptions", "check_arguments", "transport_options", "transport_to")

from collections.abc import Mapping
from ssl import SSLContext
from typing import TypedDict

from kinwire.mcplite.client.transport import LiteTransport, TransportOptions
from kinwire.support.arguments import SECONDS, SECRET, TEXT, ArgumentCheck, ValueKind, count_from
from kinwire.transports.grpc.needed import need_grpc
from kinwire.transports.http_client.credentials import Auth
from kinwire.transports.http_client.fields import checked_headers
from kinwire.transports.url_options import OPTION_KINDS
from kinwire_protocols.nearest import nearest

_SCHEMES = ("http", "https", "grpc", "grpcs")


class LiteOptions(TypedDict, total=False):
    """How a server of MCP-lite is reached. The values are never shown or logged."""

    headers: Mapping[str, str]
    """Sent with every call; over gRPC they are metadata."""

    auth: Auth | None
    """Asked for the `Authorization` header before the first call, with None, and once more when the
    server answers 401, with its `WWW-Authenticate` header."""

    tls: SSLContext | None
    """The certificates to trust and to show over HTTP."""

    certificates: bytes | None
    """Authorities to trust, as PEM, over HTTP and gRPC."""

    insecure: bool
    """Whether plain text may go to another machine: over a network of your own."""

    proxy: str | None
    """The URL of a proxy, over HTTP."""

    trust_env: bool
    """Whether HTTP_PROXY and the like count where no `proxy` is passed: True unless you say
    otherwise."""


_PEM = ValueKind(
    "certificates as PEM, bytes",
    'Path("ca.pem").read_bytes()',
    lambda value: isinstance(value, bytes),
)
_OPTIONS: dict[str, ValueKind] = {
    **{name: kind for name, kind in OPTION_KINDS.items() if name != "http"},
    "certificates": _PEM.or_none,
}
_LITE_CLIENT = ArgumentCheck(
    "LiteClient",
    'LiteClient("http://127.0.0.1:8000/mcp-lite/v1/")',
    {"url": TEXT},
    token=SECRET.or_none,
    timeout=SECONDS,
    answer_size=count_from(1),
    **_OPTIONS,
)


def check_arguments(url: str, options: LiteOptions, **others: object) -> None:
    """Check the arguments of a client; `others` are those that are not in `LiteOptions`.

    Raises:
        TypeError: an argument is unknown, or not of its type.
        ValueError: an argument is out of range.
    """
    known = sorted({*_OPTIONS, *others})
    for name in options:
        if name not in _OPTIONS:
            near = nearest(name, known)
            hint = "" if near is None else f" Did you mean {near}?"
            raise TypeError(f"LiteClient.{name}: expected one of {', '.join(known)}.{hint}")
    _LITE_CLIENT.check(url=url, **others, **options)


def transport_options(options: LiteOptions, token: str | None, size: int) -> TransportOptions:
    """Return the options of the transport, with `token` as a header.

    Raises:
        ValueError: a header cannot be sent, or two options authenticate.
    """
    headers = {**options.get("headers", {})}
    if token is not None:
        if options.get("auth") is not None or any(
            name.lower() == "authorization" for name in headers
        ):
            raise ValueError(
                "LiteClient.token: expected one way to authenticate, got two of: token, "
                "headers={'Authorization': ...}, auth. Keep one."
            )
        headers["Authorization"] = f"Bearer {token}"
    return TransportOptions(
        checked_headers(headers),
        options.get("auth"),
        options.get("tls"),
        options.get("certificates"),
        options.get("insecure", False),
        options.get("proxy"),
        options.get("trust_env", True),
        size,
    )


def transport_to(url: str, options: TransportOptions) -> LiteTransport:
    """Return the transport for the scheme of `url`.

    Raises:
        ValueError: the URL or an option cannot be used.
        InsecureAddressError: others could read what is sent there.
        ImportError: the extra `http`, or `grpc`, is not installed.
    """
    scheme = url.lower().partition("://")
    if scheme[0] not in _SCHEMES or not scheme[1]:
        got = f"one with {scheme[0]!r:.20}" if scheme[1] else "none"
        raise ValueError(
            f"LiteClient.url: expected a URL with http, https, grpc or grpcs, got {got}. Write "
            "http://127.0.0.1:8000/mcp-lite/v1/ or grpcs://example.com:50051."
        )
    if scheme[0].startswith("grpc"):
        need_grpc()
        from kinwire.mcplite.client.grpc_transport import GrpcTransport

        return GrpcTransport(url, options)
    from kinwire.mcplite.client.http_transport import http_lite_transport

    return http_lite_transport(url, options)
