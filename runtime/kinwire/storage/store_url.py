"""The URL of a store, taken apart. Errors never show what stands before an @."""

from __future__ import annotations

__all__ = ("StoreUrl", "checked_name", "parsed")

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from kinwire.storage.errors import StorageAddressError
from kinwire.storage.inputs import refused
from kinwire.support.validation import shown_number

_FORMS = "memory:, sqlite:///file.db or nats://host:port"
_NAME = re.compile(r"[a-z0-9_-]{1,64}")
_PATH = re.compile(r"[^\0\ud800-\udfff]+")  # SQLite takes UTF-8
_HOST = re.compile(r"(?:[^\s/@\[\]]*@)?(?:[^\s:/@\[\]]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
_REPLICAS = ("1", "3", "5")
_SECRET = re.compile(r"//.*@", re.DOTALL)


@dataclass(frozen=True, slots=True)
class StoreUrl:
    """Where a store is."""

    engine: Literal["memory", "nats", "sqlite"]
    path: str = ""
    """SQLite: the file."""
    servers: tuple[str, ...] = ()
    """NATS: a URL each."""
    name: str = "kinwire"
    """NATS: what the names of streams and buckets begin with, so that servers can be shared."""
    replicas: int = 1
    """NATS: how many servers hold each stream."""


def parsed(url: str) -> StoreUrl:
    """Return the parts of `url`.

    Raises:
        StorageAddressError: it is not a valid store URL.
    """
    if url == "memory:":
        return StoreUrl("memory")
    scheme, colon, _ = url.partition(":")
    if scheme == "sqlite":
        return _sqlite(url)
    if scheme == "nats":
        return _nats(url)
    if not colon:
        raise _refused(url, _FORMS, "no scheme", f"A file is sqlite:///{url or 'file.db'}.")
    raise _refused(url, _FORMS, "another one", "Begin it with memory:, sqlite: or nats:.")


def checked_name(name: object) -> str:
    """Return the name of records or of a log.

    Raises:
        StorageInputError: it is invalid.
    """
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    got = repr(name[:80]) if isinstance(name, str) else shown_number(name)
    raise refused("name", "1 to 64 of a-z, 0-9, - and _", got, "Rename it.")


def _sqlite(url: str) -> StoreUrl:
    path = unquote(url.removeprefix("sqlite:///"), errors="surrogateescape")
    if path == ":memory:":
        raise _refused(url, "a file", "none", "A store in memory is memory:.")
    if not url.startswith("sqlite:///") or not _PATH.fullmatch(path) or "?" in url:
        hint = "sqlite:///notes.db is in this folder, sqlite:////var/notes.db anywhere."
        raise _refused(url, "sqlite:///, then a path, and no options", "something else", hint)
    return StoreUrl("sqlite", path=path)


def _nats(url: str) -> StoreUrl:
    try:
        split = urlsplit(url)
    except ValueError as error:
        raise _refused(url, "a URL", str(error), "Fix the URL.") from None
    options = dict(parse_qsl(split.query, keep_blank_values=True))
    replicas = options.pop("replicas", "1")
    name = split.path.removeprefix("/") or "kinwire"
    hosts = split.netloc.split(",")
    if not all(map(_is_host, hosts)) or split.fragment:
        hint = "nats://localhost:4222 is a server on this machine."
        raise _refused(url, "hosts, each with an optional port", "something else", hint)
    if options or replicas not in _REPLICAS:
        got = ", ".join(options) or f"replicas={replicas}"
        raise _refused(url, "no option but replicas, which is 1, 3 or 5", got, "Fix the URL.")
    if not _NAME.fullmatch(name):
        raise _refused(url, "1 to 64 of a-z, 0-9, - and _ as path", repr(name), "Rename it.")
    servers = tuple(f"nats://{host}" for host in hosts)
    return StoreUrl("nats", servers=servers, name=name, replicas=int(replicas))


def _is_host(host: str) -> bool:
    port = host.rpartition("]")[2].rpartition("@")[2].partition(":")[2]
    return _HOST.fullmatch(host) is not None and int(port or 1) in range(1, 65_536)


def _refused(url: str, expected: str, got: str, hint: str) -> StorageAddressError:
    place = f"store {_SECRET.sub('//...@', url)!r}"
    return StorageAddressError(place, expected=expected, got=got, hint=hint)
