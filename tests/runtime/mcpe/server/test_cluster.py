"""Servers that share a store serve the same subscriptions, before raw clients (MCPE 8, 12.2)."""

from __future__ import annotations

from typing import Any

import anyio
import anyio.lowlevel
import pytest

from kinwire.mcpe import EventCluster, EventTerms, McpeServer, new_event
from kinwire.mcpe.server.desk import Caller, SubscriptionDesk
from kinwire.storage import open_store
from kinwire.storage.errors import ConflictError, StorageUnavailableError
from tests.runtime.mcpe.fixtures_cluster import Node, cluster
from tests.runtime.mcpe.fixtures_server import START
from tests.runtime.mcpe.raw_client import Json, RawClient, said
from tests.runtime.mcpe.server.test_away import BOSS, TOKEN, listed, made_with_token
from tests.runtime.mcpe.server.test_schedules import MINUTE, batches, every_minute

pytestmark = pytest.mark.anyio

DELIVERY = "mcpe/deliveryId"


async def collecting(raw: RawClient, *types: str) -> tuple[Json, str]:
    """Subscribe for a batch each minute; return the subscription and the token of the client."""
    result = await raw.call(
        "events_subscribe", filter={"eventTypes": list(types)}, delivery=every_minute()
    )
    token: str = result["_meta"][TOKEN]
    return said(result), token


async def test_an_event_that_one_publishes_reaches_the_clients_of_all_once() -> None:
    async with cluster(3) as there:
        one, two, three = there.nodes
        here, far = await one.come(RawClient()), await two.come(RawClient())
        await here.subscribe("a.*")
        await far.subscribe("a.b")
        for node, type in ((one, "a.b"), (two, "a.c"), (three, "a.b"), (three, "b.b")):
            await node.events.publish(new_event(type))
        await far.settle()
        assert here.events() == ["a.b", "a.c", "a.b"]
        assert far.events() == ["a.b", "a.b"]


async def test_a_client_finds_its_subscriptions_at_another_server() -> None:
    async with cluster() as there:
        one, two = there.nodes
        first = await one.come(RawClient())
        made, token = await made_with_token(first, "a.*")
        second = await two.come(RawClient(), token)
        guesser = await two.come(RawClient(), "guess")
        assert [await listed(second), await listed(guesser)] == [[made["id"]], []]
        await one.events.publish(new_event("a.1"))
        await second.settle()
        assert (first.events(), second.events()) == ([], ["a.1"])
        assert await listed(first) == [made["id"]]  # it is there again
        await two.events.publish(new_event("a.2"))
        await second.settle()
        assert (first.events(), second.events()) == (["a.2"], ["a.1"])
        gone = await second.call("events_unsubscribe", subscriptionId=made["id"])
        assert said(gone)["success"] is True
        assert await listed(first) == []


async def test_a_call_finds_a_subscription_also_if_its_client_calls_another_server_then() -> None:
    async with cluster() as there:
        one, two = there.nodes
        first = await one.come(RawClient())
        made, token = await made_with_token(first, "a.*")
        second = await two.come(RawClient(), token)
        ids = [made["id"], *[(await first.subscribe("a.*"))["id"] for _ in range(7)]]
        results: list[Json] = []

        async def remove(raw: RawClient, id: str) -> None:
            results.append(await raw.call("events_unsubscribe", subscriptionId=id))

        async with anyio.create_task_group() as tasks:
            for number, id in enumerate(ids):
                tasks.start_soon(remove, (first, second)[number % 2], id)
        assert [one["structuredContent"] for one in results] == [{"success": True}] * len(ids)
        assert await listed(first) == await listed(second) == []


