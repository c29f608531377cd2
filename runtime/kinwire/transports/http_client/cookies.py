"""Cookies of servers (RFC 6265, section 5): balancers find the process of a session by them.

Stricter than a browser in one way: a cookie goes only to the origin that has set it, not to other
ports or subdomains. That replaces the list of public suffixes. Names and values are never shown.
"""

from __future__ import annotations

__all__ = ("CookieJar",)

import re
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from ipaddress import ip_address
from typing import NamedTuple

from kinwire.transports.http_client.address import ServerAddress

_MOST = 50
_MOST_BYTES = 16 * 1024  # of all names and values: servers refuse longer heads
_LONGEST = 4096  # bytes of a name and its value
_LONGEST_ATTRIBUTE = 1024
_FOREVER = 10**10  # seconds
_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_SECONDS = re.compile(r"-?[0-9]+")


class _Cookie(NamedTuple):
    pair: str
    path: str
    expires: float | None

    def fits(self, path: str, now: float) -> bool:
        return not self.expired(now) and _path_matches(path, self.path)

    def expired(self, now: float) -> bool:
        return self.expires is not None and self.expires <= now


class CookieJar:
    """The cookies of one client: at most 50, and 16 KiB in total; the oldest leave first."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now  # seconds since 1970
        self.kept: dict[tuple[str, str, str, str], _Cookie] = {}
        """In the order of their creation."""
        self._size = 0

    def __repr__(self) -> str:
        return f"<CookieJar of {len(self.kept)}>"

    def store(self, address: ServerAddress, values: Iterable[str]) -> None:
        """Keep the cookies of a response: `values` has each `Set-Cookie` header by itself.

        Malformed cookies, those for another host, and those for TLS without it are ignored.
        """
        for value in values:
            self._store(address, value)
        self._make_room()

    def header_for(self, address: ServerAddress) -> str:
        """Return the value of the `Cookie` header for a request, "" if it needs no such header."""
        if not self.kept:
            return ""
        origin, path, now = address.origin, _path_of(address), self._now()
        fitting = [
            cookie
            for key, cookie in self.kept.items()
            if key[0] == origin and cookie.fits(path, now)
        ]
        fitting.sort(key=lambda cookie: -len(cookie.path))
        return "; ".join(cookie.pair for cookie in fitting)

    def _store(self, address: ServerAddress, value: str) -> None:
        pair, *rest = value.split(";")
        name, mark, content = (part.strip(" \t") for part in pair.partition("="))
        if not mark or not name or len(name) + len(content) > _LONGEST:
            return
        attributes = _attributes(rest)
        if "secure" in attributes and not address.secure:
            return
        domain = attributes.get("domain", "").removeprefix(".").lower() or address.host.lower()
        if _CONTROLS.search(value) or not _domain_matches(address.host.lower(), domain):
            return
        path = attributes.get("path", "")
        if not path.startswith("/"):
            path = _path_of(address).rpartition("/")[0] or "/"
        expires = _expiry(attributes, self._now)
        key = (address.origin, name, domain, path)
        self._put(key, _Cookie(f"{name}={content}", path, expires))

    def _put(self, key: tuple[str, str, str, str], cookie: _Cookie) -> None:
        old = self.kept.get(key)
        if old is not None:
            self._size -= len(old.pair)
        if cookie.expired(self._now()):
            self.kept.pop(key, None)
            return
        self.kept[key] = cookie  # one of the same key keeps its place
        self._size += len(cookie.pair)

    def _make_room(self) -> None:
        if not self._is_over():
            return
        now = self._now()
        self._remove([key for key, cookie in self.kept.items() if cookie.expired(now)])
        while self._is_over():
            self._remove([next(iter(self.kept))])

    def _is_over(self) -> bool:
        return len(self.kept) > _MOST or self._size > _MOST_BYTES

    def _remove(self, keys: Iterable[tuple[str, str, str, str]]) -> None:
        for key in keys:
            self._size -= len(self.kept.pop(key).pair)


def _attributes(parts: Iterable[str]) -> dict[str, str]:
    """Return the attributes of a cookie; of several with one name the last counts."""
    found: dict[str, str] = {}
    for part in parts:
        name, _, content = (piece.strip(" \t") for piece in part.partition("="))
        if len(content) <= _LONGEST_ATTRIBUTE:
            found[name.lower()] = content
    return found


def _expiry(attributes: dict[str, str], now: Callable[[], float]) -> float | None:
    """Return when a cookie expires, None if with its client. `Max-Age` precedes `Expires`."""
    seconds = attributes.get("max-age", "")
    if _SECONDS.fullmatch(seconds):
        return now() + min(max(int(seconds), -1), _FOREVER)
    return _date(attributes["expires"]) if "expires" in attributes else None


def _date(text: str) -> float | None:
    from email.utils import mktime_tz, parsedate_tz

    with suppress(ValueError, OverflowError):
        found = parsedate_tz(text)
        if found is not None:
            return float(mktime_tz(found))
    return None


def _path_of(address: ServerAddress) -> str:
    return address.target.partition("?")[0]


def _path_matches(path: str, kept: str) -> bool:
    return path == kept or (
        path.startswith(kept) and (kept.endswith("/") or path[len(kept)] == "/")
    )


def _domain_matches(host: str, domain: str) -> bool:
    if host == domain:
        return True
    with suppress(ValueError):
        ip_address(host)
        return False
    return host.endswith(f".{domain}")
