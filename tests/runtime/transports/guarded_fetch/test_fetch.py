"""A URL that is not trusted is asked where it was checked, again at each redirect, and bounded."""

from __future__ import annotations

import gzip
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from kinwire.transports.guarded_fetch import fetch
from kinwire.transports.guarded_fetch.fetch import Fetched, GuardedClient, SystemNetwork
from kinwire.transports.guarded_fetch.rules import NotFetchedError
from kinwire.transports.http_client.address import ServerAddress
from kinwire.transports.http_client.fields import USER_AGENT
from tests.each import each
from tests.runtime.mcp.http_client.fake_server import Asked, Handler, Line, RawServer
from tests.runtime.transports.guarded_fetch.fake_network import PUBLIC, TestNetwork, page

pytestmark = pytest.mark.anyio

NAMES = {"a.example": [[PUBLIC]], "b.example": [[PUBLIC]], "home.example": [["127.0.0.1"]]}
URL = "https://a.example/cat"
TYPES = ("image/png",)


@asynccontextmanager
async def asking(
    handler: Handler, names: Mapping[str, Sequence[Sequence[str]]] = NAMES, **options: Any
) -> AsyncGenerator[tuple[GuardedClient, TestNetwork, RawServer]]:
    async with RawServer.serving(handler) as server:
        network = TestNetwork(server.port, names)
        given = {"insecure": False, "size": 1000, "timeout": 10.0, **options}
        allow = given.pop("allow", lambda address: True)
        yield GuardedClient(allow, network=network, **given), network, server


def redirects(*targets: str) -> Handler:
    left = list(targets)

    async def handle(asked: Asked, line: Line) -> None:
        if left:
            await line.status(302, location=left.pop(0))
        else:
            await line.status(200, b"png", content_type="image/png")

    return handle


async def test_what_is_there_is_fetched_from_the_address_that_was_checked() -> None:
    async with asking(page(content_type="Image/PNG; q=1")) as (client, network, server):
        assert await client.get(URL + "?x=1", TYPES) == Fetched("image/png", b"png")
    assert network.connected == [(PUBLIC, 443, "a.example")]
    assert server.asked[0].target == "/cat?x=1"
    headers = server.asked[0].headers
    assert headers["host"] == "a.example"
    assert not headers.keys() & {"cookie", "authorization", "referer"}


async def test_a_name_whose_answer_changes_is_asked_for_once() -> None:
    names = {"a.example": [[PUBLIC], ["127.0.0.1"]]}
    async with asking(page(), names) as (client, network, _):
        await client.get(URL, TYPES)
        assert network.resolved == ["a.example"]
        with pytest.raises(NotFetchedError, match=r"leads to 127\.0\.0\.1"):
            await client.get(URL, TYPES)
    assert [address for address, *_ in network.connected] == [PUBLIC]


NOWHERE: list[Any] = [
    pytest.param([["127.0.0.1"]], "leads to 127", id="home"),
    pytest.param([["64:ff9b::7f00:1"]], "leads to 64:ff9b", id="home in another form"),
    pytest.param([[PUBLIC, "10.0.0.1"]], "leads to 10", id="one bad answer among several"),
    pytest.param([["169.254.169.254"]], "leads to 169", id="metadata"),
    pytest.param([["fe80::1%eth0"]], "leads to fe80", id="link-local"),
    pytest.param([[]], "has no address", id="no answer"),
    pytest.param(None, "has no address", id="no such name"),
]


@pytest.mark.parametrize(("answers", "why"), NOWHERE)
async def test_a_name_that_does_not_lead_to_the_public_internet_is_not_asked(
    answers: Any, why: str
) -> None:
    names = {} if answers is None else {"a.example": answers}
    async with asking(page(), names) as (client, network, _):
        with pytest.raises(NotFetchedError, match=why):
            await client.get(URL, TYPES)
    assert network.connected == []


async def test_the_next_address_is_tried_where_nobody_answers() -> None:
    names = {"a.example": [["8.8.8.8", PUBLIC]]}
    async with asking(page(), names) as (client, network, _):
        network.dead.add("8.8.8.8")
        assert (await client.get(URL, TYPES)).body == b"png"
        network.dead.add(PUBLIC)
        with pytest.raises(NotFetchedError, match="cannot be connected to"):
            await client.get(URL, TYPES)


