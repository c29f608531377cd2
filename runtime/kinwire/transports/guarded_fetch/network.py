"""Name resolution and connections for fetches."""

from __future__ import annotations

__all__ = ("Network", "SystemNetwork")

import socket
from collections.abc import Sequence
from typing import Protocol

import anyio
from anyio.abc import ByteStream

from kinwire.transports.tcp.streams import client_context


class Network(Protocol):
    """Looks names up, and connects to addresses."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Return the addresses of a host, those to be tried first at the beginning.

        Raises:
            OSError: the host has no addresses.
        """
        ...

    async def connect(self, address: str, port: int, tls_name: str | None) -> ByteStream:
        """Return a connection to just that address; with TLS if the certificate's name is given.

        Raises:
            OSError: nobody answers there, or not with a certificate to be trusted.
        """
        ...


class SystemNetwork:
    """Those of this machine. No proxy is asked, whatever variables say: it would look names up."""

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """See `Network.resolve`."""
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(one[4][0]) for one in found))

    async def connect(self, address: str, port: int, tls_name: str | None) -> ByteStream:
        """See `Network.connect`."""
        if tls_name is None:
            return await anyio.connect_tcp(address, port)
        return await anyio.connect_tcp(
            address,
            port,
            ssl_context=client_context(),
            tls_hostname=tls_name,
            tls_standard_compatible=False,
        )
