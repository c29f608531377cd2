"""The outbox of a server against raw hosts: order, retries, refusals, addresses and restarts."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kinwire import Server
from kinwire.mcpl import McplServer, Outbox, RefusedItem
from kinwire.storage import open_store
from kinwire.support.backoff import Backoff
from kinwire_protocols import mcpl
from kinwire_protocols.mcp import TextContent
from tests.runtime.mcpl.fixtures_pairs import feature
from tests.runtime.mcpl.raw.peer import Error, Message, RawHost
from tests.runtime.mcpl.raw.scenarios import ConnectHost, against_raw_host

pytestmark = pytest.mark.spec("mcpl-9.4-2")

OFFER: Message = {"version": "0.4", "pushEvents": True, "featureSets": True}
CHAT: Message = {**OFFER, "channels": {"register": True}}
AT_ONCE = Backoff(first=0.0, longest=0.0)
ROOMS = [
    mcpl.ChannelDescriptor(id=f"chat:{name}", type="chat", label=name, direction="inbound")
    for name in ("a", "b")
]
BACKPRESSURE = {"accepted": False, "reason": "backpressure"}


class Doorbell:
    """A server that pushes, and what its host refused."""

    def __init__(self, **options: Any) -> None:
        self.live = McplServer(
            feature_sets={"bell": feature("pushEvents"), "other": feature("pushEvents")},
            channels=ROOMS,
            enabled_at_first=False,
        )
        self.refused: list[RefusedItem] = []
        self.outbox = Outbox(self.live, backoff=AT_ONCE, on_refused=self._refused, **options)
        self.server = Server("bell", "1", extensions=[self.live])

    async def _refused(self, refused: RefusedItem) -> None:
        self.refused.append(refused)


def message(room: str, number: int) -> mcpl.IncomingMessage:
    return mcpl.IncomingMessage(
        channel_id=f"chat:{room}",
        message_id=f"{room}{number}",
        content=[TextContent(text=str(number))],
    )


async def pushed(host: RawHost, answer: Any = None) -> str:
    """Answer the next event, and return its id."""
    event = await host.expect("push/event")
    await host.answer(event, {"accepted": True} if answer is None else answer)
    return str(event["params"]["eventId"])


async def brought(host: RawHost, **outcome: Any) -> str:
    """Answer the next message, and return its id."""
    request = await host.expect("channels/incoming")
    (one,) = request["params"]["messages"]
    result = {"messageId": one["messageId"], "accepted": True, **outcome}
    await host.answer(request, {"results": [result]})
    return str(one["messageId"])


@against_raw_host(quick=("memory", "http"))
async def test_events_that_are_recorded_before_a_host_comes_are_pushed_in_order(
    connect: ConnectHost,
) -> None:
    bell = Doorbell()
    ids = [await bell.outbox.push("bell", str(number)) for number in range(3)]
    host = await connect(bell.server)
    await host.open(OFFER, update={"disabled": ["bell"]})
    await host.settle()
    assert host.params_of("push/event") == []
    await host.notify("featureSets/update", {"enabled": ["bell"]})
    assert await pushed(host) == ids[0]
    second = await host.expect("push/event")
    await host.settle()
    assert len(host.params_of("push/event")) == 2  # the third waits for the second
    await host.answer(second, BACKPRESSURE)
    again = await host.expect("push/event")
    assert again["params"] == second["params"]
    await host.answer(again, {"accepted": True})
    assert await pushed(host) == ids[2]
    await bell.outbox.drain()
    assert bell.outbox.pending == 0
    assert bell.refused == []


@against_raw_host
async def test_a_set_does_not_wait_for_another_one(connect: ConnectHost) -> None:
    bell = Doorbell()
    host = await connect(bell.server)
    await host.open(OFFER, update={"enabled": ["other"]})
    await bell.outbox.push("bell", "waits")
    free = await bell.outbox.push("other", "goes")
    assert await pushed(host) == free
    await host.settle()
    assert bell.outbox.pending == 1


@against_raw_host
async def test_a_refusal_for_good_is_reported_once_and_not_repeated(connect: ConnectHost) -> None:
    bell = Doorbell(attempts=2)
    host = await connect(bell.server)
    await host.open(OFFER, update={"enabled": ["bell"]})
    answers = [
        {"accepted": False, "reason": "not wanted"},
        Error(-32003, "Unknown feature set"),
        Error(-32603, "broken"),
        Error(-32603, "broken again"),
    ]
    ids = [await bell.outbox.push("bell", "1"), await bell.outbox.push("bell", "2")]
    ids.append(await bell.outbox.push("bell", "3"))
    taken = [await pushed(host, answer) for answer in answers]
    assert taken == [*ids, ids[2]]
    await bell.outbox.drain()
    assert [getattr(one.item, "event_id", None) for one in bell.refused] == ids
    reasons = ["not wanted", "Unknown feature set", "broken again"]
    assert [one.reason.partition(" (")[0] for one in bell.refused] == reasons
    assert len(host.params_of("push/event")) == 4


@against_raw_host(quick=("memory", "ws"))
async def test_an_event_without_an_answer_is_sent_on_the_next_connection(
    connect: ConnectHost,
) -> None:
    bell = Doorbell()
    host = await connect(bell.server)
    await host.open(OFFER, update={"enabled": ["bell"]})
    id = await bell.outbox.push("bell", "Somebody is at the door", event_id="evt_1")
    first = await host.expect("push/event")
    await host.hang_up()
    other = await connect(bell.server)
    await other.open(OFFER, update={"enabled": ["bell"]})
    again = await other.expect("push/event")
    assert again["params"] == first["params"]
    assert again["params"]["eventId"] == id == "evt_1"
    await other.answer(again, {"accepted": False, "reason": "duplicate"})
    await bell.outbox.drain()
    assert bell.refused == []


@against_raw_host
async def test_recorded_events_are_delivered_by_the_next_process(connect: ConnectHost) -> None:
    async with open_store("memory:") as store:
        records = await store.records("outbox")
        before = Doorbell(records=records)
        ids = [await before.outbox.push("bell", str(number)) for number in range(12)]
        host = await connect(before.server)
        await host.open(OFFER, update={"enabled": ["bell"]})
        assert await pushed(host) == ids[0]
        unanswered = await host.expect("push/event")
        await host.hang_up()

        after = Doorbell(records=records)
        other = await connect(after.server)
        await other.open(OFFER, update={"enabled": ["bell"]})
        again = await other.expect("push/event")
        assert again["params"] == unanswered["params"]
        await other.answer(again, {"accepted": False, "reason": "duplicate"})
        assert [await pushed(other) for _ in ids[2:]] == ids[2:]
        await after.outbox.drain()
        assert after.refused == []
        assert [record async for record in records.scan()] == []


@against_raw_host
async def test_items_with_an_address_go_to_hosts_with_that_address(connect: ConnectHost) -> None:
    names = iter(["alice", "bob", "bob"])
    bell = Doorbell(address=lambda host: next(names))
    alice, bob = await connect(bell.server), await connect(bell.server)
    for host in (alice, bob):
        await host.open(OFFER, update={"enabled": ["bell"]})
        await host.settle()
    for_bob = await bell.outbox.push("bell", "1", to="bob")
    for_alice = await bell.outbox.push("bell", "1", to="alice")
    waits = await bell.outbox.push("bell", "1", to="carol")
    for_all = await bell.outbox.push("bell", "1")
    assert await pushed(alice) == for_alice
    assert {await pushed(bob), await pushed(bob)} == {for_bob, for_all}  # bob came last
    newest = await connect(bell.server)
    await newest.open(OFFER, update={"enabled": ["bell"]})
    await newest.settle()
    later = await bell.outbox.push("bell", "2", to="bob")
    assert await pushed(newest) == later
    await newest.settle()
    assert bell.outbox.pending == 1
    assert waits not in {one["eventId"] for one in alice.params_of("push/event")}


@against_raw_host(quick=("memory", "http"))
async def test_messages_are_delivered_in_the_order_of_their_channel(connect: ConnectHost) -> None:
    bell = Doorbell()
    await bell.outbox.incoming(*[message(room, number) for room in "ab" for number in range(3)])
    host = await connect(bell.server)
    await host.open(CHAT, update={"enabled": ["bell"]})
    register = await host.expect("channels/register")
    assert host.params_of("channels/incoming") == []
    await host.answer(register, {})
    refusals = {
        "a1": {"accepted": False, "reason": "the host failed: send it again"},
        "b1": {"accepted": False, "reason": "spam"},
    }
    seen = []
    for _ in range(7):
        request = await host.expect("channels/incoming")
        (one,) = request["params"]["messages"]
        seen.append(one["messageId"])
        outcome = {"messageId": one["messageId"], **refusals.pop(seen[-1], {"accepted": True})}
        await host.answer(request, {"results": [outcome]})
    await bell.outbox.drain()
    assert [id for id in seen if id[0] == "a"] == ["a0", "a1", "a1", "a2"]
    assert [id for id in seen if id[0] == "b"] == ["b0", "b1", "b2"]
    assert [(one.item, one.reason) for one in bell.refused] == [(message("b", 1), "spam")]


@against_raw_host
async def test_messages_wait_while_no_enabled_set_may_observe_the_channel(
    connect: ConnectHost,
) -> None:
    bell = Doorbell()
    host = await connect(bell.server)
    host.answers["channels/register"] = {}
    await host.open(CHAT, update={"enabled": ["bell"]})
    await bell.live.change(added={"watch": feature("channels.observe", scoped=True)})
    await bell.outbox.incoming(message("a", 1), message("b", 1))
    await host.settle()
    assert host.params_of("channels/incoming") == []
    scopes = {"watch": {"blacklist": ["chat:a"]}}
    await host.notify("featureSets/update", {"enabled": ["watch"], "scopes": scopes})
    assert await brought(host) == "b1"
    await host.settle()
    assert bell.outbox.pending == 1
    assert bell.refused == []


@against_raw_host
async def test_an_outcome_for_no_message_counts_as_a_failure(connect: ConnectHost) -> None:
    bell = Doorbell(attempts=2)
    host = await connect(bell.server)
    host.answers |= {"channels/register": {}, "channels/incoming": {"results": []}}
    await host.open(CHAT, update={"enabled": ["bell"]})
    await bell.outbox.incoming(message("a", 1))
    await bell.outbox.drain()
    assert [one.reason for one in bell.refused] == [
        "channels/incoming#/results: expected 1 outcome, got 0"
    ]


@against_raw_host
async def test_events_of_a_removed_feature_set_are_refused(connect: ConnectHost) -> None:
    bell = Doorbell()
    host = await connect(bell.server)
    await host.open(OFFER, update={"disabled": ["bell"]})
    await bell.outbox.push("bell", "waits")
    await host.settle()
    await bell.live.change(removed=["bell"])
    await bell.outbox.drain()
    assert [one.reason for one in bell.refused] == ["the server no longer has the feature set"]


@against_raw_host
async def test_the_outbox_makes_producers_wait_when_it_is_full(connect: ConnectHost) -> None:
    bell = Doorbell(limit=2)
    for number in range(2):
        await bell.outbox.push("bell", str(number))
    with anyio.move_on_after(0.01) as waiting:
        await bell.outbox.push("bell", "no room")
    assert waiting.cancelled_caught
    await bell.outbox.push("other", "has room")
    host = await connect(bell.server)
    host.answers["push/event"] = {"accepted": True}
    await host.open(OFFER, update={"enabled": ["bell", "other"]})
    await bell.outbox.push("bell", "now")
    await bell.outbox.drain()
    assert len(host.params_of("push/event")) == 4


@pytest.mark.anyio
async def test_sets_that_cannot_push_are_refused_at_once() -> None:
    live = McplServer(feature_sets={"notes": feature("tools")})
    outbox = Outbox(live)
    for name in ("notes", "nosuch"):
        with pytest.raises(ValueError, match=r"^Outbox\.push: expected a feature set .* got 'no"):
            await outbox.push(name, "x")
    wrong: Any = "chat:a"
    with pytest.raises(TypeError, match=r"IncomingMessage"):
        await outbox.incoming(wrong)
    with pytest.raises(TypeError, match=r"^Outbox\.live: expected an McplServer"):
        Outbox(Server("bell", "1"))  # type: ignore[arg-type]


@pytest.mark.parametrize("damaged", [None, {"method": "push/event", "to": 1, "item": {}}, {}])
@against_raw_host
async def test_a_recorded_item_that_cannot_be_read_stops_no_other(
    connect: ConnectHost, damaged: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_store("memory:") as store:
        records = await store.records("outbox")
        place = f"outbox/{1:016d}"
        await records.put(place, {"key": '["push/event", null, "bell"]', "value": damaged})
        bell = Doorbell(records=records)
        host = await connect(bell.server)
        await host.open(OFFER, update={"enabled": ["bell"]})
        id = await bell.outbox.push("bell", "next")
        assert await pushed(host) == id
        await bell.outbox.drain()
        assert [one.key async for one in records.scan("outbox/")] == []
    assert "cannot be read, and is removed" in caplog.text
