"""A connector between a chat and hosts: each room is a channel (MCPL 14).

What people write goes to the host that connected last of those that have the channel, and waits for
one; what a host publishes is posted. The chat is that of `rooms.py`; a connector to a real one has
its client in the place of `Rooms`, and gives its outbox the records of a store.
"""

from __future__ import annotations

__all__ = ("CHANNELS", "FEATURE_SETS", "Connector", "server")

from kinwire import Context, Server
from kinwire.mcpl import McplServer, Outbox
from kinwire_cli.demos.mcpl.rooms import Post, Rooms
from kinwire_protocols import mcpl
from kinwire_protocols.mcp import TextContent

FEATURE_SETS = {
    "channels.publish": mcpl.FeatureSet(
        description="Publish to rooms", uses=["channels.publish"], scoped=True
    ),
    "channels.observe": mcpl.FeatureSet(
        description="Observe outgoing and incoming messages", uses=["channels.observe"], scoped=True
    ),
}


def _channel_of(room: str) -> mcpl.ChannelDescriptor:
    """Return what a room is to hosts."""
    return mcpl.ChannelDescriptor(
        id=f"chat:{room}",
        type="chat",
        label=room,
        direction="bidirectional",
        address={"room": room},
    )


CHANNELS = [_channel_of("#general"), _channel_of("#board")]


class Connector:
    """What stands between the chat and the hosts."""

    def __init__(self, server: Server, live: McplServer, rooms: Rooms) -> None:
        self._outbox, self._rooms = Outbox(live), rooms
        self._channels = {channel.id for channel in CHANNELS}
        rooms.on_post = self.hand_over
        live.on.channels_publish(self.publish)
        live.on.channels_open(self.open)
        live.on.channels_close(self.close)
        live.on.channels_outgoing_complete(self.observe)
        server.tool(self.write_as)
        server.tool(self.read_room)

    async def publish(self, params: mcpl.ChannelsPublishParams) -> mcpl.ChannelsPublishResult:
        """Post what a host publishes."""
        room = params.channel_id.removeprefix("chat:")
        post = self._rooms.post(room, "assistant", _text_of(params.content))
        return mcpl.ChannelsPublishResult(delivered=True, message_id=post.id)

    async def hand_over(self, post: Post) -> None:
        """Record what a person has written; the outbox gives it to a host that has the channel."""
        channel_id = f"chat:{post.room}"
        if channel_id not in self._channels:
            return
        message = mcpl.IncomingMessage(
            channel_id=channel_id,
            message_id=post.id,
            author=mcpl.ChannelAuthor(id=post.author.lower(), name=post.author),
            content=[TextContent(text=post.text)],
        )
        await self._outbox.incoming(message)

    async def open(self, params: mcpl.ChannelsOpenParams) -> mcpl.ChannelsOpenResult:
        """Make a room a channel of the host that asks for it."""
        room = (params.address or {}).get("room")
        if params.type != "chat" or not isinstance(room, str):
            raise mcpl.ChannelOpenFailedError(data={"type": params.type, "address": params.address})
        channel = _channel_of(room)
        self._channels.add(channel.id)
        return mcpl.ChannelsOpenResult(channel=channel)

    async def close(self, params: mcpl.ChannelsCloseParams) -> mcpl.ChannelsCloseResult:
        """Let a channel go. The room stays."""
        self._channels.discard(params.channel_id)
        return mcpl.ChannelsCloseResult(closed=True)

    async def observe(self, params: mcpl.ChannelsOutgoingCompleteParams, context: Context) -> None:
        """Tell the log what goes out: it is for information, and only `publish` delivers."""
        await context.log("info", f"{params.channel_id}: {_text_of(params.content)}")

    async def write_as(self, person: str, text: str, room: str = "#general") -> str:
        """Stand in for a person who writes in a room."""
        post = await self._rooms.write(room, person, text)
        return f"Posted as {post.id}."

    async def read_room(self, room: str = "#general") -> str:
        """Show what stands in a room."""
        return "\n".join(f"{post.author}: {post.text}" for post in self._rooms.read(room))


def _text_of(content: list[mcpl.Block]) -> str:
    return "".join(one.text if isinstance(one, TextContent) else f"[{one.type}]" for one in content)


live = McplServer(feature_sets=FEATURE_SETS, channels=CHANNELS)
server = Server("chat", "1.0", extensions=[live])
Connector(server, live, Rooms())

if __name__ == "__main__":
    server.run()
