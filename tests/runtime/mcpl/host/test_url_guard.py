"""What servers inject by an address of the web: fetched where the host allows it, else dropped."""

from __future__ import annotations

import base64
import logging
from typing import Any

import pytest

from kinwire.mcpl import Hooks, InjectionLimits, UrlGuard
from kinwire.storage import open_store
from kinwire.transports.guarded_fetch.rules import NotFetchedError
from kinwire_protocols import mcp, mcpl
from tests.each import each
from tests.runtime.mcp.http_client.fake_server import Handler, RawServer
from tests.runtime.mcpl.fixtures_hooks import Speaker, before, hooked
from tests.runtime.transports.guarded_fetch.fake_network import PUBLIC, TestNetwork, page

pytestmark = [pytest.mark.anyio, pytest.mark.spec("mcpl-10.3-3")]

NAMES = {
    "cdn.example": [[PUBLIC]],
    "a.cdn.example": [[PUBLIC]],
    "xn--b-eha.example": [[PUBLIC]],
    "home.example": [["10.0.0.1"]],
    PUBLIC: [[PUBLIC]],
}
CAT = "https://cdn.example/cat?key=s3cret"


async def fetched(allow: Any, url: str, handler: Handler | None = None, **options: Any) -> Any:
    async with RawServer.serving(handler or page()) as server:
        network = TestNetwork(server.port, NAMES)
        return await UrlGuard(allow, network=network, **options)(url)


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


GIVEN = [
    pytest.param("image/png", mcpl.ImageBlock(data=encoded(b"x"), mime_type="image/png"), id="png"),
    pytest.param("audio/wav", mcpl.AudioBlock(data=encoded(b"x"), mime_type="audio/wav"), id="wav"),
    pytest.param("text/plain; charset=utf-8", mcp.TextContent(text="x"), id="text"),
]


@pytest.mark.parametrize(("content_type", "block"), GIVEN)
async def test_a_block_is_what_its_type_says(content_type: str, block: mcpl.Block) -> None:
    assert await fetched(["cdn.example"], CAT, page(b"x", content_type)) == block


@pytest.mark.parametrize("content_type", ["text/html", "image/svg+xml", "application/pdf", ""])
async def test_what_a_model_cannot_take_is_not_fetched(content_type: str) -> None:
    with pytest.raises(NotFetchedError, match="which is not accepted"):
        await fetched(["cdn.example"], CAT, page(b"x", content_type))


ALLOWED = [
    pytest.param(["cdn.example"], CAT, True, id="the name"),
    pytest.param(["CDN.example"], CAT, True, id="in other letters"),
    pytest.param(["cdn.example."], CAT, True, id="with a dot at its end"),
    pytest.param(["b\u00fc.example"], "https://B\u00fc.example/", True, id="in letters of its own"),
    pytest.param(["*.b\u00fc.example"], "https://b\u00fc.example/", False, id="not below those"),
    pytest.param([PUBLIC], f"https://{PUBLIC}/", True, id="an address"),
    pytest.param(["*"], CAT, True, id="every host"),
    pytest.param(["*.example"], CAT, True, id="below a domain of one part"),
    pytest.param(["*.cdn.example"], "https://a.cdn.example/", True, id="below it"),
    pytest.param(["*.cdn.example"], CAT, False, id="not itself"),
    pytest.param(["cdn.example"], "https://a.cdn.example/", False, id="not below it"),
    pytest.param(["dn.example"], CAT, False, id="not what only ends so"),
    pytest.param([], CAT, False, id="nobody"),
    pytest.param(lambda url: url == CAT, CAT, True, id="a function that says yes"),
    pytest.param(lambda url: False, CAT, False, id="a function that says no"),
    pytest.param(["*"], "https://home.example/", False, id="no private network"),
    pytest.param(lambda url: True, "https://127.0.0.1/", False, id="whatever a function says"),
]


@pytest.mark.parametrize(("allow", "url", "allowed"), ALLOWED)
async def test_the_host_says_which_addresses_are_asked(allow: Any, url: str, allowed: bool) -> None:
    if allowed:
        assert (await fetched(allow, url)).type == "image"
    else:
        with pytest.raises(NotFetchedError):
            await fetched(allow, url)


UNUSABLE = [
    "https://cdn.example",
    "cdn.example:80",
    "cdn.example/x",
    "cdn.example?x",
    "*x.example",
    "a.*.example",
    "a..b",
    "localhost",
    "*.local",
    "example",
    "10.0.0.1",
    "*.1.1.1.1",
    "",
    "*.",
]


@each("entry", UNUSABLE)
def test_an_invalid_host_cannot_be_allowed(entry: str) -> None:
    with pytest.raises(ValueError, match="allow: expected"):
        UrlGuard([entry])


def test_one_string_is_not_a_list_of_hosts() -> None:
    with pytest.raises(TypeError, match="allow: expected several strings"):
        UrlGuard("cdn.example")


async def test_an_injection_has_fetched_content_and_failures_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    speaker = Speaker("memory")
    speaker.before = [
        [
            mcp.TextContent(text="Look"),
            mcpl.ImageBlock(uri=CAT),
            mcpl.AudioBlock(uri=CAT),  # it is a picture
            mcpl.ImageBlock(uri="https://home.example/"),
            mcpl.ResourceBlock(uri="http://cdn.example/"),
            mcpl.ImageBlock(uri="HTTPS://elsewhere.example/"),
        ]
    ]
    async with RawServer.serving(page()) as server, open_store("memory:") as store:
        network = TestNetwork(server.port, NAMES)
        log = await store.log("audit")
        guard = UrlGuard(["cdn.example", "home.example"], network=network)
        async with hooked(speaker, hooks=Hooks(fetch=guard), audit=log) as live:
            found = await live.before_inference(before())
        reasons = [one.value.get("reason", "") for one in await log.read()]
    assert [one.type for one in found.system[0].content] == ["text", "image"]
    logged = [one.partition("at system: ")[2] for one in reasons if one.startswith("left out")]
    assert logged == [
        "it has nothing that the host takes",
        "home.example leads to 10.0.0.1, which is not public",
        "http://cdn.example has no TLS, so others could change the answer",
        "the host does not allow https://elsewhere.example",
    ]
    assert "s3cret" not in caplog.text
    assert network.resolved == ["cdn.example", "cdn.example", "home.example"]


async def test_what_the_host_would_not_take_is_not_asked_for() -> None:
    speaker = Speaker("memory")
    speaker.before = [[mcp.TextContent(text="Look"), mcpl.ImageBlock(uri=CAT)]]
    network = TestNetwork(1, NAMES)
    limits = InjectionLimits(types=frozenset({"text"}))
    hooks = Hooks(fetch=UrlGuard(["*"], network=network), limits=limits)
    async with hooked(speaker, hooks=hooks) as live:
        assert len((await live.before_inference(before())).system) == 1
    assert network.resolved == []
