"""Servers that share a store, next to a small model of one client with a batch each minute."""

from __future__ import annotations

import random

import pytest

from kinwire.mcpe import new_event
from tests.runtime.mcpe.fixtures_cluster import Cluster, cluster
from tests.runtime.mcpe.fixtures_server import START
from tests.runtime.mcpe.raw_client import Json, RawClient
from tests.runtime.mcpe.server.test_away import listed
from tests.runtime.mcpe.server.test_cluster import DELIVERY, collecting
from tests.runtime.mcpe.server.test_schedules import MINUTE

pytestmark = pytest.mark.anyio

NODES = 3
STEPS = 25


class Model:
    """What one client gets, of whatever server."""

    def __init__(self) -> None:
        self.is_active = True
        self.waiting: list[str] = []
        self.batches: list[list[str]] = []

    def publish(self, type: str) -> None:
        if self.is_active:
            self.waiting.append(type)

    def pause(self) -> None:
        self.is_active = False
        self.waiting = []

    def deliver(self) -> None:
        if self.waiting:
            self.batches.append(self.waiting)
            self.waiting = []


class Client:
    """A client, with a session in which it calls and others that are left open."""

    def __init__(self, there: Cluster, chance: random.Random) -> None:
        self._there = there
        self._chance = chance
        self._sessions: list[RawClient] = []
        self._token: str | None = None
        self.id = ""

    @property
    def raw(self) -> RawClient:
        return self._sessions[-1]

    async def begin(self) -> None:
        self._sessions.append(await self._there.nodes[0].come(RawClient()))
        made, self._token = await collecting(self.raw, "a.*")
        self.id = made["id"]

    async def move(self) -> None:
        """Connect to any server, and leave the one before, or not."""
        before = self.raw
        node = self._chance.choice(self._there.nodes)
        self._sessions.append(await node.come(RawClient(), self._token))
        assert await listed(self.raw) == [self.id]
        if self._chance.random() < 0.5:
            before.hang_up()

    def got(self) -> list[list[str]]:
        """Return what came, a delivery that was repeated once."""
        found: dict[str, Json] = {}
        for raw in self._sessions:
            for params in raw.of("events/batch"):
                assert found.setdefault(params["_meta"][DELIVERY], params) == params
        by_time = sorted(found.items(), key=lambda one: float(one[0].split("/")[2]))
        return [[one["type"] for one in params["events"]] for _, params in by_time]


@pytest.mark.parametrize("seed", range(4))
async def test_a_client_gets_each_event_once_wherever_it_is(seed: int) -> None:
    chance = random.Random(seed)
    async with cluster(NODES) as there:
        client, model = Client(there, chance), Model()
        await client.begin()
        for step in range(STEPS):
            act = chance.choice(("publish", "publish", "move", "tick", "pause", "resume"))
            if act == "publish":
                model.publish(f"a.{step}")
                await chance.choice(there.nodes).events.publish(new_event(f"a.{step}"))
            elif act == "move":
                await client.move()
            elif act == "tick":
                model.deliver()
                await there.to(there.now + MINUTE, client.raw)
            elif act == "pause":
                model.pause()
                await client.raw.call("events_pause", subscriptionId=client.id)
            else:
                model.is_active = True
                await client.raw.call("events_resume", subscriptionId=client.id)
            if chance.random() < 0.1:
                chance.choice(there.nodes).records.blind = True
        model.deliver()
        await there.to(there.now + MINUTE, client.raw)
        assert client.got() == model.batches
        assert there.now > START
