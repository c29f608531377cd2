"""Who may reach a listener, and what may go over a network without TLS. Pure: no socket, no name
is looked up (MCP, Streamable HTTP, Security).

A browser can be made to send requests to this machine, but neither to leave out `Origin` nor to
forge `Host`. So every listener checks both, also for WebSocket, before anything else happens.
Refusals never repeat what came: that text is an attacker's.
"""

from __future__ import annotations

__all__ = (
    "AccessProblem",
    "AccessRules",
    "HostPort",
    "is_loopback",
    "must_be_secure",
    "split_host",
)

import re
from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import NamedTuple

from kinwire.rpc.errors import InsecureAddressError

ANY = "*"
"""In place of a list of hosts: the proxy in front of the listener has checked it."""

_NAME = r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9_])?"
_HOST = re.compile(
    rf"(?:\[(?P<six>[0-9A-Fa-f:.]{{2,45}})\]|(?P<name>{_NAME}\.?))(?::(?P<port>[0-9]{{1,5}}))?"
)
_ORIGIN = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<host>[^/?#]*)")
_PORTS = {"http": 80, "https": 443}


class HostPort(NamedTuple):
    """A host in its one spelling (lower case, no brackets, no dot at the end), and its port."""

    host: str
    port: int | None


class AccessProblem(NamedTuple):
    """The HTTP status that a request earns instead of an answer, and a sentence why."""

    status: int
    why: str


def split_host(value: str) -> HostPort | None:
    """Return what a `Host` header names, None if it is malformed."""
    found = _HOST.fullmatch(value)
    if found is None:
        return None
    port = int(found["port"]) if found["port"] else None
    if port is not None and port > 65535:
        return None
    host = (found["six"] or found["name"]).lower()
    bare = host.removesuffix(".")
    try:
        address = ip_address(bare)
    except ValueError:
        return None if found["six"] or ".." in bare else HostPort(bare, port)
    if bare != host or isinstance(address, IPv6Address) != bool(found["six"]):
        return None
    return HostPort(str(address), port)


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Whether `host`, a name or an address without a port, can only be this machine.

    Only `localhost` and loopback addresses are: what a name is resolved to may change.
    """
    try:
        address = ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return host.lower().removesuffix(".") == "localhost"
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


def must_be_secure(host: str, *, tls: bool, insecure: bool, doing: str) -> None:
    """Return if `host` may be listened on, or connected to, in this way.

    `insecure` is the user's word that plain text is right here: behind a proxy that has the TLS,
    or on a network of their own. `doing` begins the message: "listen on", "connect to".

    Raises:
        InsecureAddressError: others could read and change what goes over the network.
    """
    if not (tls or insecure or is_loopback(host)):
        raise InsecureAddressError(doing, host)


class AccessRules:
    """Which values of `Host` and `Origin` a listener accepts.

    This machine's own names are always accepted as hosts; `hosts` are further ones, as "name" for
    any port or "name:port". `origins` are those of web pages that may call from elsewhere, such as
    "https://app.example.com"; pages of the host itself may, and programs send no origin.
    """

    def __init__(self, hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> None:
        """Take the lists of a user.

        Raises:
            ValueError: an entry is not a host, or not an origin.
            TypeError: a list is a single string.
        """
        _must_be_lists(allowed_hosts=hosts, allowed_origins=origins)
        entries = tuple(hosts)
        self._any = ANY in entries
        self._hosts = {_host_entry(entry) for entry in entries if entry != ANY}
        self._origins = {_origin_entry(entry) for entry in origins}

    def refusal(self, hosts: tuple[str, ...], origins: tuple[str, ...]) -> AccessProblem | None:
        """Return what a request with these headers earns, None if it may go on.

        Both are the values of all headers of that name.
        """
        if len(hosts) != 1:
            return AccessProblem(400, "Host: expected exactly one.")
        host = split_host(hosts[0])
        if host is None:
            return AccessProblem(400, "Host: expected a name or an address, and perhaps a port.")
        if not self._accepts(host):
            return AccessProblem(421, "Host: this server does not go by that name (allowed_hosts).")
        if origins and not (len(origins) == 1 and self._accepts_origin(origins[0], host)):
            return AccessProblem(
                403, "Origin: web pages of that origin may not call (allowed_origins)."
            )
        return None

    def _accepts(self, host: HostPort) -> bool:
        known = host in self._hosts or host._replace(port=None) in self._hosts
        return known or self._any or is_loopback(host.host)

    def _accepts_origin(self, value: str, host: HostPort) -> bool:
        split = _split_origin(value)
        if split is None:  # also "null": any sandboxed page has that one
            return False
        if split in self._origins:
            return True
        scheme, own = split
        return own == host._replace(port=host.port or _PORTS.get(scheme))


def _must_be_lists(**lists: Iterable[str]) -> None:
    for name, value in lists.items():
        if isinstance(value, str):  # its characters would be taken for entries
            raise TypeError(f"{name}: expected a list, got {value!r:.60}. Write [{value!r:.60}].")


def _host_entry(entry: str) -> HostPort:
    host = split_host(entry)
    if host is None:
        raise ValueError(f'allowed_hosts: expected "name" or "name:port", got {entry!r}')
    return host


def _origin_entry(entry: str) -> tuple[str, HostPort]:
    origin = _split_origin(entry)
    if origin is None:
        raise ValueError(f'allowed_origins: expected "https://name" or with ":port", got {entry!r}')
    return origin


def _split_origin(value: str) -> tuple[str, HostPort] | None:
    found = _ORIGIN.fullmatch(value)
    host = split_host(found["host"]) if found else None
    if found is None or host is None:
        return None
    scheme = found["scheme"].lower()
    return scheme, host._replace(port=host.port or _PORTS.get(scheme))
