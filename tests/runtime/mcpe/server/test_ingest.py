"""The endpoint for webhooks of other systems: what is published, and what is refused."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from kinwire import Server
from kinwire.mcpe import (
    EventIngest,
    EventRates,
    McpeServer,
    github_event,
    new_event,
    signature_of,
)
from kinwire.storage import open_store
from kinwire.support.background import background
from kinwire_protocols.base import to_wire
from tests.runtime.mcpe.raw_client import Json, RawClient

pytestmark = pytest.mark.anyio

SECRET = "It's a Secret to Everybody"
PUSH: Json = {"ref": "refs/heads/main", "repository": {"full_name": "owner/repo"}}


def signed(body: bytes, secret: str = SECRET) -> str:
    """Sign a body as GitHub does."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


class Poster:
    """Posts to the endpoint, as an HTTP server would."""

    def __init__(self, app: Callable[[Any, Any, Any], Awaitable[None]]) -> None:
        self.app = app

    async def post(
        self,
        body: bytes | Json,
        headers: Json | None = None,
        *,
        method: str = "POST",
        path: str = "/events",
        mount: str = "",
        signature: str | None = "",
    ) -> tuple[int, Any]:
        """Return the status and the body of the response; `signature` None leaves it out."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"content-type": "application/json", **(headers or {})}
        if signature is not None:
            given["x-hub-signature-256"] = signature or signed(data)
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "root_path": mount,
            "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        }
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": data, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        text = sent[1]["body"]
        return sent[0]["status"], json.loads(text) if text else None


@asynccontextmanager
async def there(
    *types: str, events: McpeServer | None = None, **options: Any
) -> AsyncGenerator[tuple[Poster, RawClient]]:
    """Serve a client that has subscribed to types."""
    events, raw = events or McpeServer(), RawClient()
    async with background() as tasks:
        tasks.start_soon(Server("s", "1", extensions=[events]).serve, raw)
        await raw.greet()
        await raw.subscribe(*types)
        yield Poster(EventIngest(events, **{"secret": SECRET, **options})), raw
        tasks.cancel_scope.cancel()


async def test_a_signature_is_that_of_github() -> None:
    """The example of GitHub's documentation."""
    body, digest = (
        b"Hello, World!",
        "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    )
    assert signature_of(body, SECRET) == signed(body) == f"sha256={digest}"


async def test_what_github_posts_is_published_once() -> None:
    async with there("github.*", read=github_event) as (github, raw):
        push = {"x-github-event": "push", "x-github-delivery": "d-1"}
        status, said = await github.post(PUSH, push)
        assert (status, said["subscriptions"], said["duplicate"]) == (202, 1, False)
        status, said = await github.post(PUSH, push)
        assert (status, said["duplicate"]) == (202, True)
        opened = {"x-github-event": "pull_request", "x-github-delivery": "d-2"}
        assert (await github.post({"action": "opened", "number": 7}, opened))[0] == 202
        assert await github.post({"zen": "x"}, {"x-github-event": "ping"}) == (204, None)
        empty = {"x-github-event": "star", "x-github-delivery": ""}
        assert (await github.post({}, empty))[0] == 202
        assert await github.post({}, {"x-github-event": "Not a name"}) == (204, None)
        await raw.settle()
    first, second, _ = (one["event"] for one in raw.of("events/event"))
    assert (first["type"], first["data"]) == ("github.push", PUSH)
    assert first["metadata"]["tags"] == ["main", "owner/repo"]
    assert first["metadata"]["sourceEventId"] == "d-1"
    assert second["type"] == "github.pull_request.opened"


async def test_events_as_mcpe_has_them_are_published() -> None:
    async with there("a.*") as (other, raw):
        event = to_wire(new_event("a.b", {"x": 1}))
        assert (await other.post(event))[0] == 202
        await raw.settle()
        status, said = await other.post({**event, "type": "a..b", "id": "1"})
        assert (status, [one["pointer"] for one in said["problems"]]) == (422, ["/id", "/type"])
        status, said = await other.post({"type": "a.b"})
        assert (status, [one["pointer"] for one in said["problems"]][:1]) == (422, ["/id"])
    assert [one["event"] for one in raw.of("events/event")] == [event]


async def test_without_a_valid_signature_nothing_is_read() -> None:
    def never(headers: Any, payload: Any) -> None:
        raise AssertionError

    async with there("*", read=never) as (other, _):
        body = json.dumps(PUSH).encode()
        wrong = [None, "sha256=", "sha256=" + "0" * 64, signed(body, "other"), signed(body + b" ")]
        for signature in (*wrong, signed(body).upper(), signed(body)[7:], "sha1=x", "\xe9"):
            status, answer = await other.post(body, signature=signature)
            why = "is missing" if signature is None else "does not fit"
            assert (status, why in answer["error"]) == (401, True), signature
    async with there("*", secret=["new", "old"]) as (other, _):
        body = json.dumps(to_wire(new_event("a.b"))).encode()
        for secret in ("new", "old"):
            assert (await other.post(body, signature=signed(body, secret)))[0] == 202


async def test_what_is_refused_and_how() -> None:
    def reads(headers: Any, payload: Json) -> Any:
        if "wrong" in payload:
            raise ValueError("no")
        return new_event(payload.get("type", "a.b"), payload)

    async with there("*", read=reads, size=100) as (other, _):
        assert (await other.post({}, method="GET"))[0] == 405
        assert (await other.post({}, path="/else"))[0] == 404
        assert (await other.post({}, path="/events/"))[0] == 202
        for body in (b"", b"{", b"[]", b"1", b'{"a": NaN}', b"[" * 90):
            assert await other.post(body) == (400, {"error": "expected a JSON object"}), body
        code, said = await other.post({"x": "x" * 100})
        assert (code, said["error"].startswith("the body has more than ")) == (413, True)
        assert (await other.post({"wrong": 1})) == (422, {"error": "not a valid event"})
        assert (await other.post({"type": "*"}))[0] == 422


async def test_what_should_come_again_later() -> None:
    limited = McpeServer(rates=EventRates(publications=1.0))
    async with there("*", events=limited) as (other, _):
        assert [(await other.post(to_wire(new_event("a.b"))))[0] for _ in range(2)] == [202, 429]
    async with open_store("memory:") as store:
        records = await store.records("mcpe")
        closed = McpeServer(records=records)
        await closed.publish(new_event("a.b", source_event_id="1"))
    poster = Poster(EventIngest(closed, secret=SECRET))
    event = to_wire(new_event("a.b", source_event_id="2"))
    assert await poster.post(event) == (503, {"error": "not now"})


async def test_other_requests_go_to_the_application_behind_it() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 418, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    async with there("*", app=app) as (other, _):
        assert await other.post({}, path="/mcp") == (418, None)
        assert (await other.post(to_wire(new_event("a.b"))))[0] == 202
        for kind in ("lifespan", "websocket"):
            await other.app({"type": kind, "path": "/events"}, None, None)
    assert seen == ["http", "lifespan", "websocket"]


async def test_it_lives_alone_under_a_server() -> None:
    sent: list[str] = []

    async def receive() -> Any:
        return {}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    alone = EventIngest(McpeServer(), secret=SECRET)
    await alone({"type": "lifespan"}, receive, send)
    await alone({"type": "websocket", "path": "/events"}, receive, send)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete", "websocket.close"]


async def test_a_secret_must_be_there() -> None:
    for secret in ("", [], ["a", ""]):
        with pytest.raises(ValueError, match="secret: expected strings that are not empty"):
            EventIngest(McpeServer(), secret=secret)


async def test_the_path_is_below_the_point_where_it_is_mounted() -> None:
    event = to_wire(new_event("a.b"))
    async with there("*") as (poster, _):
        for path, mount, status in (
            ("/hooks/events", "/hooks", 202),
            ("/hooks/events", "/hooks/", 202),
            ("/events", "/hooks", 202),  # as some servers write it
            ("/hooks/events", "", 404),
            ("/hooksevents", "/hooks", 404),
            ("/hooks", "/hooks", 404),
        ):
            assert (await poster.post(event, path=path, mount=mount))[0] == status, path
        at_mount = Poster(EventIngest(McpeServer(), secret=SECRET, path="/"))
        for path in ("/hooks", "/hooks/"):
            assert (await at_mount.post(event, path=path, mount="/hooks"))[0] == 202


async def test_starlette_mounts_it_next_to_a_server() -> None:
    from starlette.applications import Starlette
    from starlette.routing import Mount

    async with there("*") as (poster, _):
        routes = [Mount("/mcp", Server("s", "1").asgi()), Mount("/hooks", poster.app)]
        site = Poster(Starlette(routes=routes))
        assert (await site.post(to_wire(new_event("a.b")), path="/hooks/events"))[0] == 202