async def test_an_address_that_does_not_answer_leaves_time_to_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fetch, "_NEXT", 0.01)
    names = {"a.example": [["8.8.8.8", "1.1.1.1", PUBLIC]]}
    async with asking(page(), names) as (client, network, _):
        network.silent.update(("8.8.8.8", "1.1.1.1"))
        assert (await client.get(URL, TYPES)).body == b"png"
    assert [address for address, *_ in network.connected] == ["8.8.8.8", "1.1.1.1", PUBLIC]


async def test_redirects_are_followed_where_they_may_lead() -> None:
    handler = redirects("/dog", "https://b.example/?a=1", "//a.example/x")
    async with asking(handler) as (client, network, server):
        assert (await client.get(URL, TYPES)).body == b"png"
    assert [one.headers["host"] for one in server.asked] == [
        "a.example",
        "a.example",
        "b.example",
        "a.example",
    ]
    assert len(network.connected) == 4  # a connection for each, to what was just checked


HOPS = [
    pytest.param("//169.254.169.254/", "is not an address on the public", id="without a scheme"),
    pytest.param("file:///etc/passwd", "expected a URL of http", id="another scheme"),
    pytest.param("http://b.example/", "has no TLS", id="without TLS"),
    pytest.param("https://home.example/", "leads to 127", id="a name that leads home"),
    pytest.param("https://user:p@b.example/", "without a user", id="a user"),
    pytest.param("https://c.example/", "does not allow https://c.example", id="not allowed"),
    pytest.param("/" + "x" * 3000, "at most 2048", id="an endless one"),
    pytest.param("http://[x", "redirects to an invalid URL", id="half a bracket"),
]


@each("insecure", [False, True])
@pytest.mark.parametrize(("target", "why"), HOPS)
async def test_a_redirect_is_judged_as_any_other_url(target: str, why: str, insecure: bool) -> None:
    def allow(address: ServerAddress) -> bool:
        return address.host != "c.example"

    handler = redirects(target)
    async with asking(handler, allow=allow, insecure=insecure) as (client, network, _):
        with pytest.raises(NotFetchedError, match=why):
            await client.get(URL, TYPES)
    assert len(network.connected) == 1


async def test_redirects_come_to_an_end() -> None:
    async with asking(redirects(*["/again"] * 99)) as (client, network, _):
        with pytest.raises(NotFetchedError, match="more than 5 redirects"):
            await client.get(URL, TYPES)
    assert len(network.connected) == 6


async def test_plain_http_is_asked_only_where_the_user_says_so() -> None:
    async with asking(page()) as (client, network, _):
        with pytest.raises(NotFetchedError, match=r"http://a\.example has no TLS"):
            await client.get("http://a.example/", TYPES)
        assert network.resolved == []
    async with asking(page(), insecure=True) as (client, network, _):
        await client.get("http://a.example:8080/", TYPES)
        assert network.connected == [(PUBLIC, 8080, None)]


def raw(data: bytes) -> Handler:
    async def handle(asked: Asked, line: Line) -> None:
        await line.raw(data)
        await line.close()

    return handle


def coded(data: bytes, coding: str) -> Handler:
    async def handle(asked: Asked, line: Line) -> None:
        await line.status(200, data, content_type="image/png", content_encoding=coding)

    return handle


