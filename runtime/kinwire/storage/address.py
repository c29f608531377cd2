"""The URL of a store, taken apart. Errors never show what stands before an @."""

from __future__ import annotations

__all__ = ("Address", "checked_name", "parsed")

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlsplit

from kinwire.storage.errors import StorageAddressError, StorageInputError

_FORMS = "memory:, sqlite:///file.db or nats://host:port"
_NAME = re.compile(r"[a-z0-9_-]{1,64}")
_REPLICAS = ("1", "3", "5")
_SECRET = re.compile(r"//[^/@]*@")


@dataclass(frozen=True, slots=True)
class Address:
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


def parsed(url: str) -> Address:
    """Return what `url` says.

    Raises:
        StorageAddressError: it names no store that there could be.
    """
    if url == "memory:":
        return Address("memory")
    scheme = url.partition(":")[0]
    if scheme == "sqlite":
        return _sqlite(url)
    if scheme == "nats":
        return _nats(url)
    raise _refused(
        url, _FORMS, f"the scheme {scheme!r}", "Begin it with memory:, sqlite: or nats:."
    )


def checked_name(name: str) -> str:
    """Return the name of records or of a log.

    Raises:
        StorageInputError: no store takes it.
    """
    if _NAME.fullmatch(name):
        return name
    raise StorageInputError(
        "name", expected="1 to 64 of a-z, 0-9, - and _", got=repr(name[:80]), mend="Rename it."
    )


def _sqlite(url: str) -> Address:
    path = unquote(url.removeprefix("sqlite:///"))
    if not url.startswith("sqlite:///") or not path or "?" in url or "\0" in path:
        mend = "sqlite:///notes.db is in this folder, sqlite:////var/notes.db anywhere."
        raise _refused(url, "sqlite:///, then a path, and no options", "something else", mend)
    return Address("sqlite", path=path)


def _nats(url: str) -> Address:
    split = urlsplit(url)
    options = dict(parse_qsl(split.query, keep_blank_values=True))
    replicas = options.pop("replicas", "1")
    name = split.path.removeprefix("/") or "kinwire"
    if not split.netloc or not all(split.netloc.split(",")):
        raise _refused(url, "hosts", "none", "nats://localhost:4222 is a server on this machine.")
    if options or replicas not in _REPLICAS:
        got = ", ".join(options) or f"replicas={replicas}"
        raise _refused(url, "at most the option replicas, which is 1, 3 or 5", got, "Mend it.")
    if not _NAME.fullmatch(name):
        raise _refused(url, "1 to 64 of a-z, 0-9, - and _ as path", repr(name), "Rename it.")
    servers = tuple(f"nats://{host}" for host in split.netloc.split(","))
    return Address("nats", servers=servers, name=name, replicas=int(replicas))


def _refused(url: str, expected: str, got: str, mend: str) -> StorageAddressError:
    shown = _SECRET.sub("//...@", url)
    return StorageAddressError(f"store {shown!r}", expected=expected, got=got, mend=mend)
