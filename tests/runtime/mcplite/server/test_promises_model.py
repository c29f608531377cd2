"""Two servers with one store do at random what callers do, next to the simplest account of it."""

from __future__ import annotations

import random
from typing import Any

import anyio
import pytest

from kinwire import Server
from kinwire.mcplite.rules.limits import LiteLimits
from kinwire.mcplite.server.service import LiteServer
from kinwire.mcplite.server.source import LiteCaller
from tests.runtime.mcplite.fixtures_tools import lite_call
from tests.runtime.storage.fixtures_engines import ON_ALL, Engine

pytestmark = pytest.mark.anyio

STEPS = 60
CALLERS = [LiteCaller("ada"), LiteCaller("eve")]
LIMITS = LiteLimits(refusal_time=0.0001)


class Model:
    """Promises by token: their owner, what ends their work, and what redeeming them gives."""

    def __init__(self, records: Any, chance: random.Random) -> None:
        self.chance = chance
        self.ends: dict[int, anyio.Event] = {}
        self.promises: dict[str, tuple[LiteCaller, int]] = {}
        self.over: dict[str, Any] = {}
        self.servers = [LiteServer(self.tools(), records=records, limits=LIMITS) for _ in "ab"]

    def tools(self) -> Server:
        server = Server("s", "1")

        @server.tool(promise_after=0)
        async def work(number: int) -> dict[str, int]:
            await self.ends[number].wait()
            return {"number": number}

        return server

    async def begin(self) -> None:
        number, caller = len(self.ends), self.chance.choice(CALLERS)
        self.ends[number] = anyio.Event()
        server = self.chance.choice(self.servers)
        made = await lite_call(server, "work", caller, number=number)
        self.promises[made["_meta"]["promise_token"]] = (caller, number)

    async def finish(self) -> None:
        token, (_, number) = self.chance.choice(list(self.promises.items()))
        self.ends[number].set()
        for server in self.servers:
            for work in list(server._promises.works._running):
                if work.run.call.arguments["number"] == number:
                    await work.stored.wait()
        self.over.setdefault(token, {"number": number})

    async def redeem(self, action: str = "checkin") -> None:
        token, (owner, _) = self.chance.choice(list(self.promises.items()))
        caller, server = self.chance.choice(CALLERS), self.chance.choice(self.servers)
        result = await lite_call(server, "redeem", caller, promise=token, action=action)
        expected = self.over.get(token, "pending")
        if caller is not owner or expected == "cancelled":
            assert result["error"]["code"] == "PROMISE_UNAVAILABLE"
        elif expected != "pending":
            assert result["content"] == [expected]
        elif action == "cancel":
            self.over[token] = "cancelled"
        else:
            assert result["_meta"]["promise_token"] == token

    async def cancel(self) -> None:
        await self.redeem("cancel")


@ON_ALL
async def test_promises_are_what_their_callers_know_of_them(engine: Engine) -> None:
    chance = random.Random(7)
    with anyio.fail_after(60):
        async with engine.open() as store:
            model = Model(await store.records("promises", durable=False), chance)
            await model.begin()
            steps = [model.begin, model.finish, model.redeem, model.redeem, model.cancel]
            for _ in range(STEPS):
                await chance.choice(steps)()
            for server in model.servers:
                await server.close(0.0)
                assert server._promises.works.open == {}
