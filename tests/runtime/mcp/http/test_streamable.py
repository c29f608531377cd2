"""Streamable HTTP on the server's side: sessions, answers, and what goes where."""

from __future__ import annotations

import json
from contextvars import ContextVar

import anyio
import pytest

from kinwire import Context, Server
from kinwire.transports.http.limits import HttpLimits
from kinwire_protocols import mcp
from tests.runtime.mcp.http.conftest import Tools
from tests.runtime.mcp.http.fake_asgi_client import Client, Open, initialize, message

pytestmark = pytest.mark.anyio


def call(name: str, id: object = 1, token: object = None, **arguments: object) -> dict[str, object]:
    meta = {} if token is None else {"_meta": {"progressToken": token}}
    return message("tools/call", id, name=name, arguments=arguments, **meta)


def text_of(answer: dict[str, object]) -> str:
    result = answer["result"]
    assert isinstance(result, dict)
    return str(result["content"][0]["text"])


@pytest.mark.spec(
    "mcp-streamable-http-transport-1",
    "mcp-streamable-http-transport-3",
    "mcp-shutdown-procedures-7",
)
async def test_a_session_begins_with_initialize_and_ends_with_delete(tools: Tools) -> None:
    app = tools.server.asgi()
    client = Client(app)
    answer = await client.post(initialize())
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json["result"]["serverInfo"]["name"] == "tools"
    client.session = answer.headers["mcp-session-id"]
    assert (await client.post(message("ping"))).json == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert (await client.request("DELETE")).status == 204
    assert (await client.post(message("ping"))).status == 404
    assert (await client.request("DELETE")).status == 404
    await app.aclose()
    assert len(app.sessions._open) == 0


async def test_an_answer_alone_is_json_and_more_is_a_stream(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    alone = await client.post(call("echo", text="hi"))
    assert (alone.headers["content-type"], text_of(alone.json)) == ("application/json", "hi")
    more = await client.post(call("steps", count=2))
    assert more.is_stream
    assert more.headers["cache-control"] == "no-store"
    frames = [json.loads(event.data) for event in more.events]
    assert [frame.get("method") for frame in frames] == ["notifications/message"] * 2 + [None]
    assert text_of(frames[-1]) == "done"
    assert [event.name for event in more.events] == ["message"] * 3


@pytest.mark.spec("mcp-streamable-http-transport-5")
@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("application/json", "application/json"),
        ("text/event-stream;q=0, application/json", "application/json"),
        ("text/event-stream", "text/event-stream"),
        ("application/json;q=0, text/event-stream", "text/event-stream"),
        (None, "application/json"),
    ],
)
async def test_a_client_gets_the_kind_of_answer_that_it_takes(
    tools: Tools, accept: str | None, kind: str
) -> None:
    client = await Client(tools.server.asgi()).begin()
    assert (await client.post(call("echo", text="hi"), accept=accept)).headers[
        "content-type"
    ] == kind


