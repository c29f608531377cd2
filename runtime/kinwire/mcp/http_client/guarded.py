"""A server whose URL somebody else has named: each connection goes to a public address."""

from __future__ import annotations

__all__ = ("guarded_transport",)

from collections.abc import Mapping

from kinwire.mcp.http_client.session import RESERVED, HttpClientSession
from kinwire.mcp.http_client.transport import HttpTransport
from kinwire.rpc.transport import SessionCallbacks
from kinwire.transports.guarded_fetch.fetch import Network, SystemNetwork, connect_checked
from kinwire.transports.http_client.address import address_of
from kinwire.transports.http_client.client import HttpClient, HttpOptions, RequestSender
from kinwire.transports.http_client.credentials import credentials_of
from kinwire.transports.http_client.dialing import HttpRoute
from kinwire.transports.http_client.fields import checked_headers
from kinwire.transports.http_client.response import need_parser
from kinwire.transports.task_spawner import TaskSpawner
from kinwire.transports.tcp.streams import ByteStream, Receiver, TaskStream


def guarded_transport(
    url: str,
    *,
    headers: Mapping[str, str],
    insecure: bool = False,
    network: Network | None = None,
) -> HttpTransport:
    """Return the connection to the server at `url`, of http or https. No proxy is asked.

    The name is looked up for each connection, every address has to be public, and the connection
    goes to one of those that were checked.

    Raises:
        ValueError: the URL or a header cannot be used.
        InsecureAddressError: the URL leads to another machine, without TLS.
        ImportError: the extra `http` is not installed.
    """
    need_parser()
    address = address_of(url, insecure=insecure)
    fields = checked_headers(headers, RESERVED)
    used = network or SystemNetwork()

    def open_client(callbacks: SessionCallbacks, tasks: TaskSpawner) -> RequestSender:
        async def dial(route: HttpRoute, receiver: Receiver) -> ByteStream:
            stream = TaskStream(await connect_checked(route.address, used), receiver)
            tasks.spawn(stream.run)
            return stream

        return HttpClient(tasks, callbacks.loop, HttpOptions(dial=dial))

    credentials = credentials_of(address, fields, None)
    return HttpTransport(HttpClientSession(address, fields), credentials, open_client)
