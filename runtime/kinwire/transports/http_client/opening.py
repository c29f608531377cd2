"""Puts the parts of an HTTP connection together."""

from __future__ import annotations

__all__ = ("http_transport",)

from typing import TYPE_CHECKING

from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports.http_client.address import ServerAddress
from kinwire.transports.http_client.credentials import credentials_of
from kinwire.transports.http_client.fields import checked_headers
from kinwire.transports.http_client.pool import HttpClient, Pool
from kinwire.transports.http_client.proxied import ProxiedClient, check_proxy
from kinwire.transports.http_client.session import HttpClientSession
from kinwire.transports.http_client.transport import HttpTransport
from kinwire.transports.task_spawner import TaskSpawner

if TYPE_CHECKING:
    from kinwire.transports.urls import UrlOptions


def http_transport(address: ServerAddress, options: UrlOptions) -> HttpTransport:
    """Return the connection to the server at `address`.

    Raises:
        ValueError: an option cannot be used, or two of them say who is calling.
        ImportError: there is a proxy, and the extra `proxy` is not installed.
    """
    fields = checked_headers(options.get("headers", {}))
    credentials = credentials_of(address, fields, options.get("auth"))

    proxy = options.get("proxy")
    if proxy is not None:
        check_proxy(proxy)

    def open_client(callbacks: SessionCallbacks, tasks: TaskSpawner) -> HttpClient:
        if proxy is not None:
            return ProxiedClient(proxy, tasks)
        return Pool(address, callbacks.loop, tasks)

    return HttpTransport(HttpClientSession(address, fields), credentials, open_client)
