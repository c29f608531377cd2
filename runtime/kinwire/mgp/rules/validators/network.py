"""The validator `network_restricted`: no private addresses, no other services than the web.

URLs are found in every string, and hosts by the names of arguments. The one guard of the project
(`transports/guarded_fetch`) judges both. Names are left over: `named_hosts` returns them for the
caller that can look them up.
"""

from __future__ import annotations

__all__ = ("NamedHost", "named_hosts", "network_violations")

import re
import unicodedata
from collections.abc import Collection, Iterator
from ipaddress import IPv6Address, ip_address
from typing import Final, NamedTuple

from kinwire.mgp.rules.tools import KnownTool
from kinwire.mgp.rules.validators.judgement import ValidatorOptions, Violation
from kinwire.mgp.rules.validators.places import Leaf, leaves, words_of_name
from kinwire.mgp.rules.word_set import word_set
from kinwire.transports.guarded_fetch.rules import (
    WEB_PORTS,
    NotFetchedError,
    WebPlace,
    is_public,
    web_place,
)
from kinwire_protocols.base import JsonObject

_HOST_NAMES: Final = word_set("host hostname hosts hostnames ip ips domain domains fqdn")
_URL_NAMES: Final = word_set("url urls uri uris href webhook website proxy")
_MAY_NAME_HOST: Final = word_set(
    """
    server servers address addr peer endpoint upstream origin base gateway remote target site link
    src source destination node broker registry mirror backend
    """
)
_LIKE_HOST: Final = re.compile(
    r"""
    (?:(?:0x[0-9a-f]+|[0-9]+)(?:\.(?:0x[0-9a-f]+|[0-9]+)){1,3}|0x[0-9a-f]+|[0-9]{8,})(?::[0-9]+)?(?:/.*)?
    |[\w.-]+\.(?:local|lan|corp|home|svc|arpa|onion|intranet|localdomain)\.?(?::[0-9]+)?(?:/.*)?
    |[\w.-]+\.[a-z]{2,}:[0-9]+(?:/.*)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Addresses in any spelling, private names and names with a port."""
_OTHER: Final = word_set(
    "data file jar javascript vbscript unix netdoc blob gopher dict ldap ldaps tftp ftp ftps sftp "
    "ssh smb telnet ws wss redis mysql postgres mongodb imap smtp pop3 rtsp php phar"
)
_SCHEME: Final = re.compile(r"(?<![\w.+-])([a-z][\w.+-]*):(?=\S)", re.IGNORECASE | re.ASCII)
_ANY_SCHEME: Final = re.compile(r"[a-z][\w+.-]*:(?!\d+(?:[/?#]|$))", re.IGNORECASE)
_KEY: Final = re.compile(r"[\w.-]{0,80}")
_WORD: Final = re.compile(r"[A-Za-z0-9,;!?'\"()_-]*")
"""Of this form no word names an address or has a scheme."""
_LOCAL: Final = re.compile(r"local|ip6", re.IGNORECASE)
_ENCODED: Final = re.compile(r"https?%3a", re.IGNORECASE)
_NUMERIC: Final = re.compile(
    r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+)){3}", re.IGNORECASE
)
_BARE: Final = re.compile(
    r"(\[[^]]*\]|[^:/?#@]+|[0-9a-f:.]+(?:%\w+)?)(?::[0-9]+)?(?:[/?#]\S*)?", re.I
)
_OWN: Final = re.compile(
    r"(?:.*\.)?(?:localhost|localdomain)\.?|.*\.internal\.?|ip6-l\w+", re.IGNORECASE
)
_NO_SCHEME: Final = re.compile(r"(?://|\\\\)[\w\[]")
_CLOSING: Final = ").,;:!?}>'\"`"
_INSIDE: Final = frozenset("=/?&#%@")
"""What stands in front of a URL that is a part of another URL."""

_UNCLEAR: Final = "it is not a URL of http or https that all programs read alike"


class NamedHost(NamedTuple):
    """A host among the arguments that must be resolved before the call."""

    place: str
    host: str
    port: int


def network_violations(
    tool: KnownTool, arguments: JsonObject, options: ValidatorOptions
) -> Iterator[Violation]:
    """Yield why a call is refused without looking anything up.

    Raises:
        TooManyValuesError: the arguments have more values than a validator reads.
    """
    return (found for found in _findings(arguments, options) if isinstance(found, Violation))


def named_hosts(arguments: JsonObject, options: ValidatorOptions) -> list[NamedHost]:
    """Return the names of hosts in the arguments, each once; addresses are judged already.

    Raises:
        TooManyValuesError: the arguments have more values than a validator reads.
    """
    found: dict[str, NamedHost] = {}
    for one in _findings(arguments, options):
        if isinstance(one, NamedHost) and not _is_address(one.host):
            found.setdefault(one.host, one)
    return list(found.values())


def _findings(arguments: JsonObject, options: ValidatorOptions) -> Iterator[Violation | NamedHost]:
    allowed = options.allowed_hosts
    for leaf in leaves(arguments):
        for found in _of_leaf(leaf, allowed):
            if isinstance(found, str):
                yield Violation(leaf.place, found)
            elif found.host not in {one.lower().strip("[]") for one in allowed}:
                yield NamedHost(leaf.place, found.host, found.port)


