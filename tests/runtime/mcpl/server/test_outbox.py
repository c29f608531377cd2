"""An outbox against our own host, with its default limits."""

from __future__ import annotations

from typing import Any

import pytest
from trio.testing import MockClock

from kinwire import Host, Server, pair
from kinwire.mcpl import Channels, McplHost, McplServer, Outbox, PushedEvent, UserTurn, content_text
from kinwire_protocols import mcpl
from kinwire_protocols.mcp import TextContent
from tests.runtime.mcpl.fixtures_pairs import feature

EVENTS, MESSAGES = 1000, 100
ROOM = mcpl.ChannelDescriptor(id="chat:a", type="chat", label="a", direction="inbound")


@pytest.fixture
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """A clock that jumps to the next deadline when nothing else is to do."""
    return "trio", {"clock": MockClock(autojump_threshold=0)}


@pytest.mark.anyio
async def test_a_burst_is_delivered_completely_and_in_order_with_default_limits() -> None:
    events: list[str] = []
    messages: list[str] = []

    async def take(event: PushedEvent) -> mcpl.PushEventResult:
        assert not event.again
        events.append(content_text(event.params.payload.content))
        return mcpl.PushEventResult(accepted=True)

    async def turn(turn: UserTurn) -> None:
        messages.extend(one.message_id for one in turn.messages)

    live = McplServer(feature_sets={"bell": feature("pushEvents")}, channels=[ROOM])
    outbox = Outbox(live)
    for number in range(EVENTS):
        await outbox.push("bell", str(number))
    for number in range(MESSAGES):
        text: list[mcpl.Block] = [TextContent(text="Hello")]
        await outbox.incoming(
            mcpl.IncomingMessage(channel_id="chat:a", message_id=str(number), content=text)
        )
    host = McplHost(enabled=["bell"], channels=Channels(on_turn=turn), on_push=take)
    server = Server("bell", "1", extensions=[live])
    async with pair(server, Host("h", "1", extensions=[host])):
        await outbox.drain()
    assert events == [str(number) for number in range(EVENTS)]
    assert messages == [str(number) for number in range(MESSAGES)]
