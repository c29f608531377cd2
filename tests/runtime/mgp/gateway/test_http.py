"""A gateway over HTTP: what belongs to a request leaves on its stream; tokens name agents."""

from __future__ import annotations

import socket
from typing import Any

import anyio
import pytest

from kinwire import (
    Context,
    Host,
    Sampling,
    Server,
    result_text,
    unattended,
)
from kinwire.mgp import Agent, Gateway, MgpKernel, ServerPolicy
from kinwire.transports.http.running import serve_on
from kinwire_protocols import mcp
from tests.runtime.mcp.http.fake_asgi_client import Client, message
from tests.runtime.mgp.gateway.fixtures_gateway import asking, full_server, gateway_of, last_id

pytestmark = pytest.mark.anyio

SAMPLE = {"messages": [], "maxTokens": 1}


async def test_progress_logs_and_questions_leave_on_the_stream_of_their_call() -> None:
    raw, other = asking(), asking("t")
    async with gateway_of({"s": raw, "o": other}) as gateway:
        client = await Client(gateway.server.asgi()).begin(sampling={})
        call = message("tools/call", 7, name="s__t", _meta={"progressToken": "p"})
        beside = message("tools/call", 8, name="o__t")
        async with client.sent("POST", beside) as silent, client.sent("POST", call) as response:
            await raw.tells("tools/call")
            await other.tells("tools/call")
            token = raw.calls[0]["_meta"]["progressToken"]
            raw.say(method="notifications/progress", params={"progressToken": token, "progress": 1})
            raw.say(method="notifications/message", params={"level": "error", "data": "d"})
            raw.say(
                id="q", method="sampling/createMessage", params={"messages": [], "maxTokens": 1}
            )
            frames = [await response.frame() for _ in range(3)]
            assert [one["method"] for one in frames] == [
                "notifications/progress",
                "notifications/message",
                "sampling/createMessage",
            ]
            assert frames[0]["params"]["progressToken"] == "p"
            answer = {"jsonrpc": "2.0", "id": frames[2]["id"], "result": {"model": "m"}}
            assert (await client.post(answer)).status == 202
            raw.say(id=last_id(raw), result={"content": [], "done": True})
            assert (await response.frame())["result"]["done"]
            [answered] = [one for one in raw.heard if one.get("id") == "q"]
            assert answered["result"] == {"model": "m"}
            assert silent.events == []
            other.say(id=last_id(other), result={"content": []})
            await silent.until("ended")
            assert silent.answer["id"] == 8


async def test_each_token_is_an_agent_with_rights_and_a_session_of_its_own() -> None:
    tokens: dict[str, Any] = {
        "A": "ann",
        "B": "bob",
        "C": {"sub": "carl"},
        "D": "x" * 10_000,
        "E": Agent("ann", expires_at=50),
    }
    kernel = MgpKernel(servers={"s": ServerPolicy(access="opt-in")}, clock=lambda: 100.0)
    raw = full_server("t", "u")
    found: dict[str, list[Any]] = {}
    async with gateway_of({"s": raw}, kernel=kernel, level="L3") as gateway:
        await kernel.access.grant("ann", "s")
        await kernel.access.grant("gateway", "s", tool="u")
        app = gateway.server.asgi(authenticate=tokens.get)
        refused = await Client(app).post(message("initialize"))
        assert refused.status == 401
        for token in tokens:
            client = await Client(app, authorization=f"Bearer {token}").begin()
            found[token] = []
            for method, params in (
                ("tools/call", {"name": "s__t"}),
                ("tools/call", {"name": "s__u"}),
                ("resources/read", {"uri": "mgp://s/note:1"}),
            ):
                reply = await client.post(message(method, **params))
                found[token].append(reply.answer.get("error", {}).get("code"))
            listed = (await client.post(message("tools/list"))).answer["result"]["tools"]
            found[token] += [one["name"] for one in listed if not one["name"].startswith("mgp_")]
    assert found == {
        "A": [None, None, None, "s__t", "s__u"],
        "B": [1001, 1001, 1001],
        "C": [1001, None, 1001, "s__u"],  # principals that are not names of agents
        "D": [1001, None, 1001, "s__u"],
        "E": [1003, 1003, 1003],
    }


async def test_a_server_for_authenticated_agents_is_closed_to_clients_that_nothing_names() -> None:
    kernel = MgpKernel(servers={"s": ServerPolicy(needs_agent=True)})
    calls = (
        message("tools/call", name="s__t"),
        message("prompts/get", name="s__p"),
        message("resources/read", uri="mgp://s/note:1"),
    )
    codes: dict[str | None, list[Any]] = {}
    async with gateway_of({"s": full_server()}, kernel=kernel) as gateway:
        for token, name in ((None, ""), ("A", "ann"), ("B", "gateway")):
            known = {"A": "ann", "B": "gateway"}.get
            app = gateway.server.asgi(authenticate=known if token else None)
            headers = {"authorization": f"Bearer {token}"} if token else {}
            client = await Client(app, **headers).begin()
            answers = [(await client.post(one)).answer for one in calls]
            codes[token] = [one.get("error", {}).get("code") for one in answers]
            assert name in (known(token or ""), "")
    assert codes == {None: [1002] * 3, "A": [None] * 3, "B": [None] * 3}


UP = Server("up", "1")


@UP.tool
async def think(word: str, context: Context) -> str:
    await context.log("warning", word)
    result = await context.sample(word, max_tokens=5)
    assert isinstance(result.content, mcp.TextContent)
    return f"{word} {result.content.text} {(await context.roots())[0].uri}"


async def use(number: int, address: str) -> None:
    """Call the tool as a client of its own, which answers what it is asked."""

    async def model(params: mcp.CreateMessageRequestParams) -> mcp.CreateMessageResult:
        content = mcp.TextContent(text=f"m{number}")
        return mcp.CreateMessageResult(role="assistant", content=content, model="m")

    sampling = Sampling(model, approve_request=unattended, approve_result=unattended)
    logs, words = list[Any](), [f"{word}{number}" for word in ("a", "b", "c")]
    async with Host("c", "1", sampling=sampling, roots=[f"file:///{number}"]) as client:
        connection = await client.connect(address, on_log=lambda one: logs.append(one.data))
        for word in words:
            result = await connection.mcp.tools_call(name="up__think", arguments={"word": word})
            assert result_text(result) == f"{word} m{number} file:///{number}"
    assert logs == words


@pytest.mark.slow
@pytest.mark.parametrize("anyio_backend", ["asyncio"], indirect=True)
async def test_clients_at_the_same_time_are_asked_what_belongs_to_their_own_calls() -> None:
    kernel, ends, addresses = MgpKernel(), anyio.Event(), list[str]()
    host = Host("h", "1", extensions=[kernel])
    gateway = Gateway(kernel, host)
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            for app in (UP.asgi(), gateway.server.asgi()):
                listener = socket.create_server(("127.0.0.1", 0))
                addresses.append(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp")
                tasks.start_soon(serve_on, app, listener, ends)
            async with host:
                await host.connect(addresses[0], server_id="up")
                async with anyio.create_task_group() as clients:
                    for number in range(10):
                        clients.start_soon(use, number, addresses[1])
            ends.set()
