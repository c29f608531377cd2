"""The six tools before raw clients: what they answer, and how they refuse."""

from __future__ import annotations

import json
import re
from typing import Any
from unittest.mock import patch

import anyio
import pytest

from kinwire import Server
from kinwire.mcpe import (
    EventDeclaration,
    EventFeatures,
    EventHandlers,
    EventRates,
    EventTerms,
    McpeServer,
    new_event,
)
from kinwire.support.background import background
from kinwire_protocols.mcpe.models import Subscription
from tests.runtime.mcpe.fixtures_server import START, StoppedClock, serving
from tests.runtime.mcpe.raw_client import OFFER, SUBSCRIPTION, Json, RawClient, said, subscription

pytestmark = pytest.mark.anyio

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
NOBODY = "00000000-0000-4000-8000-000000000000"
TOOLS = ["subscribe", "unsubscribe", "list", "pause", "resume", "update"]


@pytest.mark.spec("mcpe-12.1-1", "mcpe-12.1-3", "mcpe-1.3-4")
async def test_every_client_sees_the_capability_object_and_the_tools() -> None:
    for offer in (OFFER, {}, {"experimental": {"mcpe": {"protocolVersion": "1999-01-01"}}}):
        events, raw = McpeServer(features=EventFeatures(max_active=7)), RawClient()
        async with serving(events, raw, capabilities={}) as server:
            other = RawClient()
            async with background() as tasks:
                tasks.start_soon(server.serve, other)
                shown = (await other.greet(offer))["experimental"]["mcpe"]
                listed = (await other.ask("list", "tools/list"))["result"]["tools"]
                made = await other.subscribe("github.*")
                await events.publish(new_event("github.push"))
                await other.settle()
                tasks.cancel_scope.cancel()
        assert shown == {
            "protocolVersion": "2025-01-01",
            "protocolName": "mcpe",
            "serverInfo": {"name": "s", "version": "1"},
            "subscriptions": {
                "maxActive": 7,
                "maxFiltersPerSubscription": 100,
                "supportsPause": True,
                "supportsExpiration": True,
                "supportsBatching": True,
            },
            "filters": {
                "supportsWildcardTypes": True,
                "supportsTagFiltering": True,
                "supportsPriorityFiltering": True,
            },
            "delivery": {
                "supportedChannels": ["realtime", "cron", "scheduled"],
                "supportedPriorities": ["normal"],
                "supportsMultiChannel": True,
            },
            "scheduling": {
                "cronEnabled": True,
                "scheduledEnabled": True,
                "cronPresets": ["@hourly", "@daily", "@weekly", "@monthly"],
            },
        }
        assert [one["name"] for one in listed] == [f"events_{name}" for name in TOOLS]
        assert [one["subscriptionId"] for one in other.of("events/event")] == [made["id"]]


@pytest.mark.spec("mcpe-1.2-2", "mcpe-6.1-1", "mcpe-6.6-1")
async def test_a_subscription_is_made_listed_changed_paused_resumed_and_removed() -> None:
    clock, raw = StoppedClock(), RawClient()
    async with serving(McpeServer(clock=clock), raw):
        made = await raw.subscribe("github.*", expiresAt="2026-02-01T00:00:00Z")
        id = made["id"]
        assert UUID4.fullmatch(id)
        assert made == {
            "id": id,
            "subscriptionId": id,
            "clientId": made["clientId"],
            **SUBSCRIPTION,
            "status": "active",
            "createdAt": "2026-01-01T00:00:00.000Z",
            "updatedAt": "2026-01-01T00:00:00.000Z",
            "expiresAt": "2026-02-01T00:00:00Z",
        }
        clock.now += 1
        paused, again = [said(await raw.call("events_pause", subscriptionId=id)) for _ in range(2)]
        listed = said(await raw.call("events_list", status="paused"))
        others = said(await raw.call("events_list", status="active"))
        resumed = said(await raw.call("events_resume", subscriptionId=id))
        nested = {"filter": {"tags": ["main"]}, "expiresAt": None}
        changed = said(await raw.call("events_update", subscriptionId=id, updates=nested))
        flat = said(await raw.call("events_update", subscriptionId=id, status="paused"))
        gone = await raw.call("events_unsubscribe", subscriptionId=id)
        left = await raw.call("events_list")
    assert paused == again == {"success": True, "status": "paused", "subscriptionId": id}
    later = {"updatedAt": "2026-01-01T00:00:01.000Z"}
    assert listed == {"subscriptions": [{**made, "status": "paused", **later}]}
    assert others == {"subscriptions": []}
    assert resumed == {"success": True, "status": "active", "subscriptionId": id}
    del made["expiresAt"]
    assert changed == {**made, **later, "filter": {"tags": ["main"]}}
    assert flat == {**changed, "status": "paused"}
    assert (said(gone), said(left)) == ({"success": True}, {"subscriptions": []})


