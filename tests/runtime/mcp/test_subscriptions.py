"""Subscriptions of a client: shared, coalesced, and ended."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from kinwire.mcp.server import Server
from kinwire.rpc.errors import CapabilityNotNegotiatedError, ConnectionClosedError
from kinwire.rpc.session import Session
from kinwire.testing import PairedConnection, pair
from kinwire_protocols import mcp
from kinwire_protocols.mcp import methods

pytestmark = pytest.mark.anyio

NOTES = "file:///notes"


class Shelf:
    """A server with resources to watch, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.session: Session | None = None
        self.refuse = False
        self.hold: anyio.Event | None = None  # what an answer to `subscribe` waits for
        self.server = Server("shelf", "1")

        @self.server.on.resources_subscribe
        async def subscribe(params: mcp.SubscribeRequestParams, context: Any) -> mcp.EmptyResult:
            self.asked.append(("subscribe", params.uri))
            self.session = context.session
            if self.hold is not None:
                await self.hold.wait()
            if self.refuse:
                raise mcp.ResourceNotFoundError(data={"uri": params.uri})
            return mcp.EmptyResult()

        @self.server.on.resources_unsubscribe
        async def unsubscribe(params: mcp.UnsubscribeRequestParams) -> mcp.EmptyResult:
            self.asked.append(("unsubscribe", params.uri))
            return mcp.EmptyResult()

    async def update(self, client: PairedConnection, *uris: str) -> None:
        """Tell the client of changes, and see that they have arrived."""
        assert self.session is not None
        for uri in uris:
            await mcp.ClientStub(self.session).notifications_resources_updated(uri=uri)
        await mcp.ClientStub(self.session).ping()
        await client.mcp.ping()


async def take(updates: AsyncIterator[str], count: int) -> list[str]:
    with anyio.fail_after(20):
        return [await anext(updates) for _ in range(count)]


async def has_nothing(updates: AsyncIterator[str]) -> bool:
    with anyio.move_on_after(0.01):
        await anext(updates)
        return False
    return True


async def test_updates_of_a_resource_come_while_the_block_lasts() -> None:
    shelf = Shelf()
    async with pair(shelf.server) as client:
        async with client.subscription(NOTES) as updates:
            await shelf.update(client, NOTES, "file:///other", f"{NOTES}/a.txt")
            assert sorted(await take(updates, 2)) == [NOTES, f"{NOTES}/a.txt"]
            assert await has_nothing(updates)
        assert shelf.asked == [("subscribe", NOTES), ("unsubscribe", NOTES)]
        await shelf.update(client, NOTES)
        with pytest.raises(StopAsyncIteration):
            await anext(updates)


async def test_a_resource_that_changed_often_is_yielded_once() -> None:
    shelf = Shelf()
    async with pair(shelf.server) as client, client.subscription(NOTES) as updates:
        await shelf.update(client, *[NOTES] * 50)
        assert await take(updates, 1) == [NOTES]
        assert await has_nothing(updates)
        await shelf.update(client, NOTES)
        assert await take(updates, 1) == [NOTES]


async def test_a_flood_of_addresses_becomes_the_one_that_was_subscribed_to() -> None:
    shelf = Shelf()
    async with pair(shelf.server) as client, client.subscription(NOTES) as updates:
        for hundred in range(11):
            await shelf.update(client, *[f"{NOTES}/{hundred}-{count}" for count in range(100)])
        assert NOTES in await take(updates, 100)


async def test_many_readers_of_one_address_are_one_subscription_and_all_hear() -> None:
    shelf = Shelf()
    async with pair(shelf.server) as client:
        async with client.subscription(NOTES) as first:
            async with client.with_options(timeout=9).subscription(NOTES) as second:
                await shelf.update(client, NOTES)
                assert await take(first, 1) == await take(second, 1) == [NOTES]
            assert shelf.asked == [("subscribe", NOTES)]
            await shelf.update(client, NOTES)
            assert await take(first, 1) == [NOTES]
        assert shelf.asked == [("subscribe", NOTES), ("unsubscribe", NOTES)]
        async with client.subscription(NOTES):
            assert shelf.asked[2:] == [("subscribe", NOTES)]


