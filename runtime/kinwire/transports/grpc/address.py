"""Where a URL of `grpc://` or `grpcs://` leads. Pure."""

from __future__ import annotations

__all__ = ("GrpcAddress", "grpc_address")

from typing import NamedTuple
from urllib.parse import urlsplit

from kinwire.transports.http.security import must_be_secure

_PORTS = {"grpc": 50051, "grpcs": 443}
_EXAMPLE = "Write it as grpc://127.0.0.1:50051 or grpcs://example.com."
_HOST = frozenset(map(chr, range(0x21, 0x7F))) - frozenset("/?#@[]")


class GrpcAddress(NamedTuple):
    """A URL, taken apart."""

    scheme: str
    host: str
    """Without brackets."""
    port: int

    @property
    def secure(self) -> bool:
        """Whether the server speaks TLS."""
        return self.scheme == "grpcs"

    @property
    def target(self) -> str:
        """Host and port, for a channel."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        """What is shown."""
        return f"{self.scheme}://{self.target}"


def grpc_address(url: str, *, insecure: bool) -> GrpcAddress:
    """Return where `url` leads.

    Raises:
        ValueError: it is not a URL of `grpc` or `grpcs` with a host, and nothing else but a port.
        InsecureAddressError: it leads to another machine, and others could read what is sent.
    """
    try:
        split = urlsplit(url)
        host, port = split.hostname, split.port
    except ValueError:
        raise ValueError(f"expected a URL, got a malformed one. {_EXAMPLE}") from None
    if split.scheme not in _PORTS or not host or not _HOST.issuperset(host):
        raise ValueError(f"expected a URL of grpc or grpcs with a host. {_EXAMPLE}")
    if split.username is not None:
        raise ValueError(f"expected a URL without a name. Pass a token as auth. {_EXAMPLE}")
    if split.path not in ("", "/") or split.query or split.fragment:
        raise ValueError(f"expected a URL without a path: gRPC has none. {_EXAMPLE}")
    address = GrpcAddress(split.scheme, host, port or _PORTS[split.scheme])
    must_be_secure(host, tls=address.secure, insecure=insecure, doing="connect to")
    return address