BAD = [
    pytest.param(page(status=404), "HTTP status 404", id="not there"),
    pytest.param(page(status=206), "HTTP status 206", id="a part"),
    pytest.param(page(status=304), "HTTP status 304", id="no redirect"),
    pytest.param(page(content_type="text/html"), "of the type 'text/html'", id="another type"),
    pytest.param(page(b"x" * 1001), "more than 1000 bytes", id="too large"),
    pytest.param(raw(b"SSH-2.0-x\r\n\r\n"), "does not speak HTTP/1.1", id="another protocol"),
    pytest.param(raw(b""), "broke off", id="nothing"),
    pytest.param(raw(b"HTTP/1.1 200 OK\r\nContent-"), "broke off", id="half a head"),
    pytest.param(
        raw(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 9\r\n\r\npng"),
        "broke off",
        id="half a body",
    ),
    pytest.param(coded(b"plain", "gzip"), "unreadable: its coded body is damaged", id="damaged"),
    pytest.param(coded(b"x", "br"), "unreadable: the coding 'br' of its body", id="unknown"),
    pytest.param(coded(gzip.compress(bytes(10**6)), "gzip"), "more than 1000 bytes", id="a bomb"),
    pytest.param(
        raw(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n" + b"x" * 5000),
        "more than 1000 bytes",
        id="too large without a length",
    ),
]


@pytest.mark.parametrize(("handler", "why"), BAD)
async def test_what_cannot_be_used_is_refused(handler: Handler, why: str) -> None:
    async with asking(handler) as (client, _, _server):
        with pytest.raises(NotFetchedError, match=why):
            await client.get(URL, TYPES)


async def test_a_coded_answer_is_read() -> None:
    async with asking(coded(gzip.compress(b"png"), "gzip")) as (client, _, server):
        assert (await client.get(URL, TYPES)).body == b"png"
    assert server.asked[0].headers["accept-encoding"] == "identity"
    assert server.asked[0].headers["user-agent"] == USER_AGENT


# Sending.


def hooks(*answers: tuple[int, str]) -> Handler:
    """Return a server that answers with these statuses and locations."""
    left = list(answers)

    async def handle(asked: Asked, line: Line) -> None:
        status, location = left.pop(0)
        await line.status(status, b"thanks", content_type="text/plain", location=location)

    return handle


@pytest.mark.parametrize("status", [200, 202, 299])
async def test_a_body_is_posted(status: int) -> None:
    async with asking(hooks((status, ""))) as (client, network, server):
        found = await client.post(URL, b"{}", "application/json")
    assert found == Fetched("text/plain", b"thanks")
    assert network.connected == [(PUBLIC, 443, "a.example")]
    (asked,) = server.asked
    assert (asked.method, asked.target, asked.body) == ("POST", "/cat", b"{}")
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["user-agent"] == USER_AGENT
    assert not asked.headers.keys() & {"cookie", "authorization", "referer"}


@pytest.mark.parametrize("status", [307, 308])
async def test_a_redirect_keeps_method_and_body_and_is_checked(status: int) -> None:
    handler = hooks((status, "https://b.example/in"), (status, "https://home.example/"))
    async with asking(handler) as (client, _, server):
        with pytest.raises(NotFetchedError, match="leads to 127"):
            await client.post(URL, b"{}", "application/json")
    assert [(one.method, one.headers["host"], one.body) for one in server.asked] == [
        ("POST", "a.example", b"{}"),
        ("POST", "b.example", b"{}"),
    ]


@pytest.mark.parametrize("status", [301, 302, 303, 404, 500])
async def test_a_post_that_is_not_accepted_is_not_sent_elsewhere(status: int) -> None:
    async with asking(hooks((status, "https://b.example/in"))) as (client, network, _):
        with pytest.raises(NotFetchedError, match=f"HTTP status {status}"):
            await client.post(URL, b"{}", "application/json")
    assert len(network.connected) == 1


async def test_a_post_whose_answer_is_lost_is_not_repeated() -> None:
    async with asking(raw(b"")) as (client, network, server):
        with pytest.raises(NotFetchedError, match="broke off"):
            await client.post(URL, b"{}", "application/json")
    assert len(server.asked) == len(network.connected) == 1


async def test_a_body_may_end_with_its_connection() -> None:
    data = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\npng"
    async with asking(raw(data)) as (client, _, _server):
        assert (await client.get(URL, TYPES)).body == b"png"


async def test_the_time_is_for_all_of_it_and_not_for_each_piece() -> None:
    closed = anyio.Event()

    async def drip(asked: Asked, line: Line) -> None:
        await line.raw(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
        try:
            while True:
                await line.raw(b"x")
        finally:
            closed.set()

    async with asking(drip, timeout=0.1, size=10**9) as (client, _, _server):
        with pytest.raises(NotFetchedError, match=r"within 0\.1 seconds"):
            await client.get(URL, TYPES)
        await closed.wait()


async def test_a_fetch_that_is_given_up_is_closed() -> None:
    begun, closed = anyio.Event(), anyio.Event()

    async def never(asked: Asked, line: Line) -> None:
        begun.set()
        await line.until_closed()
        closed.set()

    async with asking(never) as (client, _, _server):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.get, URL, TYPES)
            await begun.wait()
            tasks.cancel_scope.cancel()
        await closed.wait()


async def test_the_network_of_this_machine_asks_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    network = SystemNetwork()
    assert await network.resolve("127.0.0.1", 80) == ["127.0.0.1"]
    async with RawServer.serving(page()) as server:
        stream = await network.connect("127.0.0.1", server.port, None)
        await stream.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert (await stream.receive()).startswith(b"HTTP/1.1 200")
        await stream.aclose()
