"""Servers that share their records, as processes do, and promises of their tools."""

from __future__ import annotations

__all__ = (
    "EVE",
    "KEY",
    "LIMITS",
    "Place",
    "Time",
    "forever",
    "over",
    "place",
    "redeem",
    "token_in",
)

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio

from kinwire.mcplite.rules.limits import LiteLimits
from kinwire.mcplite.server.promises import PromiseBoard
from kinwire.mcplite.server.service import LiteServer
from kinwire.mcplite.server.source import ANYONE, LiteCaller
from kinwire.storage import Records, open_store
from tests.runtime.mcplite.fixtures_tools import Work, lite_call, tools

LIMITS = LiteLimits(token_life=100.0, result_kept=10.0, refusal_time=0.001, worker_lease=0.06)
EVE = LiteCaller("eve")
KEY = {"idempotency_key": "7f3a"}


class Time:
    """A wall clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Place:
    """Servers that share their records, as processes do, and their time."""

    def __init__(self, records: Records | None, work: Work, limits: LiteLimits = LIMITS) -> None:
        self.work, self.records, self.limits = work, records, limits
        self.time = Time()
        self.slept: list[float] = []
        self.has_slept = anyio.Event()
        self.first = self.server()

    def server(self) -> LiteServer:
        made = LiteServer(tools(self.work), records=self.records, limits=self.limits)
        made._promises = PromiseBoard(self.records, self.limits, clock=self.time, sleep=self.sleep)
        return made

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.has_slept.set()
        await anyio.sleep(min(seconds, 0.02))


@asynccontextmanager
async def place(*, shared: bool = False, limits: LiteLimits = LIMITS) -> AsyncIterator[Place]:
    with anyio.fail_after(30):
        if not shared:
            yield Place(None, Work(), limits)
            return
        async with open_store("memory:") as store:
            made = Place(await store.records("promises"), Work(), limits)
            yield made
            await made.first.close(0.0)


def token_in(result: Any) -> str:
    assert result["_meta"]["response_type"] == "promise", result
    assert "content" not in result
    token: str = result["_meta"]["promise_token"]
    return token


async def redeem(server: LiteServer, token: str, caller: LiteCaller = ANYONE, **more: Any) -> Any:
    return await lite_call(server, "redeem", caller, promise=token, **more)


async def over(server: LiteServer) -> None:
    """Wait until the work of all promises is stored."""
    for work in list(server._promises.works._running):
        await work.stored.wait()


async def forever(seconds: float) -> None:
    await anyio.sleep_forever()
