"""What may be asked: which addresses are public, and which URLs every program reads in one
way. Pure.

What a URL could be read as in two ways is refused (RFC 3986), and so is what means this machine or
a private network by its very name. What a name is resolved to is judged as an address.
"""

from __future__ import annotations

__all__ = (
    "WEB_PORTS",
    "NotFetchedError",
    "WebPlace",
    "host_name",
    "is_named",
    "is_public",
    "web_address",
    "web_place",
)

import re
import unicodedata
from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, NamedTuple

from kinwire.rpc.errors import KinwireError
from kinwire.transports.http_client.address import DEFAULT_PORTS, ServerAddress

_NOT_PUBLIC = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared by providers; metadata of Alibaba
        "127.0.0.0/8",
        "168.63.129.16/32",  # metadata of Azure
        "169.254.0.0/16",  # link-local; metadata of most clouds
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; metadata of Oracle
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)

_UNICAST = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments; Teredo, which leads to any address of IPv4
        "2001:db8::/32",
        "2002::/16",  # 6to4, which does so too
        "3fff::/20",
    )
)
# `ipaddress.is_global` alone does not do: it holds for addresses of IPv6 that have a private one of
# IPv4 in them, for multicast, and for the machines inside clouds that hand out credentials.
_WITH_IPV4 = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))  # mapped; NAT64


_LONGEST = 2048  # characters
_HOST = r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s/?#@:%\\\[\]]+)(?::(?P<port>[0-9]{1,5}))?"
_URL = re.compile(
    rf"(?P<scheme>https?)://{_HOST}"
    r"(?P<path>/(?:[\w.~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?"
    r"(?P<query>\?(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?(?:#[!-~]*)?",
    re.ASCII | re.IGNORECASE,
)
_PLACE = re.compile(
    r"(?P<scheme>https?)://(?:(?P<user>[\w~!$&'()*+,;=-]+)(?::[\w.~!$&'()*+,;=-]*)?@)?"
    rf"{_HOST}(?P<rest>[/?#][^\s\\]*)?",
    re.ASCII | re.IGNORECASE,
)
_USER_AFTER_HOST = re.compile(r"[?#][^/]*@")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_OWN = frozenset(
    [
        "localhost",
        "localdomain",
        "local",
        "internal",
        "intranet",
        "lan",
        "corp",
        "home",
        "svc",
        "home.arpa",
        "onion",
    ]
)
WEB_PORTS: Final = frozenset({80, 443, 8080, 8443})
"""Nothing else that listens is talked to, by mistake or not."""


class NotFetchedError(KinwireError):
    """Nothing was fetched: the URL may not be asked, or what came from there cannot be used.

    `reason` is a clause. It has neither path nor query of the URL, which may hold keys. `status` is
    the HTTP status of an answer that was refused for it.
    """

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


def is_public(address: str) -> bool:
    """Return whether `address` is a valid address on the public internet."""
    try:
        found = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        if found.scope_id is not None:
            return False
        if not any(found in network for network in _WITH_IPV4):
            return found in _UNICAST and not any(found in network for network in _NOT_PUBLIC_6)
        found = IPv4Address(int(found) & 0xFFFF_FFFF)
    return not any(found in network for network in _NOT_PUBLIC)


class WebPlace(NamedTuple):
    """Where a URL leads."""

    scheme: str
    host: str
    """In small letters of ASCII; an address of IPv6 has no brackets."""
    port: int


def web_place(url: str, allowed_hosts: Collection[str] = ()) -> WebPlace:
    """Return where a URL leads that another program will ask, by the rules of `web_address`.

    Unlike there, path and query may have other characters, and a name and password may stand in
    front of a host if the name cannot be taken for one. A host of `allowed_hosts`, written with or
    without its port, may be private and have any port.

    Raises:
        NotFetchedError: it may not be asked, or programs read it in different ways.
    """
    found = _PLACE.fullmatch(url) if len(url) <= _LONGEST and url.isprintable() else None
    if found is None or _USER_AFTER_HOST.match(found["rest"] or ""):
        raise NotFetchedError("it is not a URL of http or https that all programs read alike")
    user = (found["user"] or "").lower()
    if user in _OWN or _NUMBER.fullmatch(user):
        raise NotFetchedError("a host stands where the name of a user is expected")
    if not _is_allowed(found, allowed_hosts):
        return WebPlace(*_leads_to(found))
    scheme = found["scheme"].lower()
    port = int(found["port"] or DEFAULT_PORTS[scheme])
    return WebPlace(scheme, found["host"].lower().strip("[]"), port)


