"""What a listener refuses before a session hears of it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Awaitable, Callable

import anyio
import pytest

from kinwire import Context
from kinwire.mcp.http.app import HttpApp
from kinwire.rpc.identity import PeerIdentity, is_transient
from kinwire.transports.http.guard import current_principal, principal_address
from kinwire.transports.http.limits import HttpLimits
from tests.runtime.mcp.http.conftest import Tools
from tests.runtime.mcp.http.fake_asgi_client import Client, initialize, message

pytestmark = pytest.mark.anyio

EVIL = "http://evil.example"


async def token_owner(token: str) -> str | None:
    if token == "broken":
        raise RuntimeError("the database has the password hunter2")
    return token.removeprefix("token-of-") if token.startswith("token-of-") else None


@pytest.mark.spec("mcp-streamable-http-transport-8")
@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost:8000", None, 200),
        ("[::1]:8000", None, 200),
        ("LOCALHOST.:8000", None, 200),
        ("localhost:8000", "http://localhost:8000", 200),
        ("evil.example", None, 421),
        ("localhost@evil.example", None, 400),
        (None, None, 400),
        ("", None, 400),
        ("localhost:8000", EVIL, 403),
        ("localhost:8000", "null", 403),
        ("localhost:8000", "http://localhost:9000", 403),
    ],
)
async def test_a_browser_on_a_foreign_page_reaches_nobody(
    tools: Tools, host: str | None, origin: str | None, status: int
) -> None:
    client = Client(tools.server.asgi(), origin=origin)
    client.headers["host"] = host
    answer = await client.post(initialize())
    assert answer.status == status
    assert b"evil" not in answer.body
    assert len(client.app.sessions._open) == (status == 200)
    for method in ("GET", "DELETE") if status != 200 else ():
        assert (await client.request(method)).status == status


@pytest.mark.spec("mcp-streamable-http-transport-10")
@pytest.mark.parametrize(
    ("server", "scheme", "insecure", "status"),
    [
        (("127.0.0.1", 8000), "http", False, 200),
        (("::1", 8000), "http", False, 200),
        (("/run/app.sock", None), "http", False, 200),
        (None, "http", False, 200),
        (("192.168.0.7", 8000), "http", False, 403),
        (("::", 8000), "http", False, 403),
        (("192.168.0.7", 8443), "https", False, 200),
        (("192.168.0.7", 8000), "http", True, 200),
    ],
)
async def test_plain_text_over_a_network_is_answered_only_if_declared(
    tools: Tools, server: object, scheme: str, insecure: bool, status: int
) -> None:
    inner = tools.server.asgi(insecure=insecure)

    async def outer(scope: dict[str, object], receive: object, send: object) -> None:
        await inner({**scope, "server": server, "scheme": scheme}, receive, send)  # type: ignore[arg-type]

    answer = await Client(outer).post(initialize())  # type: ignore[arg-type]
    assert answer.status == status


@pytest.mark.spec("mcp-streamable-http-transport-4")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content_type": "text/plain"}, 415),
        ({"content_type": None}, 415),
        ({"accept": "text/plain"}, 406),
        ({"accept": "*/*;q=0"}, 406),
        ({"x_large": "x" * 20_000}, 431),
        ({"content_length": "5000000"}, 413),
        ({"content_length": "9" * 5000}, 413),
    ],
)
async def test_a_request_has_to_be_one_that_can_be_answered(
    tools: Tools, headers: dict[str, str | None], status: int
) -> None:
    client = await Client(tools.server.asgi()).begin()
    answer = await client.post(message("ping"), **headers)
    assert (answer.status, answer.json["error"]["code"]) == (status, -32600)
    assert (await client.post(message("ping"))).status == 200


@pytest.mark.parametrize("method", ["PUT", "HEAD", "OPTIONS", "PATCH", "get"])
async def test_other_methods_are_not_allowed(tools: Tools, method: str) -> None:
    answer = await Client(tools.server.asgi()).request(method)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, POST, DELETE")


async def test_a_body_without_a_length_is_read_up_to_the_limit(tools: Tools) -> None:
    app = tools.server.asgi()
    read = 0

    async def receive() -> dict[str, object]:
        nonlocal read
        read += 1
        return {"type": "http.request", "body": b" " * 65536, "more_body": True}

    answer = await answered(app, receive)
    assert answer == 413
    assert read == 4 * 2**20 // 65536 + 1


async def test_a_body_that_does_not_arrive_is_not_waited_for(tools: Tools) -> None:
    app = tools.server.asgi(limits=HttpLimits(body_time=0.05))

    async def receive() -> dict[str, object]:
        await anyio.sleep_forever()
        raise AssertionError

    assert await answered(app, receive) == 408
    await Client(app).begin()


async def test_a_body_that_breaks_off_is_nothing(tools: Tools) -> None:
    app = tools.server.asgi()

    async def receive() -> dict[str, object]:
        return {"type": "http.disconnect"}

    assert await answered(app, receive) == 400
    assert len(app.sessions._open) == 0


async def answered(app: HttpApp, receive: Callable[[], Awaitable[dict[str, object]]]) -> int:
    statuses: list[int] = []

    async def send(part: dict[str, object]) -> None:
        if part["type"] == "http.response.start":
            statuses.append(part["status"])  # type: ignore[arg-type]

    with anyio.fail_after(5):
        await app(Client(app).scope("POST", {}), receive, send)  # type: ignore[arg-type]
    return statuses[0]


@pytest.mark.parametrize(
    ("authorization", "status", "challenge"),
    [
        (None, 401, 'Bearer resource_metadata="https://a.example/meta"'),
        ("Basic dXNlcg==", 401, 'Bearer resource_metadata="https://a.example/meta"'),
        ("Bearer", 401, 'Bearer resource_metadata="https://a.example/meta"'),
        (
            "Bearer guess",
            401,
            'Bearer error="invalid_token", resource_metadata="https://a.example/meta"',
        ),
        ("bearer token-of-alice", 200, None),
    ],
)
async def test_who_asks_has_to_say_so(
    tools: Tools, authorization: str | None, status: int, challenge: str | None
) -> None:
    app = tools.server.asgi(authenticate=token_owner, resource_metadata="https://a.example/meta")
    answer = await Client(app, authorization=authorization).post(initialize())
    assert (answer.status, answer.headers.get("www-authenticate")) == (status, challenge)
    assert "guess" not in str(answer.json)


async def test_a_session_belongs_to_who_began_it(tools: Tools) -> None:
    app = tools.server.asgi(authenticate=token_owner)
    client = await Client(app, authorization="Bearer token-of-alice").begin()
    for method, body in [("POST", message("ping")), ("GET", None), ("DELETE", None)]:
        stolen = await client.request(method, body, authorization="Bearer token-of-mallory")
        assert stolen.status == 403
    assert (await client.post(message("ping"))).status == 200


async def test_a_tool_learns_who_asks(tools: Tools) -> None:
    @tools.server.tool
    async def who() -> str:
        return str(current_principal())

    app = tools.server.asgi(authenticate=token_owner)
    client = await Client(app, authorization="Bearer token-of-alice").begin()
    answer = await client.post(message("tools/call", name="who", arguments={}))
    assert answer.json["result"]["content"][0]["text"] == "alice"


async def test_who_asks_is_the_identity_of_the_client(tools: Tools) -> None:
    @tools.server.tool
    async def key(context: Context) -> str:
        return context.session.identity.key

    keys: list[str] = []
    for app in (tools.server.asgi(), tools.server.asgi(authenticate=token_owner)):
        for _session in range(2):
            client = await Client(app, authorization="Bearer token-of-alice").begin()
            answer = await client.post(message("tools/call", name="key", arguments={}))
            keys.append(answer.json["result"]["content"][0]["text"])
    alice = PeerIdentity.of(principal_address("alice")).key
    assert keys[2:] == [alice, alice]
    assert all(is_transient(one) for one in keys[:2])
    assert len(set(keys)) == 3


OWNERS = {"token-of-alice": "alice"}


def owner_in_a_thread(token: str) -> str | None:
    assert threading.current_thread() is not threading.main_thread()
    return OWNERS.get(token)


@pytest.mark.parametrize(
    "authenticate", [OWNERS.get, owner_in_a_thread, lambda token: token_owner(token)]
)
async def test_a_plain_function_may_say_who_asks(
    tools: Tools, authenticate: Callable[[str], object]
) -> None:
    @tools.server.tool
    async def who() -> str:
        return str(current_principal())

    app = tools.server.asgi(authenticate=authenticate)
    refused = await Client(app, authorization="Bearer guess").post(initialize())
    assert refused.status == 401
    client = await Client(app, authorization="Bearer token-of-alice").begin()
    answer = await client.post(message("tools/call", name="who", arguments={}))
    assert answer.json["result"]["content"][0]["text"] == "alice"


async def test_a_plain_function_that_fails_refuses_and_reveals_nothing(tools: Tools) -> None:
    app = tools.server.asgi(authenticate=lambda token: OWNERS[token])
    answer = await Client(app, authorization="Bearer hunter2").post(initialize())
    assert (answer.status, answer.json["error"]["code"]) == (500, -32603)
    assert b"hunter2" not in answer.body


async def test_a_failing_check_refuses_all_and_reveals_nothing(
    tools: Tools, caplog: pytest.LogCaptureFixture
) -> None:
    app = tools.server.asgi(authenticate=token_owner)
    answer = await Client(app, authorization="Bearer broken").post(initialize())
    assert (answer.status, answer.json["error"]["code"]) == (500, -32603)
    assert b"hunter2" not in answer.body
    assert len(app.sessions._open) == 0


async def test_neither_tokens_nor_sessions_are_logged(
    tools: Tools, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "kinwire")
    app = tools.server.asgi(authenticate=token_owner)
    client = await Client(app, authorization="Bearer token-of-alice").begin()
    await client.post(b"{")
    await client.post(message("no/such"))
    await client.request("DELETE")
    await client.post(message("ping"), authorization="Bearer secret")
    logged = caplog.text
    assert "token-of-alice" not in logged
    assert "secret" not in logged
    assert str(client.session) not in logged
