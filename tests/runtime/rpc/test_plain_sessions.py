"""A session of a protocol without a handshake: any transport, and the routes of handlers."""

from __future__ import annotations

import pytest

from kinwire import RpcError, Session, routes_of
from kinwire.transports.memory import memory_pair
from kinwire_protocols import mcp

pytestmark = pytest.mark.anyio


class Shop(mcp.ServerHandlers):
    def __init__(self) -> None:
        self.cancelled: list[object] = []

    async def prompts_list(self, params: mcp.PaginatedRequestParams) -> mcp.ListPromptsResult:
        return mcp.ListPromptsResult(prompts=[mcp.Prompt(name=params.cursor or "first")])

    async def notifications_cancelled(self, params: mcp.CancelledNotificationParams) -> None:
        self.cancelled.append(params.request_id)


async def test_a_session_serves_the_methods_of_a_class_of_handlers() -> None:
    shop = Shop()
    near, far = memory_pair()
    async with Session(near, routes={}) as session, Session(far, routes=routes_of(shop)):
        server = mcp.ServerStub(session)
        assert (await server.prompts_list(cursor="pear")).prompts[0].name == "pear"
        await server.notifications_cancelled(request_id=7)
        with pytest.raises(RpcError, match="Method not found"):
            await server.ping()
    assert shop.cancelled == [7]