def _is_allowed(found: re.Match[str], allowed_hosts: Collection[str]) -> bool:
    port = found["port"] or DEFAULT_PORTS[found["scheme"].lower()]
    return is_named(found["host"].strip("[]"), int(port), allowed_hosts)


def is_named(host: str, port: int, hosts: Collection[str]) -> bool:
    """Return whether a host, without brackets, stands in `hosts`, with or without its port."""
    written = f"[{host}]" if ":" in host else host
    names = {host.lower(), written.lower(), f"{written}:{port}".lower()}
    return not names.isdisjoint(one.lower() for one in hosts)


def _leads_to(found: re.Match[str]) -> tuple[str, str, int]:
    scheme = found["scheme"].lower()
    port = int(found["port"] or DEFAULT_PORTS[scheme])
    if port not in WEB_PORTS:
        raise NotFetchedError(
            f"expected one of the ports {', '.join(map(str, sorted(WEB_PORTS)))}, got {port}"
        )
    return scheme, host_name(found["host"]), port


def web_address(url: str, private_hosts: Collection[str] = ()) -> ServerAddress:
    """Return where `url` leads, its host in small letters of ASCII.

    A host of `private_hosts`, written with or without its port, may be private and have any port.

    Raises:
        NotFetchedError: it is not a URL that may be fetched.
    """
    found = _URL.fullmatch(url) if len(url) <= _LONGEST else None
    if found is None:
        raise NotFetchedError(
            f"expected a URL of http or https of at most {_LONGEST} characters, without a user, "
            "spaces or other letters than ASCII behind the host, got another one"
        )
    if _is_allowed(found, private_hosts):
        scheme, host = found["scheme"].lower(), found["host"].lower().strip("[]")
        port = int(found["port"] or DEFAULT_PORTS[scheme])
    else:
        scheme, host, port = _leads_to(found)
    target = (found["path"] or "/") + (found["query"] or "")
    return ServerAddress(scheme, host, port, target, None)


def host_name(text: str) -> str:
    """Return a host of the public internet as `ServerAddress` has it, in small letters of ASCII.

    Raises:
        NotFetchedError: it is not a public host, or can be read in two ways.
    """
    if text.startswith("["):
        return _checked(text[1:-1], IPv6Address)
    host = ".".join(_label(label, text) for label in text.lower().removesuffix(".").split("."))
    first, _, above = host.rpartition(".")
    if _NUMBER.fullmatch(above):  # programs take all such names for addresses of IPv4
        return _checked(host, IPv4Address)
    if len(host) > 253 or not first or any(f".{host}".endswith(f".{own}") for own in _OWN):
        raise NotFetchedError(f"{text!r:.80} is not a name on the public internet")
    return host


def _checked(text: str, family: type[IPv4Address | IPv6Address]) -> str:
    try:
        address = str(family(text))
    except ValueError:
        raise NotFetchedError(f"{text!r:.80} is not an unambiguous address") from None
    if not is_public(address):
        raise NotFetchedError(f"{address} is not an address on the public internet")
    return address


def _label(label: str, host: str) -> str:
    """Return one part of a name in ASCII; only letters that stay as they are have such a form."""
    plain = label
    if not label.isascii() and _is_stable(label):
        try:
            plain = label.encode("idna").decode("ascii")
        except UnicodeError:
            plain = ""
        if plain and plain.encode("ascii").decode("idna") != label:
            plain = ""
    if not _LABEL.fullmatch(plain):
        raise NotFetchedError(f"{host!r:.80} is not an unambiguous name")
    return plain


def _is_stable(label: str) -> bool:
    letters = all(sign in "-_" or unicodedata.category(sign)[0] in "LMN" for sign in label)
    return letters and unicodedata.normalize("NFKC", label) == label
