"""Webhooks: what is posted, where to, and which failures may pass."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import pytest

from kinwire.mcpe import HandlerFailedError, RetryHandlerError, WebhookHandlers
from kinwire_protocols.mcpe.models import WebhookEventHandler
from tests.runtime.mcp.http_client.fake_server import Asked, Handler, Line, RawServer
from tests.runtime.mcpe.server.handlers.fixtures_work import DELIVERY, EVENT, Json, work_for
from tests.runtime.transports.guarded_fetch.fake_network import PUBLIC, TestNetwork, page

pytestmark = pytest.mark.anyio

URL = "https://hooks.example/events?key=s3cret"
HANDLER: Json = {"type": "webhook", "url": URL, "headers": {"X-Key": "abc"}, "timeout": 5000}
NAMES = {"hooks.example": [[PUBLIC]], "other.example": [[PUBLIC]], "home.example": [["10.0.0.1"]]}


@asynccontextmanager
async def hooks(
    handler: Handler | None = None, **options: Any
) -> AsyncGenerator[tuple[WebhookHandlers, RawServer, TestNetwork]]:
    async with RawServer.serving(handler or page(b"ok", "text/plain")) as server:
        network = TestNetwork(server.port, NAMES)
        yield WebhookHandlers(network=network, **options), server, network


async def post(webhooks: WebhookHandlers, given: Json, *events: Json, attempt: int = 1) -> None:
    work = work_for(given, *events, attempt=attempt)
    assert isinstance(work.handler, WebhookEventHandler)
    await webhooks.work(work, work.handler)


@pytest.mark.spec("mcpe-9.2-1", "mcpe-9.2-2")
async def test_the_event_is_posted_signed_and_named() -> None:
    async with hooks(secret="whsec") as (webhooks, server, network):
        await post(webhooks, HANDLER, attempt=3)
        await post(webhooks, {**HANDLER, "headers": {}}, EVENT, {**EVENT, "type": "github.x"})
    one, several = server.asked
    assert network.connected[0] == (PUBLIC, 443, "hooks.example")
    assert (one.method, one.target) == ("POST", "/events?key=s3cret")
    assert one.headers["x-key"] == "abc"
    assert one.headers["content-type"] == "application/json"
    assert (one.headers["idempotency-key"], one.headers["x-mcpe-attempt"]) == (DELIVERY, "3")
    digest = hmac.new(b"whsec", one.body, hashlib.sha256).hexdigest()
    assert one.headers["x-hub-signature-256"] == f"sha256={digest}"
    meta = {"_meta": {"mcpe/deliveryId": DELIVERY}}
    assert json.loads(one.body) == {"subscriptionId": "sub-1", "event": EVENT, **meta}
    assert [event["type"] for event in json.loads(several.body)["events"]] == [
        "github.push",
        "github.x",
    ]


def test_an_empty_secret_is_refused_since_nothing_would_be_signed_by_it() -> None:
    with pytest.raises(ValueError, match="secret: expected a string that is not empty"):
        WebhookHandlers(secret="")


async def test_without_a_secret_nothing_is_signed() -> None:
    async with hooks() as (webhooks, server, _):
        await post(webhooks, HANDLER)
    assert "x-hub-signature-256" not in server.asked[0].headers


@pytest.mark.parametrize(
    ("status", "failure"),
    [(500, RetryHandlerError), (429, RetryHandlerError), (400, None), (404, None), (302, None)],
)
async def test_which_answers_may_be_others_later(status: int, failure: Any) -> None:
    async def handle(asked: Asked, line: Line) -> None:
        await line.status(status, location="https://other.example/")

    async with hooks(handle) as (webhooks, server, _):
        with pytest.raises(HandlerFailedError, match=f"HTTP status {status}") as failed:
            await post(webhooks, HANDLER)
    assert isinstance(failed.value, RetryHandlerError) is (failure is not None)
    assert len(server.asked) == 1  # a redirect would have got the headers
    assert "s3cret" not in str(failed.value)


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ({"content-length": str(10**10)}, b"x" * 200_000),
        ({"content-length": "500"}, b"cut"),
        ({"content-length": "5", "content-encoding": "gzip"}, b"\xff\x00\xfe\x01\x02"),
    ],
)
async def test_what_is_accepted_is_done_whatever_the_body_is(
    fields: dict[str, str], body: bytes
) -> None:
    """A body that is huge, cut short or damaged would else have the events posted again."""

    async def handle(asked: Asked, line: Line) -> None:
        head = ["HTTP/1.1 200 OK", *(f"{name}: {value}" for name, value in fields.items())]
        with suppress(anyio.BrokenResourceError):  # what is not read has nowhere to go
            await line.raw("\r\n".join([*head, "", ""]).encode() + body)

    async with hooks(handle) as (webhooks, server, _):
        await post(webhooks, HANDLER)
    assert len(server.asked) == 1


@pytest.mark.spec("mcpe-9.2-3")
async def test_silence_is_given_up_and_may_pass() -> None:
    async def handle(asked: Asked, line: Line) -> None:
        await anyio.sleep_forever()

    async with hooks(handle) as (webhooks, *_):
        with pytest.raises(RetryHandlerError, match=r"no answer within 0\.02 seconds"):
            await post(webhooks, {**HANDLER, "timeout": 20})
    async with hooks(handle, timeout=0.02) as (webhooks, *_):
        with pytest.raises(RetryHandlerError, match=r"no answer within 0\.02 seconds"):
            await post(webhooks, {**HANDLER, "timeout": 60_000})


async def test_a_name_that_leads_home_is_not_posted_to() -> None:
    async with hooks() as (webhooks, server, _):
        with pytest.raises(RetryHandlerError, match="which is not public"):
            await post(webhooks, {**HANDLER, "url": "https://home.example/"})
    assert server.asked == []


async def test_a_private_host_that_is_allowed_is_posted_to() -> None:
    async with RawServer.serving(page(b"", "text/plain")) as server:
        place = f"127.0.0.1:{server.port}"
        webhooks = WebhookHandlers(private_hosts=[place], insecure=True)
        given = {**HANDLER, "url": f"http://{place}/x"}
        assert places(webhooks, given) == []
        await post(webhooks, given)
        other = {**HANDLER, "url": f"http://127.0.0.1:{server.port + 1}/x"}
        assert places(webhooks, other) == ["/handler/url"]
    assert [one.target for one in server.asked] == ["/x"]


def places(webhooks: WebhookHandlers, given: Json) -> list[str]:
    handler = work_for(given).handler
    assert isinstance(handler, WebhookEventHandler)
    return [one.pointer for one in webhooks.problems(handler, "/handler")]


@pytest.mark.spec("mcpe-11.4-3")
async def test_what_is_refused_at_the_subscription() -> None:
    usual, few = WebhookHandlers(), WebhookHandlers(hosts=["Hooks.example"])
    table: list[tuple[Json, list[str]]] = [
        ({}, []),
        ({"url": "http://hooks.example/"}, ["url"]),
        ({"url": "ftp://hooks.example/"}, ["url"]),
        ({"url": "https://127.0.0.1/"}, ["url"]),
        ({"url": "https://localhost/"}, ["url"]),
        ({"url": "https://user:password@hooks.example/"}, ["url"]),
        ({"url": "https://hooks.example:22/"}, ["url"]),
        ({"timeout": 0}, ["timeout"]),
        ({"headers": {"X-A": "b\r\nX-C: d"}}, ["headers/X-A"]),
        ({"headers": {"A B": "c"}}, ["headers/A B"]),
        ({"headers": {"Host": "x"}}, ["headers/Host"]),
        ({"headers": {"x-hub-signature-256": "sha256=0"}}, ["headers/x-hub-signature-256"]),
        ({"headers": {"Idempotency-Key": "1"}}, ["headers/Idempotency-Key"]),
        ({"headers": {f"X-{number}": "" for number in range(21)}}, ["headers"]),
        ({"headers": {"X-A": "b" * 9000}}, ["headers"]),
    ]
    for change, expected in table:
        found = places(usual, {**HANDLER, **change})
        assert found == [f"/handler/{one}" for one in expected], change
    assert places(few, HANDLER) == []
    assert places(few, {**HANDLER, "url": "https://other.example/"}) == ["/handler/url"]
    assert places(WebhookHandlers(insecure=True), {**HANDLER, "url": "http://hooks.example/"}) == []


async def test_b088_private_addresses_are_found_in_every_notation() -> None:
    """They are refused at the subscription, and a name without an address when it is looked up."""
    async with RawServer.serving(page(b"ok", "text/plain")) as server:
        network = TestNetwork(server.port, {"silent.example": [[]], "8.8.8.8": [["8.8.8.8"]]})
        webhooks = WebhookHandlers(network=network)
        for host in (
            *("[::ffff:7f00:1]", "[::ffff:169.254.169.254]", "2130706433", "0x7f.1", "127.1"),
            *("unknown.example", "silent.example"),
        ):
            given = {**HANDLER, "url": f"https://{host}/"}
            is_name = host.endswith("example")
            assert places(webhooks, given) == ([] if is_name else ["/handler/url"]), host
            with pytest.raises(HandlerFailedError):
                await post(webhooks, given)
        assert network.connected == []
        await post(webhooks, {**HANDLER, "url": "https://8.8.8.8/"})
    assert [place for place, *_ in network.connected] == ["8.8.8.8"]


async def test_a_host_that_is_not_allowed_is_not_posted_to_later_either() -> None:
    async with hooks(hosts=["other.example"]) as (webhooks, server, _):
        with pytest.raises(HandlerFailedError):
            await post(webhooks, HANDLER)
    assert server.asked == []