def once(at: str = "2026-01-02T00:00:00Z", **more: Any) -> Json:
    return {"deliverAt": at, "timezone": "UTC", **more}


def cron(expression: str = "0 9 * * *", timezone: str = "UTC") -> Json:
    return {"expression": expression, "timezone": timezone}


WRONG: list[tuple[Json, str]] = [
    ({"filter": None}, "/filter"),
    ({"delivery": None}, "/delivery"),
    ({"filter": {"eventTypes": ["*.push"]}}, "/filter/eventTypes/0"),
    ({"filter": {"eventTypes": "github"}}, "/filter/eventTypes"),
    ({"filter": {"eventTypes": ["a.b", "git*hub"]}}, "/filter/eventTypes/1"),
    ({"filter": {"priority": ["urgent"]}}, "/filter/priority/0"),
    ({"filter": {"tags": ["x"] * 101}}, "/filter"),
    ({"delivery": {"channels": []}}, "/delivery/channels"),
    ({"delivery": {"channels": ["pigeon"]}}, "/delivery/channels/0"),
    ({"delivery": {"channels": ["realtime", "realtime"]}}, "/delivery/channels/1"),
    ({"delivery": {"channels": ["cron"]}}, "/delivery/cronSchedule"),
    ({"delivery": {"channels": ["scheduled"]}}, "/delivery/scheduledDelivery"),
    (
        {"delivery": {"channels": ["cron"], "cronSchedule": cron(timezone="Mars/Base")}},
        "/delivery/cronSchedule/timezone",
    ),
    (
        {"delivery": {"channels": ["scheduled"], "scheduledDelivery": once("tomorrow")}},
        "/delivery/scheduledDelivery/deliverAt",
    ),
    ({"expiresAt": "2025-12-31T23:59:59Z"}, "/expiresAt"),
    ({"expiresAt": "soon"}, "/expiresAt"),
    ({"handler": {"type": "agent"}}, "/handler"),
    ({"handler": {"type": "carrier"}}, "/handler"),
]


@pytest.mark.parametrize("strict", [False, True])
async def test_input_that_does_not_fit_is_refused_with_its_place(strict: bool) -> None:
    raw = RawClient()
    async with serving(McpeServer(clock=StoppedClock(), strict=strict), raw):
        for fields, pointer in WRONG:
            given = {**SUBSCRIPTION, **fields}
            given = {name: one for name, one in given.items() if one is not None}
            result = await raw.call("events_subscribe", **given)
            error = result if strict else said(result)["error"]
            places = [one["pointer"] for one in error["data"]["problems"]]
            assert (error["code"], places[:1]) == (-32602, [pointer]), (fields, error)
        assert said(await raw.call("events_list")) == {"subscriptions": []}


FEATURES: list[tuple[Json, Json, str]] = [
    ({"max_filters": 1}, {"filter": {"eventTypes": ["a.b", "c.d"]}}, "/filter"),
    ({"wildcard_types": False}, {}, "/filter/eventTypes/0"),
    ({"tags": False}, {"filter": {"tags": ["x"]}}, "/filter/tags"),
    ({"priorities": False}, {"filter": {"priority": ["low"]}}, "/filter/priority"),
    ({"expiration": False}, {"expiresAt": "2026-02-01T00:00:00Z"}, "/expiresAt"),
    ({"channels": ("cron",)}, {}, "/delivery/channels/0"),
    (
        {"multi_channel": False},
        {"delivery": {"channels": ["realtime", "cron"], "cronSchedule": cron()}},
        "/delivery/channels",
    ),
    (
        {"timezones": ("Europe/London",)},
        {"delivery": {"channels": ["cron"], "cronSchedule": cron()}},
        "/delivery/cronSchedule/timezone",
    ),
    (
        {"cron_presets": {"@nightly": "0 3 * * *"}},
        {"delivery": {"channels": ["cron"], "cronSchedule": cron("@daily")}},
        "/delivery/cronSchedule/expression",
    ),
]


@pytest.mark.spec("mcpe-3-1", "mcpe-12-1")
async def test_what_the_capability_object_leaves_out_is_refused() -> None:
    for features, fields, pointer in FEATURES:
        raw = RawClient()
        events = McpeServer(features=EventFeatures(**features), clock=StoppedClock())
        async with serving(events, raw):
            code, data = await raw.refused("events_subscribe", **{**SUBSCRIPTION, **fields})
        assert (code, data["problems"][0]["pointer"]) == (-32602, pointer), features


