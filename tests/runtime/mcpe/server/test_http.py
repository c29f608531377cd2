"""Events over HTTP, in raw requests: on which stream they leave, and whose they are."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire import Server
from kinwire.mcpe import EventClient, EventTerms, McpeServer, new_event
from tests.runtime.mcp.http.fake_asgi_client import Client, Response, message
from tests.runtime.mcpe.fixtures_server import START, StoppedClock
from tests.runtime.mcpe.raw_client import OFFER, Json, said, subscription

pytestmark = pytest.mark.anyio


def repository(events: McpeServer) -> Server:
    server = Server("repository", "1", extensions=[events])

    @server.tool
    async def push(branch: str) -> int:
        """Push."""
        return (await events.publish(new_event("github.push", {"branch": branch}))).subscriptions

    return server


async def call(client: Client, name: str, **arguments: Any) -> Json:
    reply = await client.post(message("tools/call", name=name, arguments=arguments))
    found: Json = reply.answer["result"]
    return found


async def test_events_leave_on_the_stream_that_belongs_to_no_request() -> None:
    clock = StoppedClock()
    events = McpeServer(clock=clock)
    clock.events = events
    app = repository(events).asgi()
    once = {"deliverAt": "2026-01-01T00:00:10Z", "timezone": "UTC"}
    delivery = {"channels": ["realtime", "scheduled"], "scheduledDelivery": once}
    client, pusher = await Client(app).begin(), await Client(app).begin()
    async with client.open("GET") as stream:
        made = said(
            await call(client, "events_subscribe", **subscription("github.*", delivery=delivery))
        )
        own: Response = await client.post(
            message("tools/call", 5, name="push", arguments={"branch": "a"})
        )
        assert (own.is_stream, own.answer["id"]) == (False, 5)
        assert (await call(pusher, "push", branch="b"))["content"][0]["text"] == "1"
        await clock.to(START + 10)
        frames = [await stream.frame() for _ in range(4)]
    assert [one["method"] for one in frames] == [
        "events/event",
        "events/event",
        "events/batch",
        "events/subscription_expired",
    ]
    assert {one["params"]["subscriptionId"] for one in frames} == {made["id"]}
    branches = [one["data"]["branch"] for one in frames[2]["params"]["events"]]
    assert branches == ["a", "b"]


async def test_a_principal_has_its_subscriptions_in_each_of_its_sessions() -> None:
    principals: dict[str, Any] = {"A": "ann", "B": {"sub": "bob"}}
    asked: list[Any] = []

    def authorize(client: EventClient, type: str) -> bool:
        asked.append(client.principal)
        return True

    events = McpeServer(terms=EventTerms(authorize=authorize))
    app = repository(events).asgi(authenticate=principals.get)
    ann = await Client(app, authorization="Bearer A").begin(**OFFER)
    bob = await Client(app, authorization="Bearer B").begin(**OFFER)
    result = await call(ann, "events_subscribe", **subscription("github.*"))
    await call(bob, "events_subscribe", **subscription("slack.*"))
    assert "_meta" not in result
    assert asked == ["ann", {"sub": "bob"}]
    assert (await ann.request("DELETE")).status == 204
    again = await Client(app, authorization="Bearer A").begin(**OFFER)
    async with again.open("GET") as stream:
        await anyio.wait_all_tasks_blocked()
        assert (await call(bob, "push", branch="a"))["content"][0]["text"] == "1"
        frame = await stream.frame()
        listed = said(await call(again, "events_list"))["subscriptions"]
    assert frame["params"]["subscriptionId"] == said(result)["id"] == listed[0]["id"]
    assert len(listed) == 1
