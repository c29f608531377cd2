"""Requests, cancellations, replies and ends in every order: each request has one answer or none."""

from __future__ import annotations

__all__ = ("orders_in_memory", "orders_over_http")

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import anyio

from kinwire import ConnectionClosedError, Context, Limits, RequestTimeoutError, Server, pair
from tests.runtime.mcp.http.fake_asgi_client import Client, Response, message

_SOON = 20.0  # seconds
_SIZES = (1, 100, 20_000)
_LIMITS = Limits(drain=0.05, stop=0.05, unsent=20_000)
_REFUSED = (202, 404, 503)  # what a session that is ending, or is full, may say


def _server(chance: random.Random, counted: Counter[str]) -> Server:
    server = Server("orders", "1", limits=_LIMITS)

    @server.tool
    async def act(context: Context, waits: float, size: int) -> str:
        counted["begun"] += 1
        if chance.random() < 0.3:
            await context.progress(1)
        if chance.random() < 0.2:
            await context.log("error", "x" * chance.randrange(1000))
        if waits:
            await anyio.sleep(waits)
        counted["ended"] += 1
        return "x" * size

    return server


def _arguments(chance: random.Random) -> dict[str, Any]:
    return {"waits": chance.choice([0, 0, 0.001, 0.003, 5]), "size": chance.choice(_SIZES)}


def orders_in_memory(
    chance: random.Random, goes_on: Callable[[], bool], counted: Counter[str]
) -> None:
    """Two sessions of ours; callers give up, sides close, and nothing is left."""
    while goes_on():
        pairs = _Pairs(chance, counted)
        anyio.run(pairs.once, backend=chance.choice(["asyncio", "trio"]))


class _Pairs:
    def __init__(self, chance: random.Random, counted: Counter[str]) -> None:
        self._chance = chance
        self._counted = counted
        self._server = _server(chance, counted)

    async def once(self) -> None:
        chance = self._chance
        with anyio.fail_after(_SOON):
            async with pair(self._server) as connection, anyio.create_task_group() as tasks:
                for _ in range(chance.randrange(1, 30)):
                    tasks.start_soon(self._call, connection)
                    if chance.random() < 0.2:
                        await anyio.sleep(chance.choice([0, 0.001]))
                if chance.random() < 0.3:
                    await anyio.sleep(chance.choice([0, 0.002]))
                    await connection.session.aclose()
        assert not self._server._sessions, "a session is left"
        self._counted["sessions"] += 1

    async def _call(self, connection: Any) -> None:
        chance = self._chance
        try:
            with anyio.move_on_after(chance.choice([0, 0.001, 0.002, 1])):
                calling = connection.with_options(timeout=chance.choice([0.001, 0.01, 2]))
                result = await calling.mcp.tools_call(name="act", arguments=_arguments(chance))
                size = len(result.content[0].text)
                assert size in _SIZES, size
                self._counted["answered"] += 1
                return
            self._counted["given up"] += 1
        except (ConnectionClosedError, RequestTimeoutError):
            self._counted["failed"] += 1


def orders_over_http(
    chance: random.Random, goes_on: Callable[[], bool], counted: Counter[str]
) -> None:
    """Raw requests to the application: a cancellation may come before, with or after its call."""
    while goes_on():
        asyncio.run(_Exchanges(chance, counted).once())


class _Exchanges:
    def __init__(self, chance: random.Random, counted: Counter[str]) -> None:
        self._chance = chance
        self._counted = counted
        self._deleted = False
        self._app = _server(chance, counted).asgi()

    async def once(self) -> None:
        chance = self._chance
        client = await Client(self._app).begin()
        ids: list[object] = [*range(1, 20), *map(str, range(1, 20))]
        chance.shuffle(ids)
        kinds = ("plain", "plain", "before", "with")
        with anyio.fail_after(_SOON):
            async with anyio.create_task_group() as tasks:
                for id in ids[: chance.randrange(1, 30)]:
                    tasks.start_soon(self._exchange, client, id, chance.choice(kinds))
                    await asyncio.sleep(chance.choice([0, 0, 0.001]))
                if chance.random() < 0.2:
                    self._deleted = True
                    tasks.start_soon(client.request, "DELETE")
            await self._app.aclose()
        assert self._app.sessions.count() == 0
        self._counted["sessions"] += 1

    async def _exchange(self, client: Client, id: object, kind: str) -> None:
        call = message("tools/call", id, name="act", arguments=_arguments(self._chance))
        params = {"requestId": id}
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        async with anyio.create_task_group() as tasks:
            if kind == "before":
                assert (await client.post(cancel)).status in _REFUSED
            elif kind == "with":
                tasks.start_soon(client.post, cancel)
            with anyio.move_on_after(0.2):
                self._judge(await client.post(call), id, kind)
                return
            assert (await client.post(cancel)).status in _REFUSED
            self._counted["left"] += 1

    def _judge(self, reply: Response, id: object, kind: str) -> None:
        assert reply.status in (200, *_REFUSED), (reply.status, reply.body)
        assert kind != "before" or reply.status != 200, reply.body
        if reply.status != 200:
            return
        answer = reply.answer
        if "id" not in answer:  # it was taken back after it had said something
            assert kind == "with" or self._deleted, answer
            self._counted["taken back"] += 1
        else:
            assert (answer["id"], type(answer["id"])) == (id, type(id)), answer["id"]
            self._counted["answered"] += 1