async def test_what_a_client_of_json_alone_cannot_take_waits_for_its_stream(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    answer = await client.post(call("steps", count=2), accept="application/json")
    assert text_of(answer.json) == "done"
    async with client.open("GET") as stream:
        assert [(await stream.frame())["params"]["data"] for _ in range(2)] == [0, 1]


async def test_errors_come_with_the_status_that_they_deserve(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    unknown = await client.post(message("no/such"))
    assert (unknown.status, unknown.json["error"]["code"]) == (200, -32601)
    wrong = await client.post(message("tools/call", name=1))
    assert (wrong.status, wrong.json["error"]["code"]) == (200, -32602)
    for body, code, id in [
        (b"{", -32700, None),
        (b"[]", -32600, None),
        (b'{"jsonrpc":"2.0","id":3}', -32600, 3),
        (b'{"jsonrpc":"1.0","id":3,"method":"ping"}', -32600, 3),
        (b"", -32700, None),
    ]:
        refused = await client.post(body)
        assert (refused.status, refused.json["error"]["code"], refused.json["id"]) == (
            400,
            code,
            id,
        )
    assert (await client.post(message("ping"))).status == 200


async def test_notifications_and_answers_are_accepted_without_a_body(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    for body in [
        {"jsonrpc": "2.0", "method": "notifications/what"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}},
        {"jsonrpc": "2.0", "id": 9, "result": {}},
    ]:
        answer = await client.post(body)
        assert (answer.status, answer.body) == (202, b"")


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_a_session_that_there_is_not_is_not_found(tools: Tools, method: str) -> None:
    client = await Client(tools.server.asgi()).begin()
    body = message("ping") if method == "POST" else None
    stranger = await client.request(method, body, mcp_session_id="made-up")
    assert (stranger.status, stranger.json["error"]["code"]) == (404, -32600)


@pytest.mark.spec("mcp-streamable-http-transport-7")
async def test_a_request_without_a_session_is_refused_with_the_reason(tools: Tools) -> None:
    client = Client(tools.server.asgi())
    answer = await client.post(message("tools/list", 7))
    assert (answer.status, answer.json["id"]) == (400, None)
    assert (await client.request("DELETE")).status == 400


async def test_a_handshake_that_fails_leaves_no_session(tools: Tools) -> None:
    app = tools.server.asgi()
    answer = await Client(app).post(message("initialize"))
    assert answer.json["error"]["code"] == -32602
    assert "mcp-session-id" not in answer.headers
    await app.aclose()
    assert len(app.sessions._open) == 0


async def test_a_second_handshake_changes_nothing(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    answer = await client.post(initialize(id=5))
    assert answer.json["error"]["code"] == -32600
    assert (await client.post(message("tools/list"))).status == 200


@pytest.mark.spec("mcp-streamable-http-transport-6")
@pytest.mark.parametrize(
    ("version", "status"),
    [
        ("2024-11-05", 200),
        ("2025-11-25", 200),
        (None, 200),
        ("2026-07-28", 200),
        ("banana", 400),
        ("", 400),
    ],
)
async def test_a_header_that_is_not_a_version_is_refused(
    tools: Tools, version: str | None, status: int
) -> None:
    client = await Client(tools.server.asgi()).begin()
    answer = await client.post(message("ping"), mcp_protocol_version=version)
    assert answer.status == status


async def test_a_hundred_clients_with_equal_ids_never_cross(tools: Tools) -> None:
    app = tools.server.asgi()
    clients = [await Client(app).begin() for _ in range(100)]
    answers: dict[int, str] = {}

    async def one(number: int, client: Client) -> None:
        answer = await client.post(call("wait", text=f"for {number}"))
        answers[number] = text_of(answer.answer)

    async with anyio.create_task_group() as tasks:
        for number, client in enumerate(clients):
            tasks.start_soon(one, number, client)
        while tools.running < 100:
            await anyio.lowlevel.checkpoint()
        tools.go_on.set()
    assert answers == {number: f"for {number}" for number in range(100)}


async def test_an_id_that_is_in_flight_is_refused_and_the_first_is_answered(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    async with client.sent("POST", call("wait", id=5)) as first:
        while not tools.running:
            await anyio.lowlevel.checkpoint()
        second = await client.post(call("echo", id=5, text="other"))
        assert (second.json["error"]["code"], second.json["id"]) == (-32600, 5)
        tools.go_on.set()
        await first.until("ended")
        assert text_of(first.answer) == "done"


async def test_progress_and_questions_go_with_the_request_that_they_belong_to(
    tools: Tools,
) -> None:
    client = await Client(tools.server.asgi()).begin(roots={})
    async with client.open("GET") as own, client.open("POST", call("roots")) as asking:
        question = await asking.frame()
        assert question["method"] == "roots/list"
        result = {"roots": [{"uri": "file:///a"}]}
        answer = {"jsonrpc": "2.0", "id": question["id"], "result": result}
        assert (await client.post(answer)).status == 202
        assert text_of(await asking.frame()) == "file:///a"
        async with client.open("POST", call("wait", token="t", steps=2)) as waiting:
            reports = [(await waiting.frame())["params"] for _ in range(2)]
            tools.go_on.set()
            await waiting.until("ended")
        assert [report["progress"] for report in reports] == [1, 2]
        assert own.events == []


@pytest.mark.spec("mcp-streamable-http-transport-2")
async def test_news_go_on_the_session_s_own_stream(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    async with client.open("GET") as own:
        assert text_of((await client.post(call("grow"))).json) == "grown"
        assert (await own.frame())["method"] == "notifications/tools/list_changed"


async def test_news_wait_once_each_for_a_client_that_is_not_listening_yet(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    for _ in range(3):
        tools.server.tool(name="more")(tools_function)
        tools.server.remove_tool("more")
    async with client.open("GET") as own:
        assert (await own.frame())["method"] == "notifications/tools/list_changed"
        assert own.events == []


async def tools_function() -> str:
    return ""


async def test_a_second_stream_of_a_session_is_refused_and_the_first_lives(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    async with client.open("GET") as own:
        assert (await client.request("GET")).status == 409
        await client.post(call("grow"))
        assert (await own.frame())["method"] == "notifications/tools/list_changed"
    async with client.open("GET") as again:
        assert again.status == 200


async def test_a_stream_ends_with_its_session(tools: Tools) -> None:
    client = await Client(tools.server.asgi(limits=HttpLimits(patience=60))).begin()
    async with client.open("GET") as own, client.sent("POST", call("wait")) as waiting:
        while not tools.running:
            await anyio.lowlevel.checkpoint()
        assert (await client.request("DELETE")).status == 204
        await own.until("ended")
        await waiting.until("ended")
        assert waiting.status == 404
    assert tools.cancelled.is_set()


async def test_a_request_that_is_taken_back_is_not_answered(tools: Tools) -> None:
    client = await Client(tools.server.asgi(limits=HttpLimits(patience=60))).begin()
    async with client.sent("POST", call("wait", id="x")) as waiting:
        while not tools.running:
            await anyio.lowlevel.checkpoint()
        params = {"requestId": "x"}
        await client.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        await waiting.until("ended")
        assert (waiting.status, waiting.body) == (202, b"")
    assert tools.cancelled.is_set()
    assert (await client.post(call("echo", id="x", text="again"))).status == 200


async def test_an_answer_that_takes_long_becomes_a_stream_with_signs_of_life(
    tools: Tools,
) -> None:
    limits = HttpLimits(patience=0.01, keep_alive=0.01)
    client = await Client(tools.server.asgi(limits=limits)).begin()
    async with client.open("POST", call("wait")) as waiting:
        assert waiting.is_stream
        await waiting.until_body(b":\n")
        tools.go_on.set()
        assert text_of(await waiting.frame()) == "done"


async def test_a_session_that_nobody_uses_ends(tools: Tools) -> None:
    app = tools.server.asgi(limits=HttpLimits(idle=0.05))
    client = await Client(app).begin()
    async with client.open("GET"):
        await anyio.sleep(0.15)
        assert len(app.sessions._open) == 1
    await anyio.sleep(0.15)
    assert len(app.sessions._open) == 0
    assert (await client.post(message("ping"))).status == 404


async def test_the_number_of_sessions_is_limited(tools: Tools) -> None:
    app = tools.server.asgi(limits=HttpLimits(sessions=2))
    first, second = await Client(app).begin(), await Client(app).begin()
    for used in (first, second):
        await used.post(message("ping"))
    refused = await Client(app).post(initialize())
    assert (refused.status, refused.headers["retry-after"]) == (503, "10")
    await first.request("DELETE")
    await Client(app).begin()


@pytest.mark.spec("mcp-shutdown-procedures-6")
async def test_sessions_leave_nothing_behind(tools: Tools) -> None:
    app = tools.server.asgi()
    for _ in range(50):
        client = await Client(app).begin()
        assert (await client.request("DELETE")).status == 204
        assert (await Client(app).post(message("ping"))).status == 400
    await app.aclose()
    assert len(app.sessions._open) == 0
    assert len(tools.server._sessions) == 0


@pytest.mark.spec("mcp-streamable-http-transport-11")
async def test_ids_of_sessions_cannot_be_guessed(tools: Tools) -> None:
    app = tools.server.asgi()
    ids = [str((await Client(app).begin()).session) for _ in range(20)]
    assert len(set(ids)) == 20
    assert all(len(id) == 43 and id.isascii() for id in ids)  # 256 bits in base64


async def test_a_handler_sees_what_stands_around_the_server(tools: Tools) -> None:
    tenant: ContextVar[str] = ContextVar("tenant")
    inner = tools.server.asgi()

    @tools.server.tool
    async def whose() -> str:
        return tenant.get("nobody's")

    async def outer(scope: object, receive: object, send: object) -> None:
        token = tenant.set("alice's")
        await inner(scope, receive, send)  # type: ignore[arg-type]
        tenant.reset(token)

    client = await Client(outer).begin()  # type: ignore[arg-type]
    assert text_of((await client.post(call("whose"))).json) == "alice's"
    client.app = inner
    assert text_of((await client.post(call("whose"))).json) == "nobody's"


async def test_what_a_handler_leaves_running_speaks_on_the_own_stream(tools: Tools) -> None:
    server = Server("later", "1")
    go_on = anyio.Event()

    async with anyio.create_task_group() as tasks:

        @server.on.prompts_list
        async def prompts(
            params: mcp.PaginatedRequestParams, context: Context
        ) -> mcp.ListPromptsResult:
            async def later() -> None:
                await go_on.wait()
                await context.log("info", "later")

            tasks.start_soon(later)
            return mcp.ListPromptsResult(prompts=[])

        client = await Client(server.asgi()).begin()
        answer = await client.post(message("prompts/list"))
        assert answer.headers["content-type"] == "application/json"
        async with client.open("GET") as own:
            go_on.set()
            assert (await own.frame())["params"]["data"] == "later"


async def test_a_client_that_left_slows_nobody_down(tools: Tools) -> None:
    client = await Client(tools.server.asgi(limits=HttpLimits(patience=0.01))).begin()
    gone: list[Open] = []
    async with client.open("POST", call("wait", id=1)) as waiting:
        gone.append(waiting)
    assert tools.running == 1
    assert text_of((await client.post(call("echo", id=2, text="on"))).json) == "on"
    tools.go_on.set()
    assert not gone[0].ended


async def test_a_server_that_says_that_the_client_has_gone_is_believed(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    inner = client.app

    async def outer(scope: object, receive: object, send: object) -> None:
        async def broken(part: object) -> None:
            raise OSError("the connection is lost")

        await inner(scope, receive, broken)  # type: ignore[arg-type]

    client.app = outer  # type: ignore[assignment]
    for name in ("echo", "steps"):
        arguments = {"text": "hi"} if name == "echo" else {"count": 3}
        assert (await client.post(call(name, **arguments))).status == 0
    client.app = inner
    assert (await client.post(call("echo", text="hi"))).status == 200