def _of_leaf(leaf: Leaf, allowed: Collection[str]) -> Iterator[str | WebPlace]:
    """Yield reasons to refuse a value, and where its URLs lead."""
    if leaf.value is None or isinstance(leaf.value, bool):
        return
    words = () if leaf.is_key or not _KEY.fullmatch(leaf.name) else words_of_name(leaf.name)
    last, text = words[-1] if words else "", str(leaf.value)
    is_text = isinstance(leaf.value, str)
    if last in ("port", "scheme", "protocol") or "socket" in words:
        yield from _of_part(last, text.lower().removesuffix("://").removesuffix(":"))
    elif text and (_is_target(words, last, is_text) or _is_like_target(words, text)):
        yield _of_target(text, allowed)
        if "://" in text:
            yield from _of_text(text, allowed)  # it may have several
    elif is_text:
        yield from _of_text(text, allowed)


def _of_part(name: str, text: str) -> Iterator[str]:
    """Yield why a part of an address is refused."""
    if name == "port":
        if text not in {str(port) for port in WEB_PORTS}:
            yield f"expected one of the ports {', '.join(map(str, sorted(WEB_PORTS)))}"
    elif name in ("scheme", "protocol"):
        if text in _OTHER or (name == "scheme" and text not in ("http", "https")):
            yield "expected the scheme http or https"
    else:
        yield "it names a socket of the machine"


def _is_like_target(words: tuple[str, ...], text: str) -> bool:
    return not _MAY_NAME_HOST.isdisjoint(words) and _LIKE_HOST.fullmatch(text) is not None


def _is_target(words: tuple[str, ...], last: str, is_text: bool) -> bool:
    """Return whether a value of this name can only be a host or a URL."""
    if last in ("name", "address") and len(words) > 1:
        last = words[-2]
    if is_text:
        return last in _HOST_NAMES or last in _URL_NAMES
    return last in _HOST_NAMES and not last.endswith("s")  # a number of hosts is not a host


def _of_target(text: str, allowed: Collection[str]) -> str | WebPlace:
    """Return where a value leads that is a URL or a host by its name."""
    if _ANY_SCHEME.match(text):
        return _place(text, allowed)
    host, at, rest = text.rpartition("@")
    if ":" in rest and _is_address(rest.partition("%")[0]):
        rest = f"[{rest}]"
    return _place(f"http://{host if at else ''}{at}{rest}".replace("http:////", "http://"), allowed)


def _place(url: str, allowed: Collection[str]) -> str | WebPlace:
    try:
        return web_place(url, allowed)
    except NotFetchedError as error:
        return error.reason


# -- any string --


def _of_text(text: str, allowed: Collection[str]) -> Iterator[str | WebPlace]:
    joined = text.translate({9: None, 10: None, 13: None})  # as browsers read URLs
    tokens = text.split() if joined == text else (*text.split(), *joined.split())
    for token in tokens:
        if not _WORD.fullmatch(token) or _LOCAL.search(token):
            yield from _of_token(token, allowed)


def _of_token(token: str, allowed: Collection[str]) -> Iterator[str | WebPlace]:
    if _ENCODED.match(token):
        yield _UNCLEAR
    found = [one for one in _SCHEME.finditer(token) if _is_scheme(token, one)]
    inside = False
    for one in found:
        if inside and token[one.start() - 1] in _INSIDE:
            continue
        result = _place(_cut(token[one.start() :]), allowed)
        inside = isinstance(result, WebPlace)
        yield result
    if not found:
        yield from _of_bare(token, allowed)


def _is_scheme(token: str, found: re.Match[str]) -> bool:
    """Return whether `word:` begins a URL here, and is not a word of a text."""
    name, after = found[1].lower(), token[found.end() :]
    return name in ("http", "https") or name in _OTHER or after.startswith(("//", "\\\\", "/\\"))


def _cut(url: str) -> str:
    """Return a URL without what separates it from the text or the URL behind it."""
    url = re.split(r"[,;|](?=[a-zA-Z][\w+.-]*:)|[<>\"`]", url, maxsplit=1)[0].rstrip(_CLOSING)
    return url.rstrip("]") if url.count("[") < url.count("]") else url


def _of_bare(token: str, allowed: Collection[str]) -> Iterator[str | WebPlace]:
    """Yield why a word without a scheme is refused: it is an address or a name of this machine."""
    plain = unicodedata.normalize("NFKC", token)
    if not _is_address(plain):
        plain = plain.strip(_CLOSING + "(<=")
    if _NO_SCHEME.match(plain):
        yield _place("http:" + plain, allowed)
        return
    found = _BARE.fullmatch(plain.rpartition("=")[2])
    host = found[1].strip("[]") if found else ""
    if not host or host.lower() in {one.lower() for one in allowed}:
        return
    if _is_address(host.partition("%")[0]):
        if not is_public(host):
            yield "it is an address that is not on the public internet"
    elif _NUMERIC.fullmatch(host) or _OWN.fullmatch(host):
        yield "it names this machine or a private network"


def _is_address(text: str) -> bool:
    try:
        return isinstance(ip_address(text), IPv6Address) or text.count(".") == 3
    except ValueError:
        return False
