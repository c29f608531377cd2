"""Where a URL leads, and what of it may be shown: never what stands before `@`, nor the path.

Paths and queries of such URLs carry keys often enough. Pure: no name is looked up.
"""

from __future__ import annotations

__all__ = ("DEFAULT_PORTS", "ServerAddress", "address_of", "origin_of", "split_url")

import base64
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from kinwire.transports.http.security import must_be_secure

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_SECURE = {"https", "wss"}
_TARGET = frozenset(map(chr, range(0x21, 0x7F)))
_EXAMPLE = "Write it as http://127.0.0.1:8000/mcp or https://example.com/mcp."


class ServerAddress(NamedTuple):
    """A URL, taken apart."""

    scheme: str
    host: str
    """Without brackets."""
    port: int
    target: str
    """Path and query."""
    authorization: str | None
    """What name and password in the URL stand for."""

    def __repr__(self) -> str:
        return f"<ServerAddress {self.origin}>"

    @property
    def secure(self) -> bool:
        """Return whether the server speaks TLS."""
        return self.scheme in _SECURE

    @property
    def authority(self) -> str:
        """Return the value of the `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port: what is shown."""
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        """Return the whole URL except name and password: to request, not to show."""
        return self.origin + self.target

    @property
    def identity(self) -> str:
        """Return the URL with its user name, which may be another account, but no password.

        For `Transport.address`: not to be shown.
        """
        user = "" if self.authorization is None else self.authorization.removeprefix("Basic ")
        name = base64.b64decode(user).decode().partition(":")[0]
        return f"url:{self.url} {name}"

    def with_target(self, reference: str) -> ServerAddress | None:
        """Return the address that a server refers to, None if invalid or of another origin."""
        if not reference:
            return None
        try:
            other = split_url(urljoin(self.url, reference))
        except ValueError:
            return None
        return self._replace(target=other.target) if other.origin == self.origin else None


def address_of(url: str, *, insecure: bool) -> ServerAddress:
    """Return where `url` leads.

    Raises:
        ValueError: it is not a URL of `http`, `https`, `ws` or `wss`.
        InsecureAddressError: it leads to another machine, and others could read what is sent.
    """
    address = split_url(url)
    doing = "connect to"
    must_be_secure(address.host, tls=address.secure, insecure=insecure, doing=doing)
    return address


def origin_of(reference: str) -> str | None:
    """Return the origin of a URL that a server names, None if it names none."""
    try:
        return split_url(reference).origin
    except ValueError:
        return None


def split_url(url: str) -> ServerAddress:
    """Return where `url` leads, without a look at who could read what is sent.

    Raises:
        ValueError: it is not a URL of `http`, `https`, `ws` or `wss`.
    """
    if not url.isprintable() or url != url.strip():  # `urlsplit` takes some of these out
        raise ValueError(f"expected a URL without spaces and control characters. {_EXAMPLE}")
    try:
        split = urlsplit(url)
        host, port = split.hostname, split.port
    except ValueError:
        raise ValueError(f"expected a URL, got a malformed one. {_EXAMPLE}") from None
    if split.scheme not in DEFAULT_PORTS:
        got = repr(split.scheme) if split.scheme and "//" in url else "none"
        raise ValueError(f"expected a URL with http, https, ws or wss, got {got}. {_EXAMPLE}")
    if not host:
        raise ValueError(f"expected a URL with a host, got none. {_EXAMPLE}")
    target = _target_of(split.path, split.query)
    if not _TARGET.issuperset(host + target):
        raise ValueError(f"expected a URL without spaces and foreign letters. {_EXAMPLE}")
    port = port or DEFAULT_PORTS[split.scheme]
    return ServerAddress(split.scheme, host, port, target, _credentials(split))


def _target_of(path: str, query: str) -> str:
    return (path or "/") + (f"?{query}" if query else "")


def _credentials(split: object) -> str | None:
    name, password = getattr(split, "username", None), getattr(split, "password", None)
    if name is None:
        return None
    pair = f"{unquote(name)}:{unquote(password or '')}"
    return f"Basic {base64.b64encode(pair.encode()).decode()}"
