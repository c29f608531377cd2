"""A host over Streamable HTTP: requests, what becomes of answers, and notifications."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from kinwire import Host, InvalidResponseError, RequestTimeoutError, connect
from kinwire.mcp.http_client import transport
from kinwire.mcp.sampling import Sampling, unattended
from kinwire_protocols import mcp
from tests.runtime.mcp.http_client.fake_server import (
    SESSION,
    Asked,
    Handler,
    Line,
    RawServer,
    polite,
    reply_to,
)

pytestmark = pytest.mark.anyio

TEXT: dict[str, Any] = {"content": [{"type": "text", "text": "done"}]}


async def ping(url: str, **options: Any) -> None:
    async with connect(url, **options) as peer:
        await peer.mcp.ping()


@pytest.mark.spec(
    "mcp-streamable-http-transport-4",
    "mcp-streamable-http-transport-6",
    "mcp-streamable-http-transport-7",
)
async def test_the_handshake_and_what_follows_say_what_they_are() -> None:
    async with RawServer.serving(polite()) as server:
        await ping(server.url + "?key=k", headers={"X-Tenant": "a"})
    first, second, third = [one for one in server.asked if one.method == "POST"]
    assert first.target == "/mcp?key=k"
    assert first.headers["accept"] == "application/json, text/event-stream"
    assert first.headers["content-type"] == "application/json"
    assert not {"mcp-session-id", "mcp-protocol-version"} & set(first.headers)
    for later in (second, third):
        assert later.headers["mcp-session-id"] == SESSION
        assert later.headers["mcp-protocol-version"] == "2024-11-05"
        assert later.headers["x-tenant"] == "a"
    last = server.asked[-1]
    assert (last.method, last.headers["mcp-session-id"]) == ("DELETE", SESSION)


def test_it_speaks_where_anyio_did_not_start_the_loop() -> None:
    async def stream(asked: Asked, line: Line) -> None:
        await line.stream()
        await line.event({}, id="1", retry="1", event="first")
        await line.close()

    async def go_on(asked: Asked, line: Line) -> None:
        if "last-event-id" not in asked.headers:
            await line.status(405)
            return
        await line.stream()
        await line.event({"jsonrpc": "2.0", "id": 2, "result": TEXT})

    async def speak() -> None:
        async with (
            RawServer.serving(polite(tools_call=stream, GET=go_on)) as server,
            connect(server.url) as peer,
        ):
            await peer.mcp.tools_call(name="x")

    asyncio.run(speak())


async def test_calls_one_after_the_other_share_a_connection() -> None:
    async with RawServer.serving(polite()) as server, connect(server.url) as peer:
        for _ in range(5):
            await peer.mcp.ping()
        assert server.connections <= 2  # one of them was for the stream of notifications


@pytest.mark.spec("mcp-streamable-http-transport-1", "mcp-streamable-http-transport-5")
async def test_a_stream_brings_messages_before_the_answer() -> None:
    reports: list[float] = []

    async def stream(asked: Asked, line: Line) -> None:
        token = asked.message["params"]["_meta"]["progressToken"]
        params = {"progressToken": token, "progress": 0.5}
        await line.stream()
        await line.event({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        await line.event({"jsonrpc": "2.0", "id": "s1", "method": "ping"})
        await line.event(reply_to(asked, TEXT))
        await line.close()

    async with RawServer.serving(polite(tools_call=stream)) as server, connect(server.url) as peer:
        loud = peer.with_options(on_progress=lambda report: reports.append(report.progress))
        result = await mcp.ServerStub(loud).tools_call(name="x")
        assert result.content == [mcp.TextContent(text="done")]
    assert reports == [0.5]
    answers = [one.message for one in server.asked if one.about == "reply"]
    assert answers == [{"jsonrpc": "2.0", "id": "s1", "result": {}}]


@pytest.mark.slow
async def test_answers_to_the_server_pass_calls_that_wait_for_their_turn() -> None:
    crowded, answered = anyio.Event(), anyio.Event()

    async def busy(asked: Asked, line: Line) -> None:
        if server.about().count("tools/call") == 128:  # as many as may be under way
            crowded.set()
        if asked.message["id"] == 2:  # the first call
            await crowded.wait()
            await line.stream()
            await line.event({"jsonrpc": "2.0", "id": "s1", "method": "ping"})
            await answered.wait()
            await line.event(reply_to(asked, TEXT))
            await line.close()
        else:
            await answered.wait()
            await line.json(reply_to(asked, TEXT))

    async def heard(asked: Asked, line: Line) -> None:
        answered.set()
        await line.status(202)

    arguments = {"text": "x" * 40_000}
    async with (
        RawServer.serving(polite(tools_call=busy, reply=heard)) as server,
        connect(server.url) as peer,
        anyio.create_task_group() as tasks,
    ):
        for _ in range(200):  # more than may be under way, by more than may be unsent
            tasks.start_soon(partial(peer.mcp.tools_call, name="x", arguments=arguments))
    assert server.about().count("tools/call") == 200


async def test_what_follows_a_notification_does_not_overtake_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = anyio.Event()
    monkeypatch.setattr(transport, "_LISTENING", 0.01)

    async def late(asked: Asked, line: Line) -> None:
        await held.wait()
        await line.status(202)

    async with (
        RawServer.serving(polite(notifications_initialized=late)) as server,
        connect(server.url) as peer,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(peer.mcp.ping)
        while "notifications/initialized" not in server.about():
            await anyio.lowlevel.checkpoint()
        await anyio.wait_all_tasks_blocked()
        assert "ping" not in server.about()
        held.set()
    assert "ping" in server.about()


@pytest.mark.spec("mcp-streamable-http-transport-3")
async def test_what_was_said_last_arrives_before_the_session_ends() -> None:
    async with RawServer.serving(polite()) as server, Host("h", "1", roots=[]) as host:
        peer = await host.connect(server.url)
        await peer.mcp.notifications_roots_list_changed()
        await peer.aclose()
        said = [one for one in server.about() if one != "GET"]
        assert said[-2:] == ["notifications/roots/list_changed", "DELETE"]


async def test_a_call_that_is_given_up_is_taken_back_and_its_connection_closed() -> None:
    closed = anyio.Event()

    async def never(asked: Asked, line: Line) -> None:
        await line.stream()
        await line.until_closed()
        closed.set()

    async with RawServer.serving(polite(tools_call=never)) as server, connect(server.url) as peer:
        with pytest.raises(RequestTimeoutError):
            await mcp.ServerStub(peer.with_options(timeout=0.05)).tools_call(name="x")
        await closed.wait()
        await peer.mcp.ping()
    cancelled = [one.message for one in server.asked if one.about == "notifications/cancelled"]
    assert [one["params"]["requestId"] for one in cancelled] == [2]


async def test_a_cancellation_arrives_before_the_session_ends() -> None:
    async def never(asked: Asked, line: Line) -> None:
        await line.until_closed()

    async with RawServer.serving(polite(tools_call=never)) as server:
        async with connect(server.url) as peer:
            with pytest.raises(RequestTimeoutError):
                await mcp.ServerStub(peer.with_options(timeout=0.05)).tools_call(name="x")
        said = [one for one in server.about() if one != "GET"]
    assert said[-3:] == ["tools/call", "notifications/cancelled", "DELETE"]


async def test_a_cancellation_that_is_refused_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def never(asked: Asked, line: Line) -> None:
        await line.until_closed()

    async def refuse(asked: Asked, line: Line) -> None:
        await line.status(500)

    handler = polite(tools_call=never, notifications_cancelled=refuse)
    async with RawServer.serving(handler) as server, connect(server.url) as peer:
        with pytest.raises(RequestTimeoutError):
            await mcp.ServerStub(peer.with_options(timeout=0.05)).tools_call(name="x")
        await peer.mcp.ping()
    (line,) = [one for one in caplog.messages if "did not reach" in one]
    assert "notifications/cancelled" in line


async def test_what_follows_a_cancellation_of_the_user_does_not_wait_for_it() -> None:
    taken, answered = anyio.Event(), anyio.Event()

    async def slow(asked: Asked, line: Line) -> None:
        taken.set()
        await answered.wait()
        await line.status(202)

    handler = polite(notifications_cancelled=slow)
    async with RawServer.serving(handler) as server, connect(server.url) as peer:
        await peer.mcp.notifications_cancelled(request_id=99)
        await taken.wait()
        with anyio.fail_after(5):
            await peer.mcp.ping()
        answered.set()


async def test_concurrent_calls_get_their_own_answers() -> None:
    async def echo(asked: Asked, line: Line) -> None:
        name = asked.message["params"]["name"]
        await line.json(reply_to(asked, {"content": [{"type": "text", "text": name}]}))

    async def call(peer: Any, name: str) -> None:
        result = await peer.mcp.tools_call(name=name)
        assert result.content[0].text == name

    async with (
        RawServer.serving(polite(tools_call=echo)) as server,
        connect(server.url) as peer,
        anyio.create_task_group() as tasks,
    ):
        for number in range(150):  # more than there are connections
            tasks.start_soon(call, peer, f"tool{number}")


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_in_the_reply_to_another_call_reaches_nobody(streamed: bool) -> None:
    waiting: dict[str, int] = {}
    both = anyio.Event()

    async def crossed(asked: Asked, line: Line) -> None:
        name = asked.message["params"]["name"]
        waiting[name] = asked.message["id"]
        if len(waiting) == 2:
            both.set()
        await both.wait()
        if name == "honest":
            await line.json(reply_to(asked, TEXT))
            return
        stolen = {"jsonrpc": "2.0", "id": waiting["honest"], "result": {"content": []}}
        if streamed:
            await line.stream()
            await line.event(stolen)
            await line.close()
        else:
            await line.json(stolen)

    async def call_honest(peer: Any) -> None:
        assert (await peer.mcp.tools_call(name="honest")).content != []

    async with (
        RawServer.serving(polite(tools_call=crossed)) as server,
        connect(server.url) as peer,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(call_honest, peer)
        with pytest.raises(InvalidResponseError, match=r"tools/call: the reply"):
            await peer.mcp.tools_call(name="thief")


@pytest.mark.spec("mcp-streamable-http-transport-2")
async def test_the_get_stream_is_opened_again_where_it_broke_off() -> None:
    heard: list[Any] = []
    twice = anyio.Event()

    def news(number: int) -> dict[str, Any]:
        params = {"level": "info", "data": number}
        return {"jsonrpc": "2.0", "method": "notifications/message", "params": params}

    async def get_stream(asked: Asked, line: Line) -> None:
        last = asked.headers.get("last-event-id")
        await line.stream()
        await line.event({"jsonrpc": "2.0", "id": 2, "result": {}})  # belongs elsewhere
        if last is None:
            await line.event(news(1), id="e-1_a:b", retry="1")
            await line.close()
        else:
            assert last == "e-1_a:b"
            await line.event(news(2))
            await line.until_closed()

    def hear(message: Any) -> None:
        heard.append(message.data)
        if len(heard) == 2:
            twice.set()

    async def slow(asked: Asked, line: Line) -> None:
        await twice.wait()
        await line.json(reply_to(asked, TEXT))

    async with (
        RawServer.serving(polite(GET=get_stream, tools_call=slow)) as server,
        connect(server.url, on_log=hear) as peer,
    ):
        assert (await peer.mcp.tools_call(name="x")).content != []
    assert heard == [1, 2]


async def test_a_server_without_a_standing_stream_is_asked_once() -> None:
    async with RawServer.serving(polite()) as server, connect(server.url) as peer:
        while "GET" not in server.about():
            await anyio.lowlevel.checkpoint()
        for _ in range(3):
            await peer.mcp.ping()
    assert server.about().count("GET") == 1


@pytest.mark.parametrize("status", [200, 405, 404, 500])
async def test_connect_returns_when_the_stream_of_the_server_has_a_status(status: int) -> None:
    asked, decided = anyio.Event(), anyio.Event()

    async def get(request: Asked, line: Line) -> None:
        asked.set()
        await decided.wait()
        if status != 200:
            await line.status(status)
            return
        await line.stream()
        await line.until_closed()

    connected = anyio.Event()
    async with RawServer.serving(polite(GET=get)) as server, Host("h", "1") as host:

        async def connect() -> None:
            await host.connect(server.url)
            connected.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(connect)
            await asked.wait()
            await anyio.wait_all_tasks_blocked()
            assert not connected.is_set()
            decided.set()
            await connected.wait()


async def write(params: mcp.CreateMessageRequestParams) -> mcp.CreateMessageResult:
    text = mcp.TextContent(text="yes")
    return mcp.CreateMessageResult(role="assistant", content=text, model="m")


SAY = {"role": "user", "content": {"type": "text", "text": "really?"}}
FIRST_QUESTIONS: list[tuple[str, dict[str, Any], Any]] = [
    ("roots/list", {}, {"roots": []}),
    (
        "sampling/createMessage",
        {"messages": [SAY], "maxTokens": 9},
        {"role": "assistant", "content": {"type": "text", "text": "yes"}, "model": "m"},
    ),
    ("elicitation/create", {"message": "really?", "requestedSchema": {}}, None),  # not in MCP yet
]
AGAIN = 50


def asks(question: dict[str, Any], answers: list[dict[str, Any]]) -> Handler:
    """Return a server that asks its question on the GET stream during a call."""
    answered = anyio.Event()
    streams: list[Line] = []

    async def get(request: Asked, line: Line) -> None:
        await anyio.sleep(0.01)  # a slow server: a call that was sent now would come first
        await line.stream()
        streams.append(line)
        await line.until_closed()

    async def call(request: Asked, line: Line) -> None:
        for stream in streams:
            await stream.event(question)
            await answered.wait()
        await line.json(reply_to(request, {"content": []}))

    async def reply(request: Asked, line: Line) -> None:
        answers.append(request.message)
        answered.set()
        await line.status(202)

    return polite(GET=get, tools_call=call, reply=reply)


@pytest.mark.parametrize(("method", "params", "result"), FIRST_QUESTIONS)
async def test_a_question_during_the_first_call_reaches_the_host(
    method: str, params: dict[str, Any], result: Any
) -> None:
    question = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    sampling = Sampling(write, approve_request=unattended, approve_result=unattended)

    async def connect_and_call() -> None:
        answers: list[dict[str, Any]] = []
        async with (
            RawServer.serving(asks(question, answers)) as server,
            Host("h", "1", roots=[], sampling=sampling) as host,
        ):
            connection = await host.connect(server.url)
            await connection.mcp.tools_call(name="ask")
        assert [answer.get("result") for answer in answers] == [result]
        assert result or answers[0]["error"]["code"] == -32601

    async with anyio.create_task_group() as tasks:
        for _ in range(AGAIN):
            tasks.start_soon(connect_and_call)


async def test_a_server_that_lets_the_stream_wait_delays_connect_by_a_bounded_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def get(request: Asked, line: Line) -> None:
        await line.until_closed()

    monkeypatch.setattr(transport, "_LISTENING", 0.05)
    async with RawServer.serving(polite(GET=get)) as server, Host("h", "1") as host:
        with anyio.fail_after(5):
            connection = await host.connect(server.url)
            await connection.mcp.ping()


async def test_a_server_that_refuses_initialized_delays_nothing() -> None:
    async def refuse(request: Asked, line: Line) -> None:
        await line.status(500)

    handlers = {"notifications_initialized": refuse}
    async with RawServer.serving(polite(**handlers)) as server, Host("h", "1") as host:
        with anyio.fail_after(0.9):
            await host.connect(server.url)
