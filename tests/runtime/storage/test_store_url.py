"""The URL of a store: what is refused immediately, with a hint and without a password."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire.storage import StorageAddressError, StorageInputError, open_store
from kinwire.storage.store_url import parsed
from tests.each import each

REFUSED = [
    ("keep.db", "A file is sqlite:///keep.db"),
    ("", "no scheme"),
    ("http://host", "Begin it with memory:, sqlite: or nats:"),
    ("memory://", "Begin it with"),
    ("sqlite:keep.db", "sqlite:///notes.db is in this folder"),
    ("sqlite:///", "sqlite:///notes.db is in this folder"),
    ("sqlite:///a?mode=ro", "no options"),
    ("sqlite:///a%00b", "then a path"),
    ("sqlite:///a%FF", "then a path"),
    ("sqlite:///\udc80", "then a path"),
    ("sqlite:///:memory:", "A store in memory is memory:"),
    ("nats:", "nats://localhost:4222"),
    ("nats://", "nats://localhost:4222"),
    ("nats://one,,two", "hosts, each with an optional port"),
    ("nats://one:abc", "hosts, each with an optional port"),
    ("nats://one:0", "hosts, each with an optional port"),
    ("nats://one:65536", "hosts, each with an optional port"),
    ("nats://a b", "hosts, each with an optional port"),
    ("nats://[::1", "Invalid IPv6 URL"),
    ("nats://one#two", "hosts, each with an optional port"),
    ("nats://one/A", "Rename it"),
    ("nats://one/a/b", "Rename it"),
    ("nats://one?replicas=2", "got replicas=2"),
    ("nats://one?what=1", "got what"),
]


@pytest.mark.parametrize(("url", "said"), REFUSED, ids=[row[0] for row in REFUSED])
def test_an_invalid_url_is_refused_immediately(url: str, said: str) -> None:
    with pytest.raises(StorageAddressError) as refused:
        open_store(url)
    assert said in str(refused.value)


def test_all_servers_of_a_cluster_are_taken() -> None:
    address = parsed("nats://me:x@one:1,two,[::1]:4222/notes?replicas=3")
    assert address.servers == ("nats://me:x@one:1", "nats://two", "nats://[::1]:4222")
    assert (address.name, address.replicas) == ("notes", 3)


@each("url", ["nats://a:secret@one:x", "nats://b@x,a:secret@one/A", "x://a:secret@b"])
def test_an_error_shows_no_password(url: str) -> None:
    with pytest.raises(StorageAddressError) as refused:
        open_store(url)
    assert "secret" not in str(refused.value)


BAD_TIMEOUTS: list[Any] = [0, -1, float("nan"), float("inf"), 3601, "5", None]


@each("timeout", BAD_TIMEOUTS)
@each("url", ["memory:", "sqlite:///no.db", "nats://127.0.0.1:9"])
def test_an_invalid_timeout_is_refused_immediately(url: str, timeout: Any) -> None:
    with pytest.raises(StorageInputError, match="timeout: expected seconds above 0, at most 3600"):
        open_store(url, timeout=timeout)
