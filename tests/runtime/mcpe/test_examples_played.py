"""The examples of the document are played with raw peers, in both roles and at their own time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from kinwire import Host
from kinwire.mcpe import EventClient, McpeClient, McpeServer
from kinwire.rpc.session import Session
from kinwire.support.timestamps import seconds_of
from kinwire_protocols import mcpe
from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.problems import Problem
from tests.generated.messages import EXAMPLES
from tests.runtime.mcpe.fixtures_server import StoppedClock, serving
from tests.runtime.mcpe.raw_client import Json, RawClient, said
from tests.runtime.mcpe.raw_server import RawServer, structured

pytestmark = pytest.mark.anyio

NOW = "2025-01-15T10:00:00.000Z"


class AnyHandlers:
    """Handlers that do nothing."""

    def begin(self, session_of: Callable[[str], Session | None]) -> None:
        pass

    def problems(self, handler: mcpe.EventHandler, *, at: str = "/handler") -> Iterator[Problem]:
        return iter(())

    def handle(
        self,
        subscription: mcpe.Subscription,
        client: EventClient,
        events: Sequence[Json],
        delivery_id: str,
    ) -> None:
        pass


def examples(kind: str) -> list[Json]:
    return [one for protocol, name, one in EXAMPLES if (protocol, name) == ("mcpe", kind)]


async def test_a_server_answers_the_examples() -> None:
    raw, clock = RawClient(), StoppedClock(seconds_of(NOW))
    events = McpeServer(handlers=AnyHandlers(), clock=clock)
    (update,) = examples("EventsUpdateParams")
    async with serving(events, raw):
        for asked in examples("EventsSubscribeParams"):
            made = said(await raw.call("events_subscribe", **asked))
            own = {"id": made["id"], "subscriptionId": made["id"], "clientId": made["clientId"]}
            times = {"createdAt": NOW, "updatedAt": NOW}
            assert made == {**asked, **own, "status": "active", **times}
        wanted = said(
            await raw.call("events_subscribe", filter={}, delivery={"channels": ["realtime"]})
        )
        for event in examples("MCPEvent"):
            await events.publish(from_wire(mcpe.MCPEvent, event))
        await raw.settle()
        id = {"subscriptionId": wanted["id"]}
        paused = said(await raw.call("events_pause", **id))
        resumed = said(await raw.call("events_resume", **id))
        updated = said(await raw.call("events_update", **{**update, **id}))
        removed = said(await raw.call("events_unsubscribe", **id))
    got = [one["event"] for one in raw.of("events/event") if one["subscriptionId"] == wanted["id"]]
    assert got == examples("MCPEvent")
    for answer, kind in (
        (paused, "EventsPauseResult"),
        (resumed, "EventsResumeResult"),
        (removed, "EventsUnsubscribeResult"),
    ):
        assert answer in [
            {**one, **({"subscriptionId": wanted["id"]} if "subscriptionId" in one else {})}
            for one in examples(kind)
        ]
    assert updated["filter"] == update["updates"]["filter"]


async def test_a_client_reads_the_examples() -> None:
    (listed, *_), (message, *_) = examples("EventsListResult"), examples("Subscription")
    raw, client = RawServer(), McpeClient()
    raw.answers["events_list"] = structured(listed)
    raw.answers["events_subscribe"] = structured(message)
    async with Host("h", "1", extensions=[client]) as host:
        connection = await host.connect(raw)
        found = await client.of(connection).list()
        assert [to_wire(one) for one in found] == listed["subscriptions"]
        async with client.subscribe(connection, ["github.*"]) as subscription:
            assert to_wire(subscription.message) == message
            (single, *_), (batch, *_) = (
                examples("EventNotificationParams"),
                examples("EventBatchNotificationParams"),
            )
            (over, *_) = examples("SubscriptionExpiredNotificationParams")
            for method, params in (
                ("event", single),
                ("batch", batch),
                ("subscription_expired", over),
            ):
                raw.say(
                    method=f"events/{method}", params={**params, "subscriptionId": message["id"]}
                )
            arrived = [to_wire(event) async for event in subscription]
    assert arrived == [single["event"], *batch["events"]]
    assert subscription.expired_at == over["expiredAt"]
