"""Events over Streamable HTTP, where a client may listen late, or be away: a raw client."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import Server
from kinwire.mgp import MgpServer
from tests.runtime.mcp.http.fake_asgi_client import Client, Open, message

pytestmark = pytest.mark.anyio

MGP = {"version": "0.2.0", "extensions": ["bidirectional"]}


async def numbers(stream: Open, most: int) -> list[int]:
    frames = [(await stream.frame())["params"] for _ in range(most)]
    assert {one["channel"] for one in frames} == {"model.limit"}
    return [one["data"]["n"] for one in frames]


async def test_events_wait_for_a_client_that_listens_and_what_is_lost_is_counted() -> None:
    guarded = MgpServer(channels=["model.limit"])
    server = Server("s", "1", extensions=[guarded])

    @server.tool
    async def think() -> str:
        await guarded.emit("model.limit", {"n": -1})
        return "done"

    async def emit(*events: int) -> None:
        for number in events:
            await guarded.emit("model.limit", {"n": number})

    client = await Client(server.asgi()).begin(mgp=MGP)
    made = await client.post(message("mgp/events/subscribe", channels=["model.*"]))
    assert made.answer["result"]["unsupported"] == []
    await emit(*range(1_200))
    async with client.open("GET") as stream:
        first = (await stream.frame())["params"]
        assert (first["data"], first["dropped"]) == ({"n": 200}, 200)
        assert await numbers(stream, 999) == list(range(201, 1_200))
        answer = await client.post(message("tools/call", 2, name="think", arguments={}))
        await emit(1_200)
        assert "mgp" not in answer.body.decode()  # an event does not leave with an answer,
        assert await numbers(stream, 2) == [-1, 1_200]  # or it could overtake another one
    await emit(1, 2)
    async with client.open("GET") as stream:
        assert await numbers(stream, 2) == [1, 2]
        await emit(3)
        ended = await client.post(message("mgp/events/unsubscribe", 3, subscription_id="sub-001"))
        assert ended.answer["result"] == {"unsubscribed": True}
        assert await numbers(stream, 1) == [3]


async def test_events_that_are_intercepted_leave_with_no_answer_either() -> None:
    class Marked(MgpServer):
        def join(self, session: Any, theirs: Any) -> Any:
            async def around(params: Any, method: object, go_on: Any) -> Any:
                return await go_on(params)

            session.intercept_outbound(around)
            return super().join(session, theirs)

    guarded = Marked(channels=["model.limit"])
    server = Server("s", "1", extensions=[guarded])

    @server.tool
    async def think() -> str:
        await guarded.emit("model.limit", {"n": 1})
        return "done"

    client = await Client(server.asgi()).begin(mgp=MGP)
    await client.post(message("mgp/events/subscribe", channels=["model.*"]))
    async with client.open("GET") as stream:
        answer = await client.post(message("tools/call", 2, name="think", arguments={}))
        assert "mgp" not in answer.body.decode()
        assert await numbers(stream, 1) == [1]
