"""What names a peer beyond its connection, on each transport, and the key that is made of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from kinwire import Session, stdio
from kinwire.mcp.http.session import HttpServerSession
from kinwire.mcp.profile import PROFILE
from kinwire.mcp.urls import transport_to
from kinwire.rpc.identity import PeerIdentity, is_transient
from kinwire.rpc.transport import Transport
from kinwire.transports.http.guard import principal_address
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.memory import memory_pair
from kinwire.transports.stdio import OwnStdio
from tests.each import each

SECRET = "sk-1234"
A, B = Path("/a"), Path("/b")


def key_of(transport: Transport) -> str:
    return Session(transport, routes={}, profile=PROFILE).identity.key


def url(address: str, **options: Any) -> Transport:
    return transport_to(address, options)  # type: ignore[arg-type]


SAME = [
    (stdio("python", "notes.py"), stdio("python", "notes.py", env={"TOKEN": SECRET})),
    (stdio("python", "notes.py", cwd=A), stdio("python", "notes.py", cwd="/a/b/..")),
    (url("http://127.0.0.1/mcp"), url("http://127.0.0.1:80/mcp", headers={"X-Key": SECRET})),
    (url("ws://127.0.0.1/mcp"), url("ws://127.0.0.1:80/mcp", headers={"X-Key": SECRET})),
    (url("http://alice:old@127.0.0.1/mcp"), url(f"http://alice:{SECRET}@127.0.0.1/mcp")),
]
OTHERS: list[Transport] = [
    stdio("python", "notes.py"),
    stdio("python", "notes.py", "--all"),
    stdio("python", "notes.py --all"),
    stdio("python3", "notes.py"),
    stdio("python", "notes.py", cwd=A),
    stdio("python", "notes.py", cwd=B),
    url("http://127.0.0.1/mcp"),
    url("http://127.0.0.1:8080/mcp"),
    url("http://127.0.0.1/mcp?user=a"),
    url("http://127.0.0.1/other"),
    url("http://alice:x@127.0.0.1/mcp"),
    url("http://bob:x@127.0.0.1/mcp"),
    url("ws://127.0.0.1/mcp"),
    url("ws://127.0.0.1/other"),
    HttpServerSession("1", "alice", HttpLimits()),
    HttpServerSession("1", "bob", HttpLimits()),
    HttpServerSession("1", None, HttpLimits()),
    HttpServerSession("2", None, HttpLimits()),
    memory_pair()[0],
    memory_pair()[0],
    OwnStdio(),
]


@each(("one", "other"), SAME)
def test_the_same_target_has_the_same_key(one: Transport, other: Transport) -> None:
    assert key_of(one) == key_of(other)
    assert re.fullmatch("[0-9a-f]{32}", key_of(one))


def test_every_other_target_has_another_key() -> None:
    keys = [key_of(one) for one in OTHERS]
    assert len(set(keys)) == len(keys)
    lasting = [key for key in keys if not is_transient(key)]
    assert len(lasting) == 16


def test_a_peer_that_nothing_names_has_a_key_for_one_connection() -> None:
    transport, _ = memory_pair()
    identities = [PeerIdentity.of(transport.address), PeerIdentity.of(transport.address)]
    assert all(one.transient for one in identities)
    assert identities[0].key != identities[1].key


def test_a_server_id_is_never_the_key_of_an_address() -> None:
    address = stdio("python", "notes.py").address
    assert PeerIdentity.of(address, "notes") == PeerIdentity.of(None, "notes")
    assert PeerIdentity.of(None, address).key != PeerIdentity.of(address).key
    assert PeerIdentity.of(address).server_id is None
    assert not PeerIdentity.of(None, "notes").transient


@each("principal", ["alice", 7, {"sub": "alice"}, ["a", "b"]])
def test_a_principal_that_json_has_names_its_peer(principal: object) -> None:
    address = principal_address(principal)
    assert address == principal_address(json.loads(json.dumps(principal)))
    assert not PeerIdentity.of(address).transient


@each("principal", [None, object(), {1, 2}])
def test_other_principals_name_nobody(principal: object) -> None:
    assert principal_address(principal) is None