async def test_concurrent_readers_wait_for_one_answer() -> None:
    shelf = Shelf()
    shelf.hold = anyio.Event()
    all_in = anyio.Event()
    inside: list[int] = []

    async def watch(client: PairedConnection, number: int) -> None:
        async with client.subscription(NOTES):
            inside.append(number)
            if len(inside) == 3:
                all_in.set()
            await all_in.wait()

    async with pair(shelf.server) as client, anyio.create_task_group() as tasks:
        for number in range(3):
            tasks.start_soon(watch, client, number)
        await anyio.wait_all_tasks_blocked()
        assert inside == []
        shelf.hold.set()
    assert shelf.asked == [("subscribe", NOTES), ("unsubscribe", NOTES)]


async def test_a_refused_subscription_raises_and_is_not_ended() -> None:
    shelf = Shelf()
    shelf.refuse = True
    async with pair(shelf.server) as client:
        with pytest.raises(mcp.ResourceNotFoundError):
            async with client.subscription(NOTES):
                raise AssertionError
        assert shelf.asked == [("subscribe", NOTES)]
        shelf.refuse = False
        async with client.subscription(NOTES) as updates:
            await shelf.update(client, NOTES)
            assert await take(updates, 1) == [NOTES]


async def test_a_server_that_offers_no_subscriptions_is_not_asked() -> None:
    async with pair(Server("s", "1")) as client:
        with pytest.raises(CapabilityNotNegotiatedError):
            async with client.subscription(NOTES):
                raise AssertionError
        assert len(client.frames) == 3  # the handshake


async def test_an_abandoned_subscription_is_ended_in_case_the_server_has_it() -> None:
    shelf = Shelf()
    shelf.hold = anyio.Event()
    async with pair(shelf.server) as client:
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                async with client.subscription(NOTES):
                    raise AssertionError

            tasks.start_soon(watch)
            await anyio.wait_all_tasks_blocked()
            assert shelf.asked == [("subscribe", NOTES)]
            tasks.cancel_scope.cancel()
        assert shelf.asked[1:] == [("unsubscribe", NOTES)]


async def test_the_next_reader_subscribes_if_the_first_gives_up() -> None:
    shelf = Shelf()
    shelf.hold = anyio.Event()
    async with pair(shelf.server) as client:
        scope = anyio.CancelScope()

        async def give_up() -> None:
            with scope:
                async with client.subscription(NOTES):
                    raise AssertionError

        async def stay() -> None:
            async with client.subscription(NOTES) as updates:
                await shelf.update(client, NOTES)
                assert await take(updates, 1) == [NOTES]

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(give_up)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(stay)
            await anyio.wait_all_tasks_blocked()
            scope.cancel()
            shelf.hold.set()
        assert shelf.asked == [
            ("subscribe", NOTES),
            ("subscribe", NOTES),
            ("unsubscribe", NOTES),
        ]


async def test_the_error_of_a_block_is_raised_though_unsubscribe_fails() -> None:
    shelf = Shelf()
    async with pair(shelf.server) as client:
        shelf.server.remove_handler(methods.RESOURCES_UNSUBSCRIBE)
        with pytest.raises(KeyError, match="mine"):
            async with client.subscription(NOTES):
                raise KeyError("mine")


async def test_the_end_of_the_connection_ends_readers_with_an_error() -> None:
    shelf = Shelf()
    async with pair(shelf.server) as client:
        failed: list[str] = []

        async def watch() -> None:
            async with client.subscription(NOTES) as updates:
                with pytest.raises(ConnectionClosedError):
                    await anext(updates)
                failed.append("subscription")

        async def look() -> None:
            with client.changes() as changes:
                with pytest.raises(ConnectionClosedError):
                    await anext(changes)
                failed.append("changes")

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch)
                tasks.start_soon(look)
                await anyio.wait_all_tasks_blocked()
                await client.aclose()
        assert sorted(failed) == ["changes", "subscription"]
        with pytest.raises(ConnectionClosedError):
            async with client.subscription(NOTES):
                raise AssertionError
        with client.changes() as changes, pytest.raises(ConnectionClosedError):
            await anext(changes)