async def test_a_list_is_whole_also_if_another_server_has_just_taken_the_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inner, calls = SubscriptionDesk.list, 0
    async with cluster() as there:
        one, two = there.nodes
        first = await one.come(RawClient())
        made, token = await made_with_token(first, "a.*")
        second = await two.come(RawClient(), token)

        async def list_late(desk: SubscriptionDesk, params: Any, caller: Caller) -> Any:
            nonlocal calls
            calls += 1
            if calls == 1:
                assert await listed(second) == [made["id"]]
                with anyio.fail_after(5):
                    while caller.client.served:
                        await anyio.lowlevel.checkpoint()
            return await inner(desk, params, caller)

        monkeypatch.setattr(SubscriptionDesk, "list", list_late)
        assert await listed(first) == [made["id"]]
    assert calls == 2


async def test_a_list_is_whole_also_while_another_call_of_the_client_has_it_taken() -> None:
    gate = anyio.Event()

    async def wait(key: str, value: Any) -> None:
        if key.startswith("mcpe/subscriptions/"):
            await gate.wait()

    async with cluster() as there:
        one, two = there.nodes
        made, token = await made_with_token(await one.come(RawClient()), "a.*")
        two.records.before_put = wait
        callers = [await two.come(RawClient(), token) for _ in range(2)]
        lists: list[list[str]] = []

        async def list_at(raw: RawClient) -> None:
            lists.append(await listed(raw))

        async with anyio.create_task_group() as tasks:
            for raw in callers:
                tasks.start_soon(list_at, raw)
                await raw.settle()
            gate.set()
        assert lists == [[made["id"]]] * 2


