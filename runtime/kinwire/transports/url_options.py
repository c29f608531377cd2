"""The options of a connection to a URL, by HTTP or WebSocket."""

from __future__ import annotations

__all__ = ("OPTION_KINDS", "UrlOptions")

from collections.abc import Mapping
from ssl import SSLContext
from typing import TYPE_CHECKING, TypedDict

from kinwire.support.arguments import (
    FLAG,
    SECRET,
    ValueKind,
    having,
    table_of,
)

if TYPE_CHECKING:
    from kinwire.transports.http_client.credentials import Auth
    from kinwire.transports.http_client.user_client import UserClient


class UrlOptions(TypedDict, total=False):
    """The options of a URL. Their values are never shown or logged."""

    headers: Mapping[str, str]
    """Sent with every request."""

    auth: Auth
    """Asked for the `Authorization` header before the first request, with None, and once more
    when the server answers 401, with its `WWW-Authenticate` header."""

    proxy: str | None
    """The URL of a proxy for `http` and `https`, with its name and password if it wants them."""

    trust_env: bool
    """Whether HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY count where no `proxy` is passed:
    True unless you say otherwise."""

    tls: SSLContext | None
    """The certificates to trust and to show, such as `ssl.create_default_context(cafile=...)`;
    `load_cert_chain` adds a certificate of this side."""

    insecure: bool
    """Whether plain text may go to another machine: over a network of your own."""

    http: UserClient | None
    """A client of your own that sends the requests of `http` and `https`, such as
    `httpx2.AsyncClient`; it is not closed, and it decides about proxies and certificates."""


OPTION_KINDS: dict[str, ValueKind] = {
    "headers": table_of(SECRET, "a dictionary of headers", '"Authorization"'),
    "auth": ValueKind(
        'a function that returns "Bearer ..."', "get_token", callable, secret=True
    ).or_none,
    "proxy": SECRET.or_none,
    "trust_env": FLAG,
    "tls": ValueKind(
        "an ssl.SSLContext",
        'ssl.create_default_context(cafile="ca.pem")',
        lambda value: isinstance(value, SSLContext),
    ).or_none,
    "insecure": FLAG,
    "http": having(
        ("stream", "aclose"), "an asynchronous HTTP client", "httpx2.AsyncClient()"
    ).or_none,
}
"""What the options of a URL take."""
