"""What handlers may still say while their connection ends."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint

from kinwire import Session
from kinwire.mcp.profile import PROFILE
from kinwire.rpc.codec import encode
from kinwire.rpc.limits import Limits
from kinwire.rpc.routes import Route
from kinwire.transports.memory import memory_pair
from kinwire_protocols.mcp.methods import TOOLS_LIST

pytestmark = pytest.mark.anyio


async def test_a_handler_that_never_stops_talking_does_not_hold_up_the_end() -> None:
    async def flood(params: Any, request: Any) -> dict[str, Any]:
        while True:
            await request.session.raw_notify("news", {"text": "x" * 10_000})

    far_end, near_end = memory_pair()  # nobody reads at the far one
    limits = Limits(drain=0.05, stop=0.2)
    session = Session(
        near_end, profile=PROFILE, routes={TOOLS_LIST.name: Route(TOOLS_LIST, flood)}, limits=limits
    )
    async with session:
        while near_end._callbacks is None:
            await checkpoint()
        near_end._callbacks.feed(encode({"jsonrpc": "2.0", "id": 1, "method": TOOLS_LIST.name}))
        outbox = session._opened().engine.outbox
        while not outbox.full:
            await checkpoint()
        await far_end.aclose()
        with anyio.fail_after(5):
            await session.wait_closed()
        assert sum(len(frame) for frame in outbox.waiting if isinstance(frame, bytes)) < 2**21
