"""Channels in a host: the messages that come in, and where answers go (MCPL 14).

`message_inbox.py` takes messages in, `conversations.py` remembers them, and `rules/channels.py` has
the rules for both sides.
"""

from __future__ import annotations

__all__ = ("ChannelManager", "Channels")

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from kinwire.mcpl.host.channel_opener import ChannelOpener, MayOpen
from kinwire.mcpl.host.conversations import Conversations
from kinwire.mcpl.host.message_inbox import MessageInbox, OnMessage, OnTurn
from kinwire.mcpl.host.moderation import Draft, Moderate, Moderator
from kinwire.mcpl.host.outgoing_response import OutgoingResponse, observers_of
from kinwire.mcpl.host.server_peer import ServerPeer
from kinwire.mcpl.rules.channels import THINKING
from kinwire.mcpl.rules.incoming import LooseIncoming
from kinwire.mcpl.rules.names import ServerPattern
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire.support.arguments import (
    FUNCTION,
    PLAIN_FUNCTION,
    SECONDS,
    TEXTS,
    ArgumentCheck,
    ValueKind,
    is_pair,
)
from kinwire_protocols.mcpl.errors import UnknownChannelError
from kinwire_protocols.mcpl.models import (
    ChannelContext,
    ChannelReference,
    ChannelsIncomingResult,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """How a host runs channels; `McplHost(channels=...)` takes one. Times are in seconds.

    Without `on_message` every message is accepted and none is answered. `default_outgoing` is the
    `server_id` and the channel for answers if the channel of the conversation cannot be written to.
    `raw` are patterns of feature sets (`PATTERN`, `SERVER/PATTERN`) that see outgoing content
    before `moderate` has checked it.

    `open` says which channels are opened when a server registers them: patterns of channel ids
    (`chat:*`, or `SERVER/PATTERN`, where the server is a `server_id` or `*`), or a plain function
    of the `ServerPeer` and the channel that returns True or False.

    Raises:
        TypeError: `raw` or `open` is a single string.
        ValueError: an entry of `raw` or `open` is not a pattern, or a time is out of range.
    """

    on_message: OnMessage | None = None
    on_turn: OnTurn | None = None
    message_timeout: float = 30.0
    default_outgoing: tuple[str, str] | None = None
    moderate: Moderate | None = None
    moderate_timeout: float = 10.0
    raw: Sequence[str] = ()
    open: Sequence[str] | MayOpen = ()

    def __post_init__(self) -> None:
        _CHANNELS.check(**{one.name: getattr(self, one.name) for one in fields(self)})
        for pattern in self.raw:
            ServerPattern.read(pattern)
        ChannelOpener(self.open)


_OPEN = ValueKind(
    "several patterns or a plain function",
    '["chat:*"]',
    lambda value: PLAIN_FUNCTION.fits(value) or TEXTS.wrong("open", value) is None,
)
_CHANNELS = ArgumentCheck(
    "Channels",
    "Channels()",
    {},
    on_message=FUNCTION.or_none,
    on_turn=FUNCTION.or_none,
    message_timeout=SECONDS,
    default_outgoing=ValueKind("a server and a channel", '("server", "channel")', is_pair).or_none,
    moderate=FUNCTION.or_none,
    moderate_timeout=SECONDS,
    raw=TEXTS,
    open=_OPEN,
)


class ChannelManager:
    """The channels of all servers of a host. Get it from `McplHost.channels`."""

    def __init__(
        self,
        policy: Channels,
        servers: Callable[[], Sequence[ServerPeer]],
        records: Records | None,
        clock: Clock,
    ) -> None:
        self.policy = policy
        self.moderator = Moderator(policy.moderate, policy.moderate_timeout)
        self.opener = ChannelOpener(policy.open)
        self._servers = servers
        self._conversations = Conversations(records)
        self._inbox = MessageInbox(
            policy.on_message,
            policy.on_turn,
            policy.message_timeout,
            self._conversations,
            self.context,
            records,
            clock,
        )

    async def write(self, conversation_id: str, *, inference_id: str) -> OutgoingResponse:
        """Begin an answer in a conversation; it goes to the channel of the last message.

        Raises:
            UnknownChannelError: that channel cannot be written to, nor can the default.
        """
        route = await self._route(conversation_id)
        if route is None:
            raise UnknownChannelError(
                f"conversation {conversation_id!r:.60}: expected a channel that can be written to. "
                "Try again when its server is connected, or set Channels(default_outgoing=...).",
                data={"conversationId": conversation_id},
            )
        return await self._response(route[1], conversation_id, inference_id, route[0])

    async def think(self, conversation_id: str, *, inference_id: str) -> OutgoingResponse:
        """Begin thoughts in a conversation; only sets named `channels.thinking` see them."""
        return await self._response(THINKING, conversation_id, inference_id, None)

    async def context(self, conversation_id: str) -> ChannelContext:
        """Return what servers may know of a conversation's channels, before inference."""
        known = await self._conversations.of(conversation_id)
        route = await self._route(conversation_id)
        return ChannelContext(
            incoming=None if known is None else known.incoming,
            default_outgoing=None if route is None else ChannelReference(channel_id=route[1]),
            candidates=[
                channel.id
                for server in self._servers()
                for channel in server.channels.known
                if channel.direction != "inbound"
            ],
        )

    async def take(self, server: ServerPeer, params: LooseIncoming) -> ChannelsIncomingResult:
        """Hand over messages as turns of users, and return the outcome of each message."""
        return await self._inbox.take(server, params)

    async def _route(self, conversation_id: str) -> tuple[ServerPeer, str] | None:
        known = await self._conversations.of(conversation_id)
        servers, default = self._servers(), self.policy.default_outgoing
        candidates: list[tuple[ServerPeer, str]] = []
        if known is not None:
            channel_id = known.incoming.channel_id
            candidates += [(one, channel_id) for one in servers if one.key == known.server]
        if default is not None:
            candidates += [(one, default[1]) for one in servers if one.server_id == default[0]]
        return next((one for one in candidates if _can_publish(*one)), None)

    async def _response(
        self, channel_id: str, conversation_id: str, inference_id: str, connector: ServerPeer | None
    ) -> OutgoingResponse:
        draft = Draft(
            stage="complete",
            channel_id=channel_id,
            content="",
            conversation_id=conversation_id,
            inference_id=inference_id,
        )
        observers = await observers_of(self._servers(), channel_id, self.policy.raw)
        return OutgoingResponse(draft, observers, self.moderator, connector)


def _can_publish(server: ServerPeer, channel_id: str) -> bool:
    return server.channels.registry.publish_refusal(channel_id) is None