async def test_a_server_without_pauses_refuses_them() -> None:
    raw = RawClient()
    async with serving(McpeServer(features=EventFeatures(pause=False)), raw):
        id = (await raw.subscribe("a.b"))["id"]
        answers = [
            await raw.refused("events_pause", subscriptionId=id),
            await raw.refused("events_resume", subscriptionId=id),
            await raw.refused("events_update", subscriptionId=id, updates={"status": "paused"}),
        ]
    places = ["/subscriptionId", "/subscriptionId", "/updates/status"]
    assert [(code, data["problems"][0]["pointer"]) for code, data in answers] == [
        (-32602, place) for place in places
    ]


@pytest.mark.spec("mcpe-5.5-1", "mcpe-5.5-3", "mcpe-6.1-7")
async def test_limits_of_a_client_hold_also_for_what_is_resumed_or_scheduled() -> None:
    features = EventFeatures(max_active=2, max_scheduled=1)
    scheduled = {"delivery": {"channels": ["scheduled"], "scheduledDelivery": once()}}
    raw, other = RawClient(), RawClient()
    async with serving(McpeServer(features=features, clock=StoppedClock()), raw, other):
        first = await raw.subscribe("a.b", **scheduled)
        second_schedule = await raw.refused("events_subscribe", **subscription("a.b", **scheduled))
        await raw.subscribe("a.b")
        full = await raw.refused("events_subscribe", **subscription("a.b"))
        await other.subscribe("a.b")
        await raw.call("events_pause", subscriptionId=first["id"])
        await raw.subscribe("c.d")
        resumed = await raw.refused("events_resume", subscriptionId=first["id"])
        status = {"status": "active"}
        updated = await raw.refused("events_update", subscriptionId=first["id"], updates=status)
        listed = said(await raw.call("events_list"))["subscriptions"]
    own = {"protocol": "mcpe", "name": "SubscriptionLimitReached"}
    assert full == resumed == updated == (-32002, {"maxActive": 2, **own})
    assert second_schedule == (-32002, {"maxScheduledPerClient": 1, **own})
    assert [one["status"] for one in listed] == ["paused", "active", "active"]


async def test_a_subscription_costs_the_same_however_many_the_client_has() -> None:
    raw, looked = RawClient(), list[object]()

    def look(one: Subscription) -> bool:
        looked.append(one)
        return False

    events = McpeServer(
        features=EventFeatures(max_active=1000, max_scheduled=1000),
        rates=EventRates(subscriptions=None),
    )
    async with serving(events, raw):
        with patch("kinwire.mcpe.rules.subscriptions._is_scheduled", look):
            for _ in range(60):
                id = (await raw.subscribe("a.*"))["id"]
                await raw.call("events_pause", subscriptionId=id)
                await raw.call("events_resume", subscriptionId=id)
    assert len(looked) < 60 * 20


async def refused_by(raw: RawClient, tool: str, id: str) -> tuple[int, Json]:
    updates: Json = {"updates": {}} if tool == "update" else {}
    return await raw.refused(f"events_{tool}", subscriptionId=id, **updates)


@pytest.mark.spec("mcpe-6.2-4", "mcpe-6.4-4", "mcpe-6.5-4")
async def test_a_subscription_of_nobody_or_of_another_client_is_not_found() -> None:
    raw, other = RawClient(), RawClient()
    async with serving(McpeServer(), raw, other):
        theirs = (await other.subscribe("a.b"))["id"]
        for id in (NOBODY, theirs):
            named = {"protocol": "mcpe", "name": "SubscriptionNotFound"}
            for tool in ("unsubscribe", "pause", "resume"):
                answer = await refused_by(raw, tool, id)
                assert answer == (-32001, {"subscriptionId": id, **named})


@pytest.mark.spec("mcpe-6.3-1", "mcpe-6.6-5", "mcpe-5-1")
async def test_a_client_sees_and_changes_only_its_own_subscriptions() -> None:
    raw, other = RawClient(), RawClient()
    async with serving(McpeServer(), raw, other):
        theirs = await other.subscribe("a.b")
        own = await raw.subscribe("a.b")
        assert (await refused_by(raw, "update", theirs["id"]))[0] == -32001
        listed = [said(await one.call("events_list")) for one in (raw, other)]
    assert listed == [{"subscriptions": [own]}, {"subscriptions": [theirs]}]


