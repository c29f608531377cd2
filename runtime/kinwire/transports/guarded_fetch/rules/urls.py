"""Which URLs may be asked at all: those that every program reads in the same way (RFC 3986).

What could be read in two ways is refused, and so is what means this machine or a private network
by its very name. What a name is resolved to, `addresses.py` judges.
"""

from __future__ import annotations

__all__ = ("host_name", "web_address")

import re
import unicodedata
from ipaddress import IPv4Address, IPv6Address

from kinwire.transports.guarded_fetch.errors import NotFetchedError
from kinwire.transports.guarded_fetch.rules.addresses import is_public
from kinwire.transports.http_client.address import DEFAULT_PORTS, ServerAddress

_LONGEST = 2048  # characters
_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s/?#@:%\\\[\]]+)(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>/(?:[\w.~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)?"
    r"(?P<query>\?(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?(?:#[!-~]*)?",
    re.ASCII | re.IGNORECASE,
)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_OWN = {"localhost", "local", "internal", "svc", "home.arpa", "onion"}
_PORTS = {80, 443, 8080, 8443}  # nothing else that listens is to be talked to, by mistake or not


def web_address(url: str) -> ServerAddress:
    """Return where `url` leads, its host in small letters of ASCII.

    Raises:
        NotFetchedError: it is not a URL that may be fetched.
    """
    found = _URL.fullmatch(url) if len(url) <= _LONGEST else None
    if found is None:
        raise NotFetchedError(
            f"expected a URL of http or https of at most {_LONGEST} characters, without a user, "
            "spaces or other letters than ASCII behind the host, got another one"
        )
    scheme = found["scheme"].lower()
    port = int(found["port"] or DEFAULT_PORTS[scheme])
    if port not in _PORTS:
        raise NotFetchedError(
            f"expected one of the ports {', '.join(map(str, sorted(_PORTS)))}, got {port}"
        )
    target = (found["path"] or "/") + (found["query"] or "")
    return ServerAddress(scheme, host_name(found["host"]), port, target, None)


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
