"""A connector to a chat that is not there, and a host that talks on it."""

from __future__ import annotations

__all__ = ("ALL", "GENERAL", "INBOX", "NEWS", "Chat", "News", "Talk", "chatting", "message")

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from kinwire import Server
from kinwire.mcpl import (
    ChannelMessage,
    Channels,
    HostPeer,
    McplHost,
    McplServer,
    MessageDecision,
    UserTurn,
)
from kinwire.mcpl.rules.content import blocks_of, content_text
from kinwire_protocols import mcpl
from tests.runtime.mcpl.fixtures_pairs import Lives, feature, live_pair

GENERAL = mcpl.ChannelDescriptor(
    id="discord:#general",
    type="discord",
    label="#general (Acme)",
    direction="bidirectional",
    address={"guild": "acme", "channel": "#general"},
)
NEWS = GENERAL.model_copy(update={"id": "discord:#news", "direction": "outbound"})
INBOX = GENERAL.model_copy(update={"id": "discord:#inbox", "direction": "inbound"})
ALL = ("publish", "observe", "lifecycle", "streaming")
"""What a server can offer in addition to channels themselves."""


class Chat:
    """The server: what it was asked to deliver, and what it was shown."""

    def __init__(
        self,
        *,
        sets: dict[str, mcpl.FeatureSet] | None = None,
        flags: Sequence[str] = ALL,
        channels: Sequence[mcpl.ChannelDescriptor] = (GENERAL, NEWS, INBOX),
    ) -> None:
        declared = {
            "channels.publish": feature("channels.publish"),
            "channels.observe": feature("channels.observe"),
        }
        self.live = McplServer(feature_sets=declared if sets is None else sets, channels=channels)
        self.server = Server("chat", "1", extensions=[self.live])
        self.delivered: list[tuple[str, Any]] = []
        self.pieces: list[tuple[int, str]] = []
        self.wholes: list[tuple[str, Any]] = []
        self.broken = False
        on = self.live.on
        if "publish" in flags:
            on.channels_publish(self._publish)
        if "lifecycle" in flags:
            on.channels_open(self._open)
            on.channels_close(self._close)
        if "observe" in flags:
            on.channels_outgoing_complete(self._complete)
        if "streaming" in flags:
            on.channels_outgoing_chunk(self._chunk)

    async def _publish(self, params: mcpl.ChannelsPublishParams) -> mcpl.ChannelsPublishResult:
        self.delivered.append((params.channel_id, content_text(params.content)))
        return mcpl.ChannelsPublishResult(delivered=True, message_id=f"m{len(self.delivered)}")

    async def _open(self, params: mcpl.ChannelsOpenParams) -> mcpl.ChannelsOpenResult:
        if self.broken:
            raise OSError("the chat is away")
        name = (params.address or {})["channel"]
        update = {"id": f"discord:{name}", "address": params.address}
        return mcpl.ChannelsOpenResult(channel=GENERAL.model_copy(update=update))

    async def _close(self, params: mcpl.ChannelsCloseParams) -> mcpl.ChannelsCloseResult:
        return mcpl.ChannelsCloseResult(closed=not self.broken)

    async def _chunk(self, params: mcpl.ChannelsOutgoingChunkParams) -> None:
        self.pieces.append((params.index, params.delta))

    async def _complete(self, params: mcpl.ChannelsOutgoingCompleteParams) -> None:
        self.wholes.append((params.channel_id, content_text(params.content)))


class News:
    """The host's program: what came in."""

    def __init__(self, *decisions: MessageDecision) -> None:
        self.decisions = list(decisions)
        self.incoming: list[ChannelMessage] = []
        self.turns: list[UserTurn] = []

    async def decide(self, incoming: ChannelMessage) -> MessageDecision:
        self.incoming.append(incoming)
        return self.decisions.pop(0) if self.decisions else MessageDecision(infer=True)

    async def turn(self, turn: UserTurn) -> None:
        self.turns.append(turn)

    def policy(self, **others: Any) -> Channels:
        return Channels(on_message=self.decide, on_turn=self.turn, **others)


class Talk(NamedTuple):
    host: McplHost
    lives: Lives
    side: HostPeer
    """The host as the chat has it."""


@asynccontextmanager
async def chatting(
    chat: Chat, channels: Channels | None = None, **host: Any
) -> AsyncGenerator[Talk]:
    """Yield both sides once the channels are registered."""
    enabled = host.pop("enabled", ["*"])
    live = McplHost(enabled=enabled, channels=channels or Channels(), **host)
    async with live_pair(chat.live, live, chat.server) as lives:
        for _ in range(2):  # the channels are registered while the first is served
            await lives.connection.mcp.ping()
        yield Talk(live, lives, chat.live.hosts[0])


def message(number: int, channel_id: str = GENERAL.id, **more: Any) -> mcpl.IncomingMessage:
    return mcpl.IncomingMessage(
        channel_id=channel_id,
        message_id=f"dmsg_{number}",
        content=blocks_of(f"Message {number}"),
        **more,
    )