@pytest.mark.spec("mcpe-1.3-1")
async def test_the_rest_of_mcp_is_as_without_events() -> None:
    answers: list[list[Json]] = []
    for extensions in ([], [McpeServer()]):
        server, raw = Server("s", "1", extensions=extensions), RawClient()

        @server.tool
        async def add(a: int, b: int) -> int:
            """Add."""
            return a + b

        async with background() as tasks:
            tasks.start_soon(server.serve, raw)
            capabilities = await raw.greet({})
            capabilities.pop("experimental", None)
            listed = (await raw.ask("list", "tools/list"))["result"]["tools"]
            others = [one for one in listed if not one["name"].startswith("events_")]
            answers.append([capabilities, *others, await raw.call("add", a=1, b=2)])
            tasks.cancel_scope.cancel()
    assert answers[0] == answers[1]


@pytest.mark.spec("mcpe-2-1")
async def test_b033_what_comes_before_initialize_is_refused_with_the_error_of_mcpe() -> None:
    raw = RawClient()
    server = Server("s", "1", extensions=[McpeServer()])
    async with background() as tasks:
        tasks.start_soon(server.serve, raw)
        params = {"name": "events_list", "arguments": {}}
        early = [await raw.ask(1, "tools/list"), await raw.ask(2, "tools/call", params)]
        await raw.greet()
        assert said(await raw.call("events_list")) == {"subscriptions": []}
        tasks.cancel_scope.cancel()
    for reply in early:
        assert reply["error"]["code"] == -32000
        assert reply["error"]["data"] == {"protocol": "mcpe", "name": "NotInitialized"}


async def test_a_lenient_server_fills_in_what_is_left_out() -> None:
    raw = RawClient()
    async with serving(McpeServer(lenient=True), raw):
        made = said(await raw.call("events_subscribe"))
    assert (made["filter"], made["delivery"]) == ({}, {"channels": ["realtime"]})


async def test_models_read_of_the_types_that_a_server_declares() -> None:
    declared = EventDeclaration(
        "github.push",
        "Commits were pushed.",
        data_schema={"type": "object", "properties": {"branch": {"type": "string"}}},
        example={"branch": "main"},
    )
    plain = EventDeclaration("slack.*", "Something happened in a channel.")
    raw = RawClient()
    async with serving(McpeServer([declared, plain]), raw):
        listed = (await raw.ask("list", "tools/list"))["result"]["tools"]
        resources = (await raw.ask("all", "resources/list"))["result"]["resources"]
        read = (await raw.ask("one", "resources/read", {"uri": resources[0]["uri"]}))["result"]
        met = await raw.call("events_subscribe", **subscription("github.*", "slack.message"))
        typo = await raw.call("events_subscribe", **subscription("githb.push"))
    text = listed[0]["description"]
    assert "github.push: Commits were pushed." in text
    assert "slack.*: Something happened" in text
    assert resources[0]["uri"] in text
    assert json.loads(read["contents"][0]["text"]) == {
        "eventTypes": [
            {
                "type": "github.push",
                "description": "Commits were pushed.",
                "dataSchema": declared.data_schema,
                "example": {"branch": "main"},
            },
            {"type": "slack.*", "description": "Something happened in a channel."},
        ]
    }
    assert len(met["content"]) == 1
    assert said(typo)["status"] == "active"
    assert "Did you mean github.push?" in typo["content"][1]["text"]


async def test_models_read_what_their_subscription_does_not_use() -> None:
    raw = RawClient()
    cron = {"expression": "@daily", "timezone": "UTC", "timezon": "UTC"}
    declared = [EventDeclaration("github.push", "Commits were pushed.")]
    async with serving(McpeServer(declared), raw):
        made = await raw.call(
            "events_subscribe",
            filter={"eventType": ["github.push"], "zz" * 50: 1},
            delivery={"channels": ["realtime"], "cronSchedule": cron},
        )
        updates = {"filter": {"eventTypes": ["githb.push"], "tag": ["main"]}}
        id = said(made)["id"]
        changed = await raw.call("events_update", subscriptionId=id, updates=updates)
        many = {"channels": ["realtime"], **{f"field{one}": one for one in range(50)}}
        most = await raw.call("events_subscribe", filter={}, delivery=many)
    assert [one["text"] for one in made["content"][1:]] == [
        "/filter/eventType has no effect: there is no such field. Did you mean eventTypes?",
        f"/filter/{'z' * 60} has no effect: there is no such field.",
        "/delivery/cronSchedule has no effect: cron is not one of the channels.",
        "/delivery/cronSchedule/timezon has no effect: there is no such field. "
        "Did you mean timezone?",
    ]
    assert [one["text"] for one in changed["content"][1:]] == [
        "No event type that this server has declared fits 'githb.push'. Did you mean github.push?",
        "/updates/filter/tag has no effect: there is no such field. Did you mean tags?",
    ]
    assert len(most["content"]) == 1 + 5