@pytest.mark.parametrize("tool", ["pause", "resume", "update", "unsubscribe"])
async def test_an_operation_is_tried_again_that_another_server_gets_in_the_way_of(
    tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kinwire.mcpe.server.tools._PAUSES", (0.0, 0.0, 0.0))
    changed = {"updates": {"expiresAt": "2999-01-01T00:00:00Z"}} if tool == "update" else {}
    async with cluster() as there:
        raw = await there.nodes[0].come(RawClient())
        id = (await raw.subscribe("a.*"))["id"]
        for left, answered in ((3, True), (4, False)):
            monkeypatch.setattr(SubscriptionDesk, tool, _conflicting(tool, left))
            result = await raw.call(f"events_{tool}", subscriptionId=id, **changed)
            monkeypatch.undo()
            monkeypatch.setattr("kinwire.mcpe.server.tools._PAUSES", (0.0, 0.0, 0.0))
            assert result.get("isError", False) is not answered
        assert "Try again" in result["content"][0]["text"]


def _conflicting(tool: str, times: int) -> Any:
    """Return the operation, which fails so often before it works."""
    inner, left = getattr(SubscriptionDesk, tool), times

    async def operate(*given: Any) -> Any:
        nonlocal left
        if left:
            left -= 1
            raise ConflictError("key", 1, 2)
        return await inner(*given)

    return operate


async def test_what_was_collected_is_delivered_where_the_client_is_and_only_there() -> None:
    async with cluster() as there:
        one, two = there.nodes
        first = await one.come(RawClient())
        _, token = await collecting(first, "a.*")
        await one.events.publish(new_event("a.1"))
        await two.events.publish(new_event("a.2"))
        second = await two.come(RawClient(), token)
        await listed(second)
        await one.events.publish(new_event("a.3"))
        await there.to(START + MINUTE, first, second)
        assert (batches(first), batches(second)) == ([], [["a.1", "a.2", "a.3"]])
        await there.to(START + 2 * MINUTE, first, second)
        assert len(batches(second)) == 1


async def test_an_event_that_comes_while_a_client_is_taken_is_collected() -> None:
    async with cluster() as there:
        one, two = there.nodes
        first = await one.come(RawClient())
        _, token = await collecting(first, "a.*")
        await one.events.publish(new_event("a.1"))
        second = await two.come(RawClient(), token)
        await second.settle()

        async def publish() -> None:
            await one.events.publish(new_event("a.2"))
            await anyio.wait_all_tasks_blocked()  # until it has come

        two.log.after_read = publish
        await listed(second)
        await there.to(START + MINUTE, second)
        assert batches(second) == [["a.1", "a.2"]]


async def test_what_was_published_before_a_subscription_is_not_collected() -> None:
    async with cluster() as there:
        one, two = there.nodes
        raw = await one.come(RawClient())
        await listed(raw)
        one.log.is_open = anyio.Event()
        await two.events.publish(new_event("a.1"))
        await collecting(raw, "a.*")
        one.log.is_open.set()
        await two.events.publish(new_event("a.2"))
        await there.to(START + MINUTE, raw)
        assert batches(raw) == [["a.2"]]


async def test_an_event_that_was_published_before_a_time_is_in_its_delivery() -> None:
    async with cluster() as there:
        one, two = there.nodes
        raw = await one.come(RawClient())
        await collecting(raw, "a.*")
        for minute in range(1, 6):
            await two.events.publish(new_event(f"a.{minute}"))
            await there.to(START + minute * MINUTE)  # before it has come to the other one
            await raw.settle()
        assert batches(raw) == [[f"a.{minute}"] for minute in range(1, 6)]


async def test_what_happens_in_a_pause_is_not_delivered_by_another_server_either() -> None:
    async with cluster() as there:
        one, two = there.nodes
        first = await one.come(RawClient())
        made, token = await collecting(first, "a.*")
        for type in ("a.before", "a.while"):
            await one.events.publish(new_event(type))
            await first.call("events_pause", subscriptionId=made["id"])
        await first.call("events_resume", subscriptionId=made["id"])
        await one.events.publish(new_event("a.after"))
        second = await two.come(RawClient(), token)
        await listed(second)
        await there.to(START + MINUTE, second)
        assert batches(second) == [["a.after"]]


async def test_a_server_that_does_not_know_yet_that_a_client_has_moved_delivers_nothing() -> None:
    async with cluster() as there:
        one, two = there.nodes
        first = await one.come(RawClient())
        _, token = await collecting(first, "a.*")
        one.records.blind = True
        second = await two.come(RawClient(), token)
        await listed(second)
        await two.events.publish(new_event("a.1"))
        await there.to(START + MINUTE, first, second)
        assert (batches(first), batches(second)) == ([], [["a.1"]])
        await one.events.publish(new_event("a.2"))
        await there.to(START + 2 * MINUTE, first, second)
        assert (batches(first), batches(second)) == ([], [["a.1"], ["a.2"]])
        await listed(first)  # since the store has refused it, it reads the home again
        await two.events.publish(new_event("a.3"))
        await there.to(START + 3 * MINUTE, first, second)
        assert (batches(first), batches(second)) == ([["a.3"]], [["a.1"], ["a.2"]])


async def test_a_client_that_has_moved_may_subscribe_at_a_server_that_does_not_know_it() -> None:
    async with cluster() as there:
        one, two = there.nodes
        first = await one.come(RawClient())
        made, token = await made_with_token(first, "a.*")
        one.records.blind = True
        second = await two.come(RawClient(), token)
        await listed(second)
        other = await first.subscribe("b.*")
        assert await listed(second) == [made["id"], other["id"]]


async def test_a_server_that_leaves_gives_its_lease_back() -> None:
    async with cluster() as there:
        one, two = there.nodes
        for node in (one, two):
            await node.events.publish(new_event("a.1"))
        nodes = [record.key async for record in one.records.scan("mcpe/nodes/")]
        await one.events.leave_cluster()
        left = [record.key async for record in one.records.scan("mcpe/nodes/")]
        assert (len(nodes), len(left)) == (2, 1)


def claims_in(value: Any) -> list[Json]:
    """Return the deliveries that are under way, by the record of a subscription."""
    found = [each["claim"] for each in value.get("collectors", ())]
    return [one for one in found if one is not None]


async def test_what_is_due_while_a_delivery_is_made_is_delivered_right_after_it() -> None:
    async with cluster() as there:
        one, two = there.nodes
        raw = await one.come(RawClient())
        await collecting(raw, "a.*")
        await two.events.publish(new_event("a.1"))

        async def go_on(key: str, value: Any) -> None:
            if claims_in(value) and there.now == START + MINUTE:
                await two.events.publish(new_event("a.2"))
                there.now += MINUTE

        one.records.before_put = go_on
        await there.to(START + MINUTE, raw)
        assert batches(raw) == [["a.1"], ["a.2"]]
        due = [one["_meta"][DELIVERY].split("/")[2] for one in raw.of("events/batch")]
        assert due == [f"{START + MINUTE:.3f}", f"{START + 2 * MINUTE:.3f}"]


async def test_what_is_due_while_a_delivery_is_noted_is_delivered_right_after_it() -> None:
    async with cluster() as there:
        one, two = there.nodes
        raw = await one.come(RawClient())
        await collecting(raw, "a.*")
        await two.events.publish(new_event("a.1"))

        async def go_on(key: str, value: Any) -> None:
            if key.startswith("mcpe/subscriptions/") and not claims_in(value):
                one.records.before_put = None
                await two.events.publish(new_event("a.2"))
                await there.to(START + 2 * MINUTE, raw)

        one.records.before_put = go_on
        await there.to(START + MINUTE, raw)
        await raw.settle()
        assert batches(raw) == [["a.1"], ["a.2"]]


@pytest.mark.parametrize("sent", [True, False])
async def test_a_delivery_that_was_cut_short_is_repeated_elsewhere_under_its_id(
    sent: bool,
) -> None:
    async with cluster() as there:
        one, two = there.nodes
        first = await one.come(RawClient())
        _, token = await collecting(first, "a.*")
        await one.events.publish(new_event("a.1"))

        async def end(key: str, value: Any) -> None:
            one.records.cut = one.records.cut or bool(claims_in(value)) is not sent

        one.records.before_put = end
        await there.to(START + MINUTE, first)
        assert len(batches(first)) == sent
        await two.events.publish(new_event("a.2"))
        second = await two.come(RawClient(), token)
        await listed(second)
        await second.settle()
        if sent:
            assert batches(second) == [["a.1"]]
            ids = [raw.of("events/batch")[0]["_meta"][DELIVERY] for raw in (first, second)]
            assert ids[0] == ids[1]
            await there.to(START + 2 * MINUTE, second)
            assert batches(second) == [["a.1"], ["a.2"]]
        else:
            assert batches(second) == [["a.1", "a.2"]]


async def test_a_delivery_is_noted_when_it_has_left_and_not_before() -> None:
    async with cluster() as there:
        one, two = there.nodes
        first = await one.come(RawClient())
        _, token = await collecting(first, "a.*")
        noted: list[int] = []

        async def note(key: str, value: Any) -> None:
            if key.startswith("mcpe/subscriptions/") and not claims_in(value):
                noted.append(len(batches(first)))

        one.records.before_put = note
        await one.events.publish(new_event("a.1"))
        await there.to(START + MINUTE, first)
        assert (noted, batches(first)) == ([1], [["a.1"]])
        first.reads = False
        await one.events.publish(new_event("a.2"))
        await there.to(START + 2 * MINUTE, first)
        assert len(noted) == 1
        first.hang_up()
        second = await two.come(RawClient(), token)
        await listed(second)
        await second.settle()
        assert batches(second) == [["a.2"]]


async def test_when_a_session_ends_one_that_the_client_has_elsewhere_takes_over() -> None:
    async with cluster() as there:
        one, two = there.nodes
        first, second = await one.come(RawClient(BOSS)), await two.come(RawClient(BOSS))
        await first.subscribe("a.*")
        await listed(second)
        await two.leave(second)
        await first.settle()
        await two.events.publish(new_event("a.1"))
        await first.settle()
        assert (first.events(), second.events()) == (["a.1"], [])


async def test_a_principal_is_served_where_it_connects_without_a_call() -> None:
    async with cluster() as there:
        one, two = there.nodes
        first = await one.come(RawClient(BOSS))
        await first.subscribe("a.*")
        await one.leave(first)
        second = await two.come(RawClient(BOSS))
        await second.settle()
        await one.events.publish(new_event("a.1"))
        await second.settle()
        assert second.events() == ["a.1"]


async def test_the_clients_of_a_server_that_has_ended_are_taken_and_dropped_after_grace() -> None:
    async with cluster(lease=0.12, terms=EventTerms(grace=300)) as there:
        one, two = there.nodes
        first, other = await one.come(RawClient()), await two.come(RawClient())
        soon = "2026-01-01T00:01:00Z"
        made, token = await made_with_token(first, "a.*")
        expiring = await first.call(
            "events_subscribe", filter={}, delivery=every_minute(), expiresAt=soon
        )
        await other.subscribe("b.*")
        await one.leave(first)
        one.records.cut = True
        with anyio.fail_after(5):
            while (await two.events.publish(new_event("a.1"))).subscriptions < 2:
                await other.settle()
        await there.to(START + 61, other)
        second = await two.come(RawClient(), token)
        statuses = {
            one["id"]: one["status"]
            for one in said(await second.call("events_list"))["subscriptions"]
        }
        assert statuses == {made["id"]: "active", said(expiring)["id"]: "expired"}
        await second.settle()
        assert len(second.of("events/subscription_expired")) == 1
        await two.leave(second)
        await there.to(START + 400, other)
        third = await two.come(RawClient(), token)
        assert await listed(third) == []


async def test_the_clients_of_a_server_that_has_ended_are_served_also_if_reading_them_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kinwire.mcpe.server.cluster._AGAIN", 0.01)
    failed: list[str] = []

    async def fail(key: str, value: Any) -> None:
        if key.startswith("mcpe/subscriptions/") and not failed:
            failed.append(key)
            raise StorageUnavailableError("records", expected="a", got="b", hint="c")

    async with cluster(lease=0.12) as there:
        one, two = there.nodes
        first, other = await one.come(RawClient()), await two.come(RawClient())
        await first.subscribe("a.*")
        await other.subscribe("b.*")
        two.records.before_put = fail
        await one.leave(first)
        one.records.cut = True
        with anyio.fail_after(5):
            while not (await two.events.publish(new_event("a.1"))).subscriptions:
                await other.settle()
    assert len(failed) == 1


async def test_a_server_that_had_no_lease_for_a_moment_has_its_clients_taken_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kinwire.mcpe.server.cluster._AGAIN", 0.2)
    taken: list[str] = []

    async def fail(key: str, value: Any) -> None:
        if key.startswith("mcpe/nodes/") and not taken:
            raise StorageUnavailableError("records", expected="a", got="b", hint="c")

    async def note(key: str, value: Any) -> None:
        if key.startswith("mcpe/homes/") and value["client"] == made["clientId"]:
            taken.append(value["node"])

    async with cluster(lease=0.12) as there:
        one, two = there.nodes
        first, other = await one.come(RawClient()), await two.come(RawClient())
        made = await first.subscribe("a.*")
        await other.subscribe("b.*")
        one.records.before_put, two.records.before_put = fail, note
        with anyio.fail_after(5):
            while not taken or len(await _leases(one)) < 2:
                await first.settle()
        await anyio.sleep(0.05)
        await two.events.publish(new_event("a.1"))
        await first.settle()
        assert first.events() == ["a.1"]
    assert len(taken) <= 2  # it was taken, and may be said to be away


async def _leases(node: Node) -> list[str]:
    """Return the names of the servers that have their own lease."""
    nodes = [record.value async for record in node.records.scan("mcpe/nodes/")]
    return [one["name"] for one in nodes if one["name"] == one["holder"]]


async def test_an_expiry_is_said_once_also_if_the_client_moves() -> None:
    async with cluster() as there:
        one, two = there.nodes
        first = await one.come(RawClient(BOSS))
        await first.subscribe("a.*", expiresAt="2026-01-01T00:01:00Z")
        await one.leave(first)
        await there.to(START + MINUTE, first)
        second, third = RawClient(BOSS), RawClient(BOSS)
        for node, raw in ((one, second), (two, third)):
            await node.come(raw)
            statuses = [
                one["status"] for one in said(await raw.call("events_list"))["subscriptions"]
            ]
            await raw.settle()
            assert statuses == ["expired"]
        assert len(second.of("events/subscription_expired")) == 1
        assert third.of("events/subscription_expired") == []


async def test_an_expiry_that_has_not_left_is_said_where_the_client_comes_next() -> None:
    async with cluster() as there:
        one, two = there.nodes
        first = await one.come(RawClient(BOSS))
        await first.subscribe("a.*", expiresAt="2026-01-01T00:01:00Z")
        first.reads = False
        await there.to(START + MINUTE, first)
        first.hang_up()
        second = await two.come(RawClient(BOSS))
        await second.settle()
        assert len(second.of("events/subscription_expired")) == 1


async def test_deliveries_that_the_store_stops_are_made_later_also_if_the_clock_goes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waited, goes_on = list[float](), anyio.Event()

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await goes_on.wait()

    monkeypatch.setattr("kinwire.mcpe.server.deliveries.sleep", sleep)
    async with cluster(1) as there:
        (one,) = there.nodes
        raw = await one.come(RawClient())
        for type in ("a.*", "*"):
            await collecting(raw, type)
        await one.events.publish(new_event("a.1"))
        one.records.cut = True
        await there.to(START + MINUTE, raw)
        assert (batches(raw), waited) == ([], [5.0])
        one.records.cut = False
        await there.to(START - 100 * MINUTE, raw)
        assert batches(raw) == []
        goes_on.set()
        await raw.settle()
        assert batches(raw) == [["a.1"], ["a.1"]]
        ids = [one["_meta"][DELIVERY] for one in raw.of("events/batch")]
        assert all(id.endswith(f"/cron/{START + MINUTE:.3f}/0") for id in ids)


async def test_nothing_is_left_of_a_client_that_has_unsubscribed() -> None:
    async with cluster() as there:
        one, two = there.nodes
        first = await one.come(RawClient())
        made, token = await made_with_token(first, "a.*")
        second = await two.come(RawClient(), token)
        await second.call("events_unsubscribe", subscriptionId=made["id"])
        for node, raw in ((two, second), (one, first)):
            await node.leave(raw)
        assert [record.key async for record in one.records.scan("mcpe/homes/")] == []
        assert [record.key async for record in one.records.scan("mcpe/subscriptions/")] == []


async def test_an_event_that_is_published_twice_comes_once() -> None:
    async with cluster() as there:
        one, two = there.nodes
        raw = await one.come(RawClient())
        await raw.subscribe("a.*")
        event = new_event("a.1")
        again = [await node.events.publish(event) for node in (one, two)]
        assert [each.duplicate for each in again] == [False, True]
        found: list[bool] = []

        async def publish(number: int) -> None:
            event = new_event("a.2", source_event_id="s")
            found.append((await there.nodes[number].events.publish(event)).duplicate)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(publish, 0)
            tasks.start_soon(publish, 1)
        await raw.settle()
        assert sorted(found) == [False, True]
        assert raw.events() == ["a.1", "a.2"]


async def test_a_cluster_needs_records_and_a_log() -> None:
    async with open_store("memory:") as store:
        records, log = await store.records("mcpe"), await store.log("mcpe")
        with pytest.raises(ValueError, match="got no records"):
            McpeServer(cluster=EventCluster(), log=log)
        with pytest.raises(ValueError, match="got no log"):
            McpeServer(cluster=EventCluster(), records=records)
    with pytest.raises(ValueError, match="lease"):
        EventCluster(lease=0)
