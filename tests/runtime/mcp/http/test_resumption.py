"""Streams that break, and clients that come back to them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire import Context
from kinwire.rpc.response_stream import MultiStreamOutbox, ResponseStream
from kinwire.transports.http.limits import HttpLimits
from kinwire.transports.http.sse import Event
from tests.runtime.mcp.http.conftest import Tools
from tests.runtime.mcp.http.fake_asgi_client import Client, Response, message

pytestmark = pytest.mark.anyio

NEW = "2025-11-25"  # clients of that version know events without data


def call(name: str, id: object = 1, **arguments: object) -> dict[str, object]:
    meta = {"progressToken": "t"}
    return message("tools/call", id, name=name, arguments=arguments, _meta=meta)


def progress_of(events: Sequence[Event]) -> list[Any]:
    frames = [json.loads(event.data) for event in events]
    return [frame["params"]["progress"] if "params" in frame else "answer" for frame in frames]


async def all_of(response: Response) -> list[Event]:
    await response.until("ended")
    return response.events


async def test_what_was_lost_of_an_answer_comes_once_and_in_order(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    async with client.open("POST", call("wait", steps=5)) as broken:
        events = [await broken.event() for _ in range(5)]
    assert progress_of(events) == [1, 2, 3, 4, 5]
    async with client.open("GET", last_event_id=events[1].id) as resumed:
        missed = [await resumed.event() for _ in range(3)]
        tools.go_on.set()
        assert progress_of([*missed, *await all_of(resumed)]) == [3, 4, 5, "answer"]


async def test_an_answer_that_nobody_waited_for_is_kept(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    async with client.open("POST", call("wait", steps=1)) as broken:
        first = await broken.event()
    tools.go_on.set()
    while tools.running:
        await checkpoint()
    for _ in range(2):  # what was sent may have been lost again
        async with client.open("GET", last_event_id=first.id) as resumed:
            assert progress_of(await all_of(resumed)) == ["answer"]


async def test_a_stream_can_break_again_before_it_says_anything(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    async with client.open("POST", call("wait", steps=1)) as broken:
        first = await broken.event()
    async with client.open("GET", last_event_id=first.id):
        pass
    async with client.open("GET", last_event_id=first.id) as resumed:
        tools.go_on.set()
        assert progress_of(await all_of(resumed)) == ["answer"]


async def test_a_stream_that_is_read_is_not_given_to_a_second_reader(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    async with client.open("POST", call("wait", steps=1)) as reading:
        first = await reading.event()
        assert (await client.request("GET", last_event_id=first.id)).status == 409
        tools.go_on.set()
        assert progress_of(await all_of(reading)) == ["answer"]


async def test_the_own_stream_resumes_with_missed_messages(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    async with client.open("GET") as own:
        await client.post(call("grow"))
        seen = await own.event()
    tools.server.remove_tool("later")
    async with client.open("GET", last_event_id=seen.id) as own:
        assert (await own.frame())["method"] == "notifications/tools/list_changed"


@pytest.mark.parametrize("id", ["99", "x", "1-1"])
async def test_an_event_that_is_not_kept_cannot_be_resumed_after(tools: Tools, id: str) -> None:
    client = await Client(tools.server.asgi()).begin()
    answer = await client.request("GET", last_event_id=id)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32600)


async def test_what_nobody_came_back_for_is_forgotten(tools: Tools) -> None:
    limits = HttpLimits(event_age=0.05, patience=0.05)
    client = await Client(tools.server.asgi(limits=limits)).begin()
    async with client.open("POST", call("wait", steps=1)) as broken:
        first = await broken.event()
    session = client.app.sessions.get(str(client.session))
    assert session is not None
    assert len(session.detached) == 1
    await anyio.sleep(0.15)
    assert len(session.detached) == 0
    assert (await client.request("GET", last_event_id=first.id)).status == 400
    tools.go_on.set()


@pytest.mark.parametrize(("version", "primed"), [(NEW, True), ("2025-06-18", False)])
async def test_clients_that_support_it_get_a_resume_event_first(
    tools: Tools, version: str, primed: bool
) -> None:
    limits = HttpLimits(patience=0.01, retry=0.25)
    client = await Client(tools.server.asgi(limits=limits)).begin(version)
    async with client.open("POST", call("wait")) as broken:
        if primed:
            first = await broken.event()
            assert (first.data, first.id) == (b"", "1")
            assert b"retry: 250\n" in broken.body
        else:
            assert broken.body == b""
    if primed:
        async with client.open("GET") as own:
            assert (await own.event()).data == b""
        async with client.open("GET", last_event_id="1") as resumed:
            tools.go_on.set()
            assert progress_of([(await all_of(resumed))[-1]]) == ["answer"]


async def test_a_reader_that_is_slow_bounds_what_is_kept_for_it(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    text = "x" * 10_000

    @tools.server.tool
    async def flood(count: int) -> str:
        """Say much outside of any request."""
        for number in range(count):
            await connection.log("info", f"{number} {text}", None)
        return "done"

    (connection,) = tools.server._sessions
    answer = await client.post(call("flood", count=500), accept="application/json")
    assert answer.status == 200
    session = client.app.sessions.get(str(client.session))
    assert session is not None
    own = session.callbacks.outbox.own
    assert own.size <= 2**20
    async with client.open("GET") as late:
        numbers = [int((await late.frame())["params"]["data"].split()[0])]
        while numbers[-1] != 499:
            numbers.append(int((await late.frame())["params"]["data"].split()[0]))
    assert numbers == list(range(numbers[0], 500))
    assert numbers[0] > 0


ORDERS = list(permutations(range(4)))
PART = b"x" * 250_000  # four of them fit


def outbox_of(client: Client) -> MultiStreamOutbox:
    session = client.app.sessions.get(str(client.session))
    assert session is not None
    return session.callbacks.outbox


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("broken", ["before", "after"])
async def test_what_nobody_takes_gives_way_the_oldest_first(
    tools: Tools, broken: str, order: tuple[int, ...]
) -> None:
    outbox = outbox_of(await Client(tools.server.asgi()).begin())
    streams = [outbox.own, *(ResponseStream(outbox) for _ in range(3))]
    for stream in [streams[number] for number in order]:
        stream.begin()
        if broken == "before":  # it has something to say
            stream.detach()
        else:
            stream.attach()
        stream.put(PART, None)
        stream.put(PART, None)
        stream.detach()
    assert [len(streams[number].queue) for number in order] == [0, 0, 2, 2]
    assert outbox._parked == 4 * len(PART)
    for stream in streams:
        outbox.drop(stream)
    assert (outbox._parked, outbox._size, outbox._left) == (0, 0, {})


async def test_what_is_given_up_makes_nothing_else_give_way(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    session = client.app.sessions.get(str(client.session))
    assert session is not None
    kept, given_up = (
        ResponseStream(session.callbacks.outbox),
        ResponseStream(session.callbacks.outbox),
    )
    kept.detach()
    for stream in (kept, given_up):
        stream.begin()
        for _ in range(3):
            stream.put(PART, None)
    session.leave(given_up)
    assert (len(kept.queue), len(given_up.queue)) == (3, 0)


async def test_what_does_not_fit_costs_one_answer_and_not_all(tools: Tools) -> None:
    client = await Client(tools.server.asgi()).begin()
    lasts: list[str] = []
    for id in range(3):
        request = call("wait", id, text="x" * 400_000, steps=1)
        async with client.open("POST", request) as broken:
            lasts.append((await broken.event()).id)
    tools.go_on.set()
    await anyio.wait_all_tasks_blocked()
    came: list[int] = []
    for last in lasts:
        async with client.open("GET", last_event_id=last) as resumed:
            await resumed.until("ended")
            came.append(len(resumed.events))
    assert sorted(came) == [0, 1, 1]  # on trio any of them may be the one that answered first


async def test_a_reader_that_stands_still_slows_no_other_session(tools: Tools) -> None:
    @tools.server.tool
    async def flood(context: Context) -> str:
        while True:
            await context.log("info", "x" * 10_000)

    app = tools.server.asgi()
    slow, quick = await Client(app).begin(), await Client(app).begin()
    async with slow.sent("POST", call("flood")) as stuck:
        stuck.hold()
        answer = await quick.post(call("echo", text="hi"))
        assert answer.json["result"]["content"][0]["text"] == "hi"
        session = app.sessions.get(str(slow.session))
        assert session is not None
        while not session.callbacks.outbox.full:
            await checkpoint()
        sizes = [stream.stream.size for stream in session.deliveries]
        assert max(sizes) < 2**20 + 20_000
        await slow.request("DELETE")


async def test_sessions_together_keep_no_more_than_may_be(tools: Tools) -> None:
    """Test that the clients away for longest lose their streams, but not their sessions."""
    limits = HttpLimits(all_event_bytes=40_000, keep_alive=0.02)
    app = tools.server.asgi(limits=limits)
    clients = [await Client(app).begin() for _ in range(4)]
    last: list[str] = []
    for client in clients:
        async with client.open("POST", call("steps", count=200)) as response:
            last.append((await all_of(response))[0].id)
    sessions = [app.sessions.get(id) for id in app.sessions._open]
    while sum(one.events.size for one in sessions if one is not None) > 40_000:
        await checkpoint()
    statuses: list[int] = []
    for client, event in zip(clients, last, strict=True):
        async with client.open("GET", last_event_id=event) as resumed:
            statuses.append(resumed.status)
        assert (await client.post(message("ping"))).answer["result"] == {}
    assert statuses == sorted(statuses, reverse=True)
    assert {statuses[0], statuses[-1]} == {400, 200}