async def test_models_read_how_a_server_delivers_before_they_subscribe() -> None:
    realtime = EventFeatures(channels=("realtime",))
    texts: list[str] = []
    for events in (McpeServer(features=realtime), McpeServer(handlers=EventHandlers())):
        raw = RawClient()
        async with serving(events, raw):
            listed = (await raw.ask("list", "tools/list"))["result"]["tools"]
        texts.append(listed[0]["description"])
    assert "They come to the client as notifications." in texts[0]
    assert "Channels of this server: realtime. It runs no handlers" in texts[0]
    assert texts[1].endswith("Channels of this server: realtime, cron, scheduled.")


def test_an_example_that_models_could_not_trust_is_refused() -> None:
    schema: Any = {"type": "object", "required": ["branch"]}
    wrong = EventDeclaration("github.push", "x", data_schema=schema, example={"brnch": "main"})
    with pytest.raises(ValueError, match=r"example of 'github.push' does not fit.*/branch"):
        McpeServer([wrong])


@pytest.mark.spec("mcpe-11.2-1", "mcpe-11-1")
async def test_a_hook_decides_which_types_a_client_may_subscribe_to() -> None:
    asked: list[tuple[str, str]] = []

    def authorize(client: Any, type: str) -> bool:
        asked.append((client.id, type))
        return type.startswith("github.")

    raw = RawClient()
    async with serving(McpeServer(terms=EventTerms(authorize=authorize)), raw):
        made = await raw.subscribe("github.*")
        all_types = await raw.refused("events_subscribe", **{**SUBSCRIPTION, "filter": {}})
        code, data = await raw.refused("events_subscribe", **subscription("github.x", "gmail.y"))
        update = {"filter": {"eventTypes": ["*"]}}
        changed = await raw.refused("events_update", subscriptionId=made["id"], updates=update)
    assert (code, data["pointer"], data["name"]) == (
        -32004,
        "/filter/eventTypes/1",
        "Unauthorized",
    )
    assert (all_types[0], all_types[1]["pointer"]) == (-32004, "/filter")
    assert changed[0] == -32004
    assert asked[0] == (made["clientId"], "github.*")


@pytest.mark.spec("mcpe-11.3-1")
async def test_a_client_that_subscribes_too_often_is_refused() -> None:
    raw = RawClient()
    async with serving(McpeServer(clock=StoppedClock()), raw):
        for _ in range(20):
            await raw.subscribe("a.b")
        code, data = await raw.refused("events_subscribe", **SUBSCRIPTION)
    assert (code, data["name"]) == (-32002, "SubscriptionLimitReached")


@pytest.mark.spec("mcpe-12.1-4")
async def test_calls_of_one_client_at_the_same_time_never_pass_the_limit() -> None:
    raw = RawClient()
    async with serving(McpeServer(features=EventFeatures(max_active=3)), raw):
        results: list[Json] = []

        async def subscribe() -> None:
            results.append(await raw.call("events_subscribe", **SUBSCRIPTION))

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(subscribe)
        assert len([one for one in results if "isError" not in one]) == 3
        assert len(said(await raw.call("events_list"))["subscriptions"]) == 3


async def test_what_has_expired_makes_room_and_the_server_has_a_limit_of_its_own() -> None:
    clock, raw, other = StoppedClock(), RawClient(), RawClient()
    terms = EventTerms(max_subscriptions=12)
    events = McpeServer(features=EventFeatures(max_active=1), terms=terms, clock=clock)
    clock.events = events
    async with serving(events, raw, other):
        for second in range(1, 13):
            await raw.subscribe("a.b", expiresAt=f"2026-01-01T00:00:{second:02}Z")
            await clock.to(START + second)
            await raw.tells("events/subscription_expired", second)
        assert len(said(await raw.call("events_list"))["subscriptions"]) == 10
        await raw.subscribe("a.b")
        for _ in range(2):
            id = (await other.subscribe("a.b"))["id"]
            await other.call("events_pause", subscriptionId=id)
        code, data = await other.refused("events_subscribe", **SUBSCRIPTION)
    assert (code, data["name"]) == (-32002, "SubscriptionLimitReached")
