"""A client of events before raw servers: what it asks, what it reads, and how it goes on."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from kinwire import (
    CapabilityNotNegotiatedError,
    Host,
    ProtocolVersionError,
    Server,
    ShapeError,
)
from kinwire.mcpe import ArrivedEvents, McpeClient
from kinwire_protocols import mcpe
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.tool_methods import ToolFailedError
from tests.runtime.mcpe.client.fixtures_clients import ID, TOKEN, connected, read
from tests.runtime.mcpe.raw_server import CAPABILITY, EVENT, RawServer, structured
from tests.runtime.raw_end import Json

pytestmark = pytest.mark.anyio


@pytest.mark.spec("mcpe-12.2-2", "mcpe-12.2-3", "mcpe-1-1")
async def test_a_subscription_is_made_read_and_ended_with_its_block() -> None:
    events, raw = McpeClient(), RawServer()
    raw.behind = [{}]
    async with connected(events, raw) as connection:
        async with events.subscribe(
            connection,
            ["github.*"],
            tags=["main"],
            priority=["high"],
            expires_at="2099-01-01T00:00:00Z",
        ) as subscription:
            raw.event(ID)
            raw.event("another", {**EVENT, "type": "slack.message"})
            raw.say(
                method="events/batch",
                params={"subscriptionId": ID, "events": [EVENT, {**EVENT, "type": "github.x"}]},
            )
            found = await read(subscription, 4)
            event = mcpe.MCPEvent.model_validate(EVENT, by_alias=True)
            raw.event(ID)
            assert await anext(subscription) == event
        assert [one["arguments"] for one in raw.calls("unsubscribe")] == [{"subscriptionId": ID}]
    (offer,) = raw.of("initialize")
    assert offer["capabilities"]["experimental"] == {
        "mcpe": {"protocolVersion": "2025-01-01", "protocolName": "mcpe"}
    }
    assert [one["arguments"] for one in raw.calls("subscribe")] == [
        {
            "filter": {"eventTypes": ["github.*"], "tags": ["main"], "priority": ["high"]},
            "delivery": {"channels": ["realtime"]},
            "expiresAt": "2099-01-01T00:00:00Z",
        }
    ]
    assert found == ["github.push", "github.push", "github.push", "github.x"]
    assert len(raw.calls("unsubscribe")) == 1


@pytest.mark.spec("mcpe-12.2-4", "mcpe-12.2-5")
async def test_batches_come_as_they_were_sent_and_expiry_ends_the_loop() -> None:
    events, raw = McpeClient(), RawServer()
    async with (
        connected(events, raw) as connection,
        events.subscribe(connection) as subscription,
    ):
        raw.event(ID)
        params = {"subscriptionId": ID, "events": [EVENT, EVENT]}
        raw.say(method="events/batch", params=params)
        at = "2025-01-15T10:30:00Z"
        raw.say(
            method="events/subscription_expired", params={"subscriptionId": ID, "expiredAt": at}
        )
        assert [len(batch) async for batch in subscription.batches()] == [1, 2]
        assert subscription.expired_at == at
    assert raw.calls("unsubscribe") == []


LACKING: list[tuple[Json, Json, str]] = [
    ({"delivery": {"supportedChannels": ["cron"]}}, {}, "delivery.supportedChannels"),
    (
        {"delivery": {"supportsMultiChannel": False}},
        {
            "delivery": mcpe.DeliveryPreferences(
                channels=["realtime", "cron"],
                cron_schedule=mcpe.CronSchedule(expression="@daily", timezone="UTC"),
            )
        },
        "delivery.supportsMultiChannel",
    ),
    ({"filters": {"supportsWildcardTypes": False}}, {}, "filters.supportsWildcardTypes"),
    ({"filters": {"supportsTagFiltering": False}}, {"tags": ["x"]}, "filters.supportsTagFiltering"),
    (
        {"filters": {"supportsPriorityFiltering": False}},
        {"priority": ["low"]},
        "filters.supportsPriorityFiltering",
    ),
    (
        {"subscriptions": {"supportsExpiration": False}},
        {"expires_at": "2099-01-01T00:00:00Z"},
        "subscriptions.supportsExpiration",
    ),
]


@pytest.mark.spec("mcpe-12.2-1")
async def test_what_the_server_does_not_offer_is_not_asked_of_it() -> None:
    for change, options, place in LACKING:
        changed = {name: {**CAPABILITY[name], **fields} for name, fields in change.items()}
        raw = RawServer({"experimental": {"mcpe": {**CAPABILITY, **changed}}})
        events = McpeClient()
        async with connected(events, raw) as connection:
            with pytest.raises(CapabilityNotNegotiatedError, match=place):
                async with events.subscribe(connection, ["github.*"], **options):
                    pass
        assert raw.of("tools/call") == []


async def test_pauses_are_asked_only_of_a_server_that_has_them() -> None:
    without = {**CAPABILITY["subscriptions"], "supportsPause": False}
    raw = RawServer({"experimental": {"mcpe": {**CAPABILITY, "subscriptions": without}}})
    events = McpeClient()
    async with connected(events, raw) as connection:
        for call in (events.of(connection).pause, events.of(connection).resume):
            with pytest.raises(CapabilityNotNegotiatedError, match="supportsPause"):
                await call(ID)


@pytest.mark.parametrize(
    ("capabilities", "error"),
    [
        ({"experimental": {"mcpe": {**CAPABILITY, "protocolVersion": "2031-01-01"}}}, "2031"),
        ({"mcpe": CAPABILITY}, None),
        ({"events": CAPABILITY}, None),
        ({}, None),
    ],
)
@pytest.mark.spec("mcpe-2.2-3", "mcpe-3.1-2")
async def test_a_server_is_known_by_its_capability_in_each_place_and_by_its_tools(
    capabilities: Json, error: str | None
) -> None:
    events, raw = McpeClient(), RawServer(capabilities)
    async with connected(events, raw) as connection:
        if error is not None:
            with pytest.raises(ProtocolVersionError, match=error):
                async with events.subscribe(connection):
                    pass
            return
        async with events.subscribe(connection) as subscription:
            raw.event(ID)
            assert await read(subscription, 1) == ["github.push"]


@pytest.mark.spec("mcpe-1.2-5", "mcpe-1.1-1")
async def test_a_server_without_events_is_refused_with_a_typed_error() -> None:
    events, raw = McpeClient(), RawServer({})
    raw.tools = ["other"]
    async with connected(events, raw) as connection:
        with pytest.raises(CapabilityNotNegotiatedError, match="the server has no events"):
            async with events.subscribe(connection):
                pass
    assert raw.of("tools/call") == []
    async with Host("desk", "1.0", extensions=[events]) as host:
        plain = await host.connect(Server("plain", "1.0"))
        with pytest.raises(CapabilityNotNegotiatedError, match="the server has no events"):
            async with events.subscribe(plain):
                pass


async def test_a_priority_that_there_is_not_is_refused_before_anything_is_sent() -> None:
    events, raw = McpeClient(), RawServer()
    async with connected(events, raw) as connection:
        with pytest.raises(ValueError, match=r"priority\[0\]: expected 'low', .* got 'urgent'"):
            events.subscribe(connection, priority=["urgent"])


async def test_a_status_is_checked_here_and_by_the_server() -> None:
    problem = {"error": {"code": -32602, "message": "events_list#/status: no"}}
    events, raw = McpeClient(), RawServer(events_list=structured(problem, isError=True))
    async with connected(events, raw) as connection:
        server: Any = events.of(connection)
        for wrong in ("nope", 3, ""):
            with pytest.raises(ValueError, match="status: expected 'active', 'paused' or"):
                await server.list(wrong)
        assert raw.calls("list") == []
        with pytest.raises(InvalidParamsError):
            await server.list("paused")


REFUSED: list[tuple[Json, type[Exception]]] = [
    (
        structured({"error": {"code": -32002, "message": "full"}}, isError=True),
        mcpe.SubscriptionLimitReachedError,
    ),
    (
        structured({"error": {"code": -32004, "message": "no"}}, isError=True),
        mcpe.UnauthorizedError,
    ),
    ({"content": [{"type": "text", "text": "Too many"}], "isError": True}, ToolFailedError),
    (structured({"nothing": True}), ShapeError),
    ({"content": []}, ShapeError),
]


async def test_errors_of_a_server_are_typed() -> None:
    for answer, error in REFUSED:
        events, raw = McpeClient(), RawServer(events_subscribe=answer)
        async with connected(events, raw) as connection:
            with pytest.raises(error):
                async with events.subscribe(connection):
                    pass
        assert raw.calls("unsubscribe") == []


async def test_the_operations_are_called_as_the_specification_has_them() -> None:
    made = {
        "id": ID,
        "clientId": "c",
        "filter": {},
        "delivery": {"channels": ["realtime"]},
        "status": "paused",
        "createdAt": "2025-01-15T10:00:00Z",
        "updatedAt": "2025-01-15T10:00:00Z",
    }
    raw = RawServer(
        events_pause=structured({"success": True, "status": "paused"}),
        events_resume=structured({"success": True, "status": "active"}),
        events_update=structured(made),
        events_unsubscribe=structured({"success": False}),
    )
    events = McpeClient()
    async with connected(events, raw) as connection:
        server = events.of(connection)
        await server.pause(ID)
        await server.resume(ID)
        updates = mcpe.UpdateSubscriptionRequest(status="paused", expires_at=None)
        assert (await server.update(ID, updates)).status == "paused"
        wrong: Any = {"status": "paused"}
        with pytest.raises(TypeError, match=r"updates: expected UpdateSubscriptionRequest, got a"):
            await server.update(ID, wrong)
        raw.subscriptions = [made]
        assert [one.id for one in await server.list("paused")] == [ID]
        with pytest.raises(mcpe.SubscriptionNotFoundError):
            await server.unsubscribe(ID)
    calls = [(one["name"], one["arguments"]) for one in raw.of("tools/call")]
    assert calls == [
        ("events_pause", {"subscriptionId": ID}),
        ("events_resume", {"subscriptionId": ID}),
        (
            "events_update",
            {"subscriptionId": ID, "updates": {"status": "paused", "expiresAt": None}},
        ),
        ("events_list", {"status": "paused"}),
        ("events_unsubscribe", {"subscriptionId": ID}),
    ]


async def test_wrapped_notifications_are_read_and_log_messages_still_come() -> None:
    logs: list[Any] = []
    events, raw = McpeClient(), RawServer()
    async with Host("desk", "1", extensions=[events]) as host:
        connection = await host.connect(raw, on_log=logs.append)
        async with events.subscribe(connection) as subscription:
            inner = {"subscriptionId": ID, "event": EVENT}
            wrapped = {"method": "events/event", "params": inner}
            raw.say(method="notifications/message", params=wrapped)
            raw.say(method="notifications/message", params={"method": "events/event"})
            raw.say(method="notifications/message", params={"level": "info", "data": "hello"})
            raw.event(ID, {**EVENT, "type": "a.b"})
            assert await read(subscription, 2) == ["github.push", "a.b"]
    assert [one.data for one in logs] == ["hello"]


async def test_a_delivery_that_is_repeated_is_handed_on_once() -> None:
    events, raw = McpeClient(), RawServer()
    async with (
        connected(events, raw) as connection,
        events.subscribe(connection) as subscription,
    ):
        for id in ("1", "1", "2"):
            meta = {"mcpe/deliveryId": id}
            params = {"subscriptionId": ID, "events": [EVENT], "_meta": meta}
            raw.say(method="events/batch", params=params)
        raw.event(ID, {**EVENT, "type": "a.last"}, _meta={"mcpe/dropped": 3})
        assert await read(subscription, 3) == ["github.push", "github.push", "a.last"]
        assert subscription.lost == 3


async def test_a_slow_reader_loses_the_oldest_and_knows_how_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kinwire.mcpe.client.subscription.QUEUED", 5)
    events, raw = McpeClient(), RawServer()
    async with (
        connected(events, raw) as connection,
        events.subscribe(connection) as subscription,
    ):
        for number in range(8):
            raw.event(ID, {**EVENT, "type": f"a.{number}"})
        await raw.settle()
        assert await read(subscription, 5) == [f"a.{number}" for number in range(3, 8)]
        assert subscription.lost == 3


async def test_deliveries_of_several_subscriptions_may_have_the_same_id() -> None:
    events, raw = McpeClient(), RawServer()
    async with (
        connected(events, raw) as connection,
        events.subscribe(connection) as one,
        events.subscribe(connection) as other,
    ):
        for _ in range(2):
            for id in (one.id, other.id):
                raw.event(id, _meta={"mcpe/deliveryId": "1"})
                raw.event(id, _meta={"mcpe/deliveryId": "x" * 100_000})  # not remembered
        await raw.settle()
        for subscription in (one, other):
            raw.event(subscription.id, {**EVENT, "type": "a.last"})
            assert await read(subscription, 4) == [*["github.push"] * 3, "a.last"]


async def test_events_are_dropped_if_batches_wait_that_have_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kinwire.mcpe.client.subscription.QUEUED_EVENTS", 5)
    events, raw = McpeClient(), RawServer()
    raw.behind = [{}] * 7  # before anybody reads
    async with (
        connected(events, raw) as connection,
        events.subscribe(connection) as subscription,
    ):
        assert subscription.lost == 2
        await read(subscription, 5)
        for size in (3, 1, 4):
            params = {"subscriptionId": ID, "events": [{**EVENT, "type": f"a.{size}"}] * size}
            raw.say(method="events/batch", params=params)
        await raw.settle()
        assert subscription.lost == 2 + 3
        assert await read(subscription, 5) == ["a.1", *["a.4"] * 4]


async def test_an_event_that_is_wrong_costs_no_other_one_and_is_counted() -> None:
    events, raw = McpeClient(), RawServer()
    wrong: list[Any] = [{**EVENT, "metadata": 7}, "text", None, {}]
    async with (
        connected(events, raw) as connection,
        events.subscribe(connection) as subscription,
    ):
        batch = {"subscriptionId": ID, "events": [*wrong, {**EVENT, "type": "a.right"}]}
        raw.say(method="events/batch", params=batch)
        raw.say(method="events/batch", params={"subscriptionId": ID, "events": wrong})
        raw.event(ID, wrong[0])
        inner = {"method": "events/event", "params": {"subscriptionId": ID, "event": wrong[0]}}
        raw.say(method="notifications/message", params=inner)
        raw.event(ID, {**EVENT, "type": "a.last"})
        await raw.settle()
        async with aclosing(subscription.batches()) as batches:
            types = [[one.type for one in await anext(batches)] for _ in range(2)]
        assert types == [["a.right"], ["a.last"]]
        assert subscription.lost == 4 + 4 + 1 + 1


async def test_events_that_wait_have_a_limit_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kinwire.mcpe.client.subscription.QUEUED_BYTES", 10_000)
    events, raw = McpeClient(), RawServer()
    raw.behind = [{"event": {**EVENT, "data": {"text": "x" * 4_000}}}] * 5  # before anybody reads
    async with (
        connected(events, raw) as connection,
        events.subscribe(connection) as subscription,
    ):
        assert subscription.lost == 3
        await read(subscription, 2)
        for name in "abcd":
            raw.event(ID, {**EVENT, "type": f"a.{name}", "data": {"text": "é" * 2_200}})
        await raw.settle()
        assert subscription.lost == 3 + 2
        assert await read(subscription, 2) == ["a.c", "a.d"]


async def test_a_second_reader_of_a_subscription_ends_the_loop_of_the_first() -> None:
    events, raw = McpeClient(), RawServer()
    async with (
        connected(events, raw) as connection,
        events.subscribe(connection) as subscription,
        events.read(connection, subscription.message) as second,
    ):
        async with events.read(connection, subscription.message) as third:
            raw.event(ID)
            with anyio.fail_after(1):
                assert [event async for event in subscription] == []
                assert [event async for event in second] == []
            assert await read(third, 1) == ["github.push"]
        async with events.read(connection, subscription.message) as fourth:
            subscription.end()
            raw.event(ID)
            assert await read(fourth, 1) == ["github.push"]


async def test_what_a_model_subscribes_to_is_heard_and_ended_with_the_connection() -> None:
    heard: list[ArrivedEvents] = []
    events, raw = McpeClient(on_events=heard.append), RawServer()
    raw.token = "secret-token"
    async with connected(events, raw) as connection:
        arguments = {"filter": {}, "delivery": {"channels": ["realtime"]}}
        await connection.mcp.tools_call(name="events_subscribe", arguments=arguments)
        raw.event(ID)
        await raw.settle()
        await connection.mcp.tools_call(name="events_list", arguments={})
        await connection.aclose()
    assert [(one.subscription_id, len(one.events)) for one in heard] == [(ID, 1)]
    assert raw.calls("list")[0]["_meta"] == {TOKEN: "secret-token"}
    assert [one["arguments"] for one in raw.calls("unsubscribe")] == [{"subscriptionId": ID}]


async def test_subscriptions_are_kept_if_the_program_says_so() -> None:
    events, raw = McpeClient(keep_subscriptions=True), RawServer()
    async with connected(events, raw) as connection:
        async with events.subscribe(connection) as subscription:
            pass
        found = subscription.message
        async with events.read(connection, found) as again:
            raw.event(ID)
            assert await read(again, 1) == ["github.push"]
    assert raw.calls("unsubscribe") == []


async def test_the_dialect_of_a_known_server_is_read() -> None:
    def text(value: Json) -> Json:
        return {"content": [{"type": "text", "text": json.dumps(value)}]}

    short = {"subscriptionId": "s-1", "status": "active", "createdAt": "2025-01-15T10:00:00Z"}
    raw = RawServer(
        {"tools": {"listChanged": True}},
        events_subscribe=text({**short, "expiresAt": None} | {"expiresAt": "2099-01-01T00:00:00Z"}),
        events_list=text({"subscriptions": [short]}),
        events_pause=text({"subscriptionId": "s-1", "status": "paused"}),
        events_resume=text({"subscriptionId": "s-1", "status": "active"}),
        events_update=text({"subscriptionId": "s-1", "status": "paused"}),
        events_unsubscribe=text({"success": False}),
    )
    events = McpeClient()
    async with (
        connected(events, raw) as connection,
        events.subscribe(connection, ["github.*"]) as subscription,
    ):
        assert subscription.id == "s-1"
        assert subscription.message.filter.event_types == ["github.*"]
        await subscription.pause()
        await subscription.resume()
        made = await subscription.update(mcpe.UpdateSubscriptionRequest(status="paused"))
        assert made.status == "paused"
        assert [one.id for one in await events.of(connection).list()] == ["s-1"]
        raw.event("s-1")
        raw.say(method="events/subscription_expired", params={"subscriptionId": "s-1"})
        assert [one.type async for one in subscription] == ["github.push"]
        assert subscription.expired_at is not None
    (update,) = raw.calls("update")
    assert update["arguments"] == {
        "subscriptionId": "s-1",
        "updates": {"status": "paused"},
        "status": "paused",
    }


async def test_wrong_arguments_are_named() -> None:
    wrong: Any = object()
    async with Host("desk", "1") as host:
        plain = await host.connect(RawServer({}))
        events = McpeClient()
        with pytest.raises(TypeError, match="a host that has this one"):
            events.of(plain)
        for call in (lambda: events.of(wrong), lambda: events.subscribe(plain, "a.b")):
            with pytest.raises(TypeError):
                call()
    with pytest.raises(ValueError, match="reconnect_within"):
        McpeClient(reconnect_within=-1)
