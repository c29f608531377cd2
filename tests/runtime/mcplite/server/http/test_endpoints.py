"""Which paths, HTTP methods and types the HTTP binding of MCP-lite takes."""

from __future__ import annotations

import asyncio
import json
import weakref
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from kinwire.transports.http.limits import HttpLimits
from tests.each import each
from tests.runtime.mcplite.server.http.fixtures_lite import (
    DONE,
    TOOL,
    Service,
    app_of,
    call_of,
    caller_at,
)

pytestmark = pytest.mark.anyio

LIST, CALL = ("listtools", "tools"), ("calltools", "calltoolsEndpoint", "rpc")
LISTED = {"tools": [TOOL]}
LISTING = {"jsonrpc": "2.0", "id": "l", "method": "tools/list"}


@pytest.mark.spec("mcp-lite-4.1-5", "mcp-lite-4.2-1", "mcp-lite-A.1-1")
@each("base", ["/mcp-lite/v1/", "/", "/mcp-lite/v1//"])
async def test_every_path_of_the_text_is_served_with_and_without_the_base(base: str) -> None:
    app = app_of(Service())
    for name in (*LIST, *(f"{one}/" for one in LIST)):
        listed = await caller_at(app, base.replace("//", "/") + name).post({})
        assert (listed.status, listed.json) == (200, LISTED)
    for name in CALL:
        there = caller_at(app, base.replace("//", "/") + name)
        called, listed = await there.post(call_of("echo")), await there.post(LISTING)
        assert called.json == {"jsonrpc": "2.0", "id": 1, "result": DONE}
        assert listed.json == {"jsonrpc": "2.0", "id": "l", "result": LISTED}
        assert called.headers["content-type"] == "application/json"


async def test_a_body_with_an_envelope_is_answered_with_one_at_every_path() -> None:
    there = caller_at(app_of(Service()), "/tools")
    assert (await there.post(LISTING)).json["result"] == LISTED
    assert (await there.post(call_of("echo"))).json["result"] == DONE


@pytest.mark.parametrize(
    ("mounted", "base", "path", "status"),
    [
        ("/x", "/mcp-lite/v1/", "/x/mcp-lite/v1/rpc", 200),
        ("/x", "/mcp-lite/v1/", "/x/rpc", 200),
        ("/x", "/mcp-lite/v1/", "/x/prompts", 404),
        ("/x", "/", "/x/rpc", 200),
        ("", "/api", "/api/rpc", 200),
        ("", "/api", "/rpc", 200),
        ("", "/api", "/mcp-lite/v1/rpc", 404),
        ("", "/api", "/api", 404),
        ("", "/mcp-lite/v1/", "/mcp-lite/v1/prompts", 404),
        ("", "/mcp-lite/v1/", "/mcp-lite/v1", 404),
        ("", "/mcp-lite/v1/", "/", 404),
        ("", "/mcp-lite/v1/", "/mcp-lite/v1/RPC", 404),
        ("", "/mcp-lite/v1/", "/mcp-lite/v1/rpc/x", 404),
    ],
)
@pytest.mark.spec("mcp-lite-8.1-1")
async def test_other_paths_are_not_found(mounted: str, base: str, path: str, status: int) -> None:
    app: Any = app_of(Service(), base=base)
    outer: Any = Starlette(routes=[Mount(mounted, app)]) if mounted else app
    answer = await caller_at(outer, path).post(call_of("echo"))
    assert answer.status == status


async def test_a_health_check_needs_no_token_and_no_endpoint() -> None:
    app = app_of(Service(), health="/healthz", authenticate=lambda token: None)
    answer = await caller_at(app, "/healthz", host="evil.example").request("GET")
    assert (answer.status, answer.json) == (200, {"status": "ok"})
    assert (await caller_at(app, "/healthz").post({})).status == 405
    with pytest.raises(ValueError, match="health: expected another path"):
        app_of(Service(), health="/rpc/")


@pytest.mark.spec("mcp-lite-4.1-2", "mcp-lite-4.3-2")
async def test_post_is_the_only_method() -> None:
    service = Service()
    for path in ("/mcp-lite/v1/listtools", "/rpc"):
        client = caller_at(app_of(service), path, accept="text/event-stream")
        for method in ("GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "post"):
            answer = await client.request(method)
            assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert service.seen == []


@pytest.mark.spec("mcp-lite-4.1-3", "mcp-lite-4.1-4")
@each(
    ("headers", "status"),
    [
        ({}, 200),
        ({"content_type": "Application/JSON; charset=UTF-8"}, 200),
        ({"content_encoding": "identity"}, 200),
        ({"accept": None}, 200),
        ({"accept": "*/*"}, 200),
        ({"accept": "text/html"}, 200),
        ({"content_type": None}, 415),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": "application/json; charset=utf-16"}, 415),
        ({"content_encoding": "gzip"}, 415),
        ({"content_length": "5000000"}, 413),
        ({"x_large": "x" * 20_000}, 431),
        ({"host": "evil.example"}, 421),
        ({"host": None}, 400),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://localhost:8000"}, 200),
    ],
)
async def test_a_head_is_judged_before_any_tool(headers: dict[str, Any], status: int) -> None:
    service = Service()
    answer = await caller_at(app_of(service), **headers).post(call_of("echo"))
    assert answer.status == status
    assert answer.json.get("error", {}).get("code") == (None if status == 200 else -32600)
    assert len(service.seen) == (status == 200)


async def token_owner(token: str) -> object:
    return {"alice": {"user": 7}}.get(token)


async def test_a_tool_hears_who_calls_and_others_are_refused() -> None:
    service = Service()
    app = app_of(service, authenticate=token_owner)
    for authorization in (None, "Basic YQ==", "Bearer mallory"):
        refused = await caller_at(app, authorization=authorization).post(call_of("echo"))
        assert refused.status == 401
        assert refused.headers["www-authenticate"].startswith("Bearer")
    assert service.seen == []
    assert (await caller_at(app, authorization="Bearer alice").post(call_of("echo"))).status == 200
    assert service.seen[0][1].principal == {"user": 7}
    await caller_at(app_of(service)).post(call_of("echo"))
    assert service.seen[1][1].principal is None


async def test_a_body_without_a_length_is_read_up_to_the_limit() -> None:
    client = caller_at(app_of(Service(), frame_size=200))
    exact = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'.ljust(200)
    assert (await client.post(exact)).status == 200
    assert (await client.post(exact + b" ")).status == 413


async def test_calls_beyond_the_limit_are_asked_to_come_back() -> None:
    service = Service()
    app = app_of(service, limits=HttpLimits(sessions=1))
    async with caller_at(app).sent("POST", call_of("wait")) as first:
        await service.waits.wait()
        refused = await caller_at(app).post(call_of("echo"))
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        service.go_on.set()
        await first.until("ended")
    assert (await caller_at(app).post(call_of("echo"))).status == 200


def test_a_call_that_is_over_keeps_nothing_of_its_request() -> None:
    app = app_of(Service())
    body = json.dumps(call_of("echo")).encode()
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope: Any = {"type": "http", "method": "POST", "path": "/calltools", "headers": headers}
    sent: list[Any] = []

    async def called() -> weakref.ref[Any]:
        async def receive() -> Any:
            return {"type": "http.request", "body": body}

        async def send(part: Any) -> None:
            sent.append(part)

        await app(scope, receive, send)
        return weakref.ref(receive)

    async def kept_in_this_turn_of_the_loop() -> Any:
        return (await called())()

    assert asyncio.run(kept_in_this_turn_of_the_loop()) is None
    assert sent[0]["status"] == 200
