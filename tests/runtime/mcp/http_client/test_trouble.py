"""A host over Streamable HTTP whose server, or network, does not do what it should."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from kinwire import (
    ConnectionClosedError,
    Host,
    InsecureAddressError,
    InvalidResponseError,
    Limits,
    RpcError,
    connect,
    stdio,
)
from tests.each import each
from tests.runtime.mcp.http_client.fake_server import (
    GREETING,
    SESSION,
    Asked,
    Handler,
    Line,
    RawServer,
    polite,
    reply_to,
)

pytestmark = pytest.mark.anyio


def answer(raw: bytes) -> Handler:
    async def handle(asked: Asked, line: Line) -> None:
        await line.raw(raw)
        await line.close()

    return handle


def endless(status: int, kind: str) -> Handler:
    async def handle(asked: Asked, line: Line) -> None:
        head = f"HTTP/1.1 {status} x\r\nContent-Type: {kind}\r\n\r\n"
        await line.raw(head.encode() + b"x" * 10_000)
        await line.until_closed()

    return handle


def response(body: bytes = b"", status: int = 200, kind: str = "application/json") -> Handler:
    async def handle(asked: Asked, line: Line) -> None:
        await line.status(status, body, content_type=kind)

    return handle


BROKEN = [
    (response(b"<html>", 502, "text/html"), InvalidResponseError, "answered HTTP 502."),
    (response(b"<html>", 200, "text/html"), InvalidResponseError, "expected JSON .* 'text/html'"),
    (endless(200, "text/html"), InvalidResponseError, "expected JSON .* 'text/html'"),
    (endless(200, "application/json"), InvalidResponseError, "longer than 2000 bytes"),
    (endless(500, "text/html"), InvalidResponseError, "answered HTTP 500."),
    (response(b""), InvalidResponseError, "the answer is empty"),
    (response(b"{]"), InvalidResponseError, "cannot be read: key must be a string"),
    (response(b"[]"), InvalidResponseError, "one JSON object"),
    (response(b"", 202, "text/plain"), InvalidResponseError, "the reply has no answer in it"),
    (response(b"", 413), InvalidResponseError, "HTTP 413. The message is larger"),
    (response(b"x" * 3000), InvalidResponseError, "longer than 2000 bytes"),
    (
        response(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no\\u001b"}}', 400),
        InvalidResponseError,
        r"HTTP 400: no $",
    ),
    (answer(b"HTTP/1.1 200 OK\r\n"), ConnectionClosedError, "closed the connection before it"),
    (answer(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 90_000), ConnectionClosedError, "headers of more"),
    (answer(b"220 ESMTP\r\n\r\n"), ConnectionClosedError, "does not begin as HTTP/1.1 does"),
    (
        answer(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\n"),
        InvalidResponseError,
        "the reply ended without the answer",
    ),
    (
        answer(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: "
            + b"x" * 3000
            + b"\n\n"
        ),
        InvalidResponseError,
        "the reply ended without the answer",
    ),
]


@each(("handler", "error", "why"), BROKEN)
async def test_the_call_fails_immediately_and_the_next_one_works(
    handler: Handler, error: type[Exception], why: str
) -> None:
    server = RawServer.serving(polite(tools_call=handler))
    async with server as raw, Host("h", "1", limits=Limits(frame_size=2000)) as host:
        peer = await host.connect(raw.url)
        with anyio.fail_after(5), pytest.raises(error, match=why):
            await peer.mcp.tools_call(name="x")
        await peer.mcp.ping()


async def test_an_error_response_is_the_calls_whatever_its_status() -> None:
    async def refuse(asked: Asked, line: Line) -> None:
        error = {"code": -32602, "message": "no such tool"}
        body = {"jsonrpc": "2.0", "id": asked.message["id"], "error": error}
        await line.json(body, status=400)

    async with RawServer.serving(polite(tools_call=refuse)) as server, connect(server.url) as peer:
        with pytest.raises(RpcError, match="no such tool"):
            await peer.mcp.tools_call(name="x")


async def test_a_server_that_is_gone_fails_calls_within_a_second() -> None:
    async def die(asked: Asked, line: Line) -> None:
        raw.stop()
        await line.close()

    async with RawServer.serving(polite(tools_call=die)) as raw, connect(raw.url) as peer:
        for _ in range(2):
            with anyio.fail_after(5), pytest.raises(ConnectionClosedError, match="No answer from"):
                await peer.mcp.tools_call(name="x")


@pytest.mark.parametrize("scheme", ["https", "wss"])
async def test_a_server_without_tls_is_reported(scheme: str) -> None:
    async def refuse(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, refuse)
        port = listener.extra(SocketAttribute.local_port)
        with pytest.raises(ConnectionClosedError, match="it does not speak TLS"):
            async with connect(f"{scheme}://127.0.0.1:{port}/mcp"):
                raise AssertionError
        tasks.cancel_scope.cancel()


async def test_a_connection_that_was_closed_while_idle_is_replaced() -> None:
    async def last(asked: Asked, line: Line) -> None:
        await line.json(reply_to(asked))
        await line.close()

    async with RawServer.serving(polite(ping=last)) as server, connect(server.url) as peer:
        for _ in range(3):
            await peer.mcp.ping()
            await anyio.wait_all_tasks_blocked()
        assert len({one.connection for one in server.asked if one.about == "ping"}) == 3


# The session.


async def test_a_forgotten_session_is_begun_again() -> None:
    known = [SESSION]

    async def forgetful(asked: Asked, line: Line) -> None:
        if asked.headers.get("mcp-session-id") != known[0]:
            await line.status(404)
        else:
            await line.json(reply_to(asked))

    async def hello(asked: Asked, line: Line) -> None:
        assert "mcp-session-id" not in asked.headers
        await line.json(reply_to(asked, GREETING), mcp_session_id=known[0])

    async with (
        RawServer.serving(polite(initialize=hello, ping=forgetful)) as server,
        connect(server.url) as peer,
    ):
        await peer.mcp.ping()
        known[0] = "another"
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(peer.mcp.ping)
        posts = [one for one in server.about() if one not in ("GET", "ping")]
        assert posts == ["initialize", "notifications/initialized"] * 2


class Restarted:
    """A server whose streams end with it; after `restart` it knows only a new session."""

    def __init__(self, *greetings: dict[str, Any]) -> None:
        self._greetings = list(greetings)
        self._known = SESSION
        self._stopping = anyio.Event()
        self.listened: list[tuple[str, bool]] = []
        self.again = anyio.Event()
        self.handler = polite(initialize=self._greet, GET=self._listen, ping=self._reply)

    def restart(self) -> None:
        self._known = "another"
        self._stopping.set()

    async def _greet(self, asked: Asked, line: Line) -> None:
        greeting = self._greetings.pop(0)
        await line.json(reply_to(asked, greeting), mcp_session_id=self._known)

    async def _reply(self, asked: Asked, line: Line) -> None:
        if asked.headers.get("mcp-session-id") == self._known:
            await line.json(reply_to(asked))
        else:
            await line.status(404)

    async def _listen(self, asked: Asked, line: Line) -> None:
        session = asked.headers["mcp-session-id"]
        self.listened.append((session, "last-event-id" in asked.headers))
        if session != self._known:
            await line.status(404)
            return
        await line.stream()
        await line.raw(b"retry: 10\nid: 7\n\n")
        if session == SESSION:
            await self._stopping.wait()
            await line.close()
        else:
            self.again.set()
            await line.until_closed()


async def test_a_client_that_only_listens_begins_a_forgotten_session_again() -> None:
    restarted = Restarted(GREETING, GREETING)
    async with RawServer.serving(restarted.handler) as server, connect(server.url) as peer:
        restarted.restart()
        with anyio.fail_after(5):
            await restarted.again.wait()
        await peer.mcp.ping()
        posts = [one for one in server.about() if one not in ("GET", "ping")]
        assert posts == ["initialize", "notifications/initialized"] * 2
    assert restarted.listened == [(SESSION, False), (SESSION, True), ("another", False)]


async def test_a_call_and_the_stream_begin_one_session_together() -> None:
    restarted = Restarted(GREETING, GREETING)
    async with RawServer.serving(restarted.handler) as server, connect(server.url) as peer:
        restarted.restart()
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(peer.mcp.ping)
        with anyio.fail_after(5):
            await restarted.again.wait()
        assert server.about().count("initialize") == 2


@pytest.mark.parametrize("repeatable", [True, False])
async def test_the_connection_of_a_client_that_only_listens_ends(repeatable: bool) -> None:
    restarted = Restarted(GREETING, {**GREETING, "capabilities": {}})
    async with RawServer.serving(restarted.handler) as server, connect(server.url) as peer:
        if not repeatable:
            peer.session.must_not_repeat_handshake()
        restarted.restart()
        with anyio.fail_after(5):
            await peer.session.wait_closed()
        why = "it offers something else now" if repeatable else "sent more in it than a new one"
        with pytest.raises(ConnectionClosedError, match=f"forgotten the session, and .*{why}"):
            await peer.mcp.ping()


@pytest.mark.parametrize("headers", [{"mcp_session_id": SESSION}, {}])
async def test_a_server_that_has_no_stream_keeps_its_session(headers: dict[str, str]) -> None:
    """404 to the first GET, or to any GET where there is no id that could be unknown."""
    gone = anyio.Event()

    async def hello(asked: Asked, line: Line) -> None:
        await line.json(reply_to(asked, GREETING), 200, **headers)

    async def listen(asked: Asked, line: Line) -> None:
        if headers or server.about().count("GET") > 1:
            await line.status(404)
            gone.set()
            return
        await line.stream()
        await line.raw(b"retry: 10\n\n")
        await line.close()

    async with (
        RawServer.serving(polite(initialize=hello, GET=listen)) as server,
        connect(server.url) as peer,
    ):
        with anyio.fail_after(5):
            await gone.wait()
        await anyio.wait_all_tasks_blocked()
        await peer.mcp.ping()
        assert server.about().count("initialize") == 1


async def test_a_session_that_is_never_known_is_not_begun_for_ever() -> None:
    async with (
        RawServer.serving(polite(ping=response(status=404))) as server,
        connect(server.url) as peer,
    ):
        with pytest.raises(InvalidResponseError, match=r"HTTP 404.*\(sticky sessions\)"):
            await peer.mcp.ping()
        assert server.about().count("initialize") == 2


async def test_two_servers_behind_one_address_are_named() -> None:
    """Each of them refuses the sessions of the other."""

    async def lost(asked: Asked, line: Line) -> None:
        await line.status(404 if "mcp-session-id" in asked.headers else 202)

    handler = polite(notifications_initialized=lost)
    async with RawServer.serving(handler) as server, connect(server.url) as peer:
        await peer.session.wait_closed()
        why = r"does not know the next one.*\(sticky sessions\)"
        with pytest.raises(ConnectionClosedError, match=why):
            await peer.mcp.ping()


async def test_a_session_with_other_offers_is_another_one() -> None:
    greetings = [GREETING, {**GREETING, "capabilities": {}}]

    async def hello(asked: Asked, line: Line) -> None:
        await line.json(reply_to(asked, greetings.pop(0)), mcp_session_id=SESSION)

    async with (
        RawServer.serving(polite(initialize=hello, ping=response(status=404))) as server,
        connect(server.url) as peer,
    ):
        with pytest.raises(ConnectionClosedError, match="it offers something else now"):
            await peer.mcp.ping()


# Who is calling.


async def test_auth_is_asked_before_and_once_more(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    challenges: list[str | None] = []
    seen: list[str] = []

    async def auth(challenge: str | None) -> str:
        challenges.append(challenge)
        return f"Bearer s3cret{len(challenges)}"

    async def strict(asked: Asked, line: Line) -> None:
        seen.append(asked.headers["authorization"])
        if seen[-1] == "Bearer s3cret2":
            await line.json(reply_to(asked))
        else:
            await line.status(401, WWW_Authenticate="Bearer")

    async with (
        RawServer.serving(polite(ping=strict)) as server,
        connect(server.url, auth=auth) as peer,
    ):
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(peer.mcp.ping)
        server.handler = response(status=401)
        with pytest.raises(InvalidResponseError) as caught:
            await peer.mcp.ping()
    assert challenges == [None, "Bearer", None]
    assert "answered HTTP 401. It has to know who calls" in str(caught.value)
    assert caught.value.status == 401
    assert "s3cret" not in caplog.text + str(caught.value)


@pytest.mark.parametrize("status", [401, 404])
async def test_a_call_that_is_taken_back_during_a_repair_is_not_sent_again(status: int) -> None:
    repairing, repaired = anyio.Event(), anyio.Event()

    async def wait() -> None:
        repairing.set()
        await repaired.wait()

    async def auth(challenge: str | None) -> str:
        if challenge is not None:
            await wait()
        return f"Bearer {challenge}"

    async def greet(asked: Asked, line: Line) -> None:
        if "tools/call" in server.about():
            await wait()
        await line.json(reply_to(asked, GREETING), Mcp_Session_Id=SESSION)

    async def refuse(asked: Asked, line: Line) -> None:
        await line.status(status, WWW_Authenticate="Bearer")

    handler = polite(initialize=greet, tools_call=refuse)
    async with (
        RawServer.serving(handler) as server,
        connect(server.url, auth=auth) as peer,
    ):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(peer.session.raw, "tools/call", {"name": "x"}))
            await repairing.wait()
            tasks.cancel_scope.cancel()
        repaired.set()
        await peer.mcp.ping()
    assert server.about().count("tools/call") == 1


@pytest.mark.parametrize("error", [KeyError("no token"), TimeoutError("no token")])
async def test_what_auth_raises_is_the_callers(error: Exception) -> None:
    def auth(challenge: str | None) -> str:
        raise error

    async with RawServer.serving(polite()) as server, Host("h", "1") as host:
        with pytest.raises(type(error), match="no token"):
            await host.connect(server.url, auth=auth)
        with pytest.raises(ValueError, match="expected the value of a header"):
            await host.connect(server.url, auth=lambda _: "two\nlines")
    assert server.asked == []


async def test_a_redirect_is_followed_on_the_same_origin_only() -> None:
    async def move(asked: Asked, line: Line) -> None:
        if asked.target == "/mcp":
            await line.status(307, Location="/mcp/")
        else:
            await home(asked, line)

    home = polite()
    async with RawServer.serving(move) as server, connect(server.url) as peer:
        await peer.mcp.ping()
        assert [one.target for one in server.asked].count("/mcp") == 1

    async with (
        RawServer.serving(polite()) as other,
        RawServer.serving(redirect_to(other)) as server,
        Host("h", "1") as host,
    ):
        with pytest.raises(InvalidResponseError, match=rf"moved to http://127.0.0.1:{other.port}"):
            await host.connect(server.url, headers={"Authorization": "Bearer s3cret"})
        assert other.asked == []


def redirect_to(other: RawServer) -> Handler:
    async def move(asked: Asked, line: Line) -> None:
        await line.status(308, Location=other.url)

    return move


# What is refused before anything is sent.


REFUSED: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ("http://example.com/mcp", {}, InsecureAddressError, "'example.com' without TLS"),
    ("ftp://example.com/", {}, ValueError, "expected a URL with http, https, ws or wss"),
    ("http://127.0.0.1/a b", {}, ValueError, "without spaces"),
    ("http://127.0.0.1/a\nb", {}, ValueError, "without spaces and control characters"),
    ("\thttp://127.0.0.1/", {}, ValueError, "without spaces and control characters"),
    (" http://127.0.0.1/", {}, ValueError, "without spaces and control characters"),
    ("http://127.0.0.1/\x00", {}, ValueError, "without spaces and control characters"),
    ("http:///mcp", {}, ValueError, "a URL with a host"),
    ("http://127.0.0.1:x/", {}, ValueError, "a malformed one"),
    ("python x.py", {}, TypeError, r"expected stdio\(.*got 'python x.py'"),
    (stdio("x"), {"headers": {}}, TypeError, "headers: this option is for a URL"),
    (
        stdio("x"),
        {"timeout": 1},
        TypeError,
        "timeout: expected one of auth, headers, http, insecure",
    ),
    ("http://127.0.0.1/", {"header": {}}, TypeError, "header: expected one of auth, headers"),
    ("http://127.0.0.1/", {"headers": {"A b": "x"}}, ValueError, "the name of a header"),
    ("http://127.0.0.1/", {"headers": {"Host": "x"}}, ValueError, "Host is written by"),
    ("http://127.0.0.1/", {"headers": {"X": "s3cret\r\nY: z"}}, ValueError, "of one line"),
    (
        "http://ann:s3cret@127.0.0.1/",
        {"auth": lambda _: "x"},
        ValueError,
        "one way to authenticate",
    ),
]


@each(("target", "options", "error", "why"), REFUSED)
async def test_what_cannot_be_meant_is_refused(
    target: Any, options: dict[str, Any], error: type[Exception], why: str
) -> None:
    async with Host("h", "1") as host:
        with pytest.raises(error, match=why) as caught:
            await host.connect(target, **options)
    assert "s3cret" not in str(caught.value)
