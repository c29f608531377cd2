"""Who gets a session when all are taken."""

from __future__ import annotations

from typing import Any

import pytest

from kinwire import HttpLimits
from kinwire.mcp.http.session import Delivery, HttpServerSession
from kinwire.mcp.http.sessions import gives_way
from kinwire.rpc.response_stream import ResponseStream
from tests.each import each
from tests.runtime.mcp.http.conftest import Tools
from tests.runtime.mcp.http.fake_asgi_client import Client, initialize, message

pytestmark = pytest.mark.anyio

PING = message("ping")


def at(app: Any, address: str) -> Client:
    """Return a client at an address."""

    async def from_there(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await app({**scope, "client": (address, 1)}, receive, send)

    return Client(from_there)  # type: ignore[arg-type]


async def test_a_session_that_was_never_used_gives_way(tools: Tools) -> None:
    app = tools.server.asgi(limits=HttpLimits(sessions=10))
    used = await Client(app).begin()
    await used.post(PING)
    for _ in range(30):
        await Client(app).begin()
    late = await Client(app).begin()
    assert (await used.post(PING)).status == (await late.post(PING)).status == 200
    assert app.sessions.count() == 10


async def test_who_has_most_sessions_makes_room_for_others(tools: Tools) -> None:
    app = tools.server.asgi(limits=HttpLimits(sessions=6))
    greedy = [await at(app, "1.1.1.1").begin() for _ in range(5)]
    modest = await at(app, "2.2.2.2").begin()
    for client in (*greedy, modest):
        await client.post(PING)
    refused = await at(app, "1.1.1.1").post(initialize())
    assert (refused.status, refused.headers["retry-after"]) == (503, "10")
    app.sessions._look_at = 0.0
    await at(app, "3.3.3.3").begin()
    statuses = [(await client.post(PING)).status for client in (*greedy, modest)]
    assert statuses == [404, 200, 200, 200, 200, 200]


async def test_one_client_has_no_more_sessions_than_it_may(tools: Tools) -> None:
    async def authenticate(token: str) -> str:
        return token

    limits = HttpLimits(sessions_per_client=2)
    app = tools.server.asgi(limits=limits)
    for address in ("1.1.1.1", "2.2.2.2"):
        for _ in range(2):
            await at(app, address).begin()
        refused = await at(app, address).post(initialize())
        assert (refused.status, refused.headers["retry-after"]) == (503, "10")
    app = tools.server.asgi(limits=limits, authenticate=authenticate)
    for token in ("a", "b"):
        asked = [
            await Client(app).post(initialize(), authorization=f"Bearer {token}") for _ in range(3)
        ]
        statuses = [one.status for one in asked]
        assert statuses == [200, 200, 503]


def session(client: str, used_at: float, *, used: bool = True) -> Any:
    one = HttpServerSession(f"{client}{used_at}", None, HttpLimits())
    one.client, one.used_at, one.used = client, used_at, used
    return one


ORDERS = [
    # What there is, who wants a place, and which give way.
    ([("a", 1), ("a", 2), ("b", 0)], "c", ["a1"]),
    ([("a", 1), ("a", 2), ("a", 3), ("a", 0)], "b", ["a0", "a1"]),
    ([("a", 1), ("a", 2)], "a", []),
    ([("a", 1), ("b", 2)], "c", []),
]


@each(("there", "wants", "expected"), ORDERS)
def test_the_order_in_which_they_give_way(
    there: list[tuple[str, float]], wants: str, expected: list[str]
) -> None:
    sessions = [session(*one) for one in there]
    assert [one.id for one in gives_way(sessions, wants)] == expected
    unused = session("z", 9, used=False)
    assert gives_way([*sessions, unused], wants) == [unused]
    unused.deliveries.add(Delivery(ResponseStream(None)))  # type: ignore[arg-type]
    assert unused not in gives_way([*sessions, unused], wants)
    for one in sessions:
        one.deliveries.update(unused.deliveries)
    assert gives_way(sessions, wants) == []
