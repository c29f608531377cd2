"""Channels in a host: what comes in on them, and where answers go (MCPL 14).

`rules/channels.py` has what holds for all channels, `conversations.py` what is remembered.
"""

from __future__ import annotations

__all__ = ("ChannelDesk", "Channels", "Decision", "Incoming", "Turn")

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from kinwire.mcpl.channel_access import set_for
from kinwire.mcpl.conversations import Conversations
from kinwire.mcpl.moderation import Draft, Moderate, Moderator
from kinwire.mcpl.rules.channels import MOST_MESSAGES, OBSERVE, THINKING, sees
from kinwire.mcpl.rules.names import checked_pattern
from kinwire.mcpl.writing import Writing, observers_of
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcpl.errors import UnknownChannelError
from kinwire_protocols.mcpl.models import (
    ChannelContext,
    ChannelReference,
    ChannelsIncomingParams,
    ChannelsIncomingResult,
    IncomingMessage,
    IncomingOutcome,
)

if TYPE_CHECKING:
    from kinwire.mcpl.live_server import LiveServer

logger = logging.getLogger("kinwire.mcpl")


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message that came in on a channel."""

    server: LiveServer
    message: IncomingMessage
    conversation_id: str | None
    """The conversation of its thread; None if the thread is new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What becomes of a message."""

    accepted: bool = True
    conversation_id: str | None = None
    """Where it belongs; None for the conversation of its thread, or a new one."""
    infer: bool = False
    """Whether the model is to answer."""
    reason: str | None = None
    """Why it is not accepted, for the server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What came in at once for one conversation: a turn of its users."""

    conversation_id: str
    index: int
    """Its number in the conversation, from 0."""
    messages: Sequence[IncomingMessage]
    infer: bool
    channels: ChannelContext
    """What servers may be told of it, in `BeforeInferenceParams.channels`."""


OnMessage = Callable[[Incoming], Awaitable[Decision]]
"""Decides what becomes of a message. One of the same channel waits meanwhile."""

OnTurn = Callable[[Turn], Awaitable[None]]
"""Takes a turn; it starts the inference and does not wait for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """How a host runs channels; `McplHost(channels=...)` takes one. Times are in seconds.

    Without `on_message` every message is accepted and none answered. `default_outgoing` are server
    and channel to which answers go whose conversation came from nowhere that can be written to.
    `raw` are patterns of feature sets that see what goes out before `moderate` has looked at it.
    """

    on_message: OnMessage | None = None
    on_turn: OnTurn | None = None
    message_timeout: float = 30.0
    default_outgoing: tuple[str, str] | None = None
    moderate: Moderate | None = None
    moderate_timeout: float = 10.0
    raw: Sequence[str] = ()

    def __post_init__(self) -> None:
        for pattern in self.raw:
            checked_pattern(pattern)


class ChannelDesk:
    """The channels of all servers of a host. Get it from `McplHost.channels`."""

    def __init__(
        self,
        policy: Channels,
        servers: Callable[[], Sequence[LiveServer]],
        records: Records | None,
        clock: Clock,
    ) -> None:
        self.policy = policy
        self.moderator = Moderator(policy.moderate, policy.moderate_timeout)
        self._servers = servers
        self._conversations = Conversations(records, clock)
        self._turns = defaultdict[tuple[str, str], anyio.Lock](anyio.Lock)  # by server and channel

    async def write(self, conversation_id: str, *, inference_id: str) -> Writing:
        """Begin an answer in a conversation; it goes where its last message came from.

        Raises:
            UnknownChannelError: that cannot be written to, and there is no default either.
        """
        route = await self._route(conversation_id)
        if route is None:
            raise UnknownChannelError(data={"conversationId": conversation_id})
        return await self._writing(route[1], conversation_id, inference_id, route[0])

    async def think(self, conversation_id: str, *, inference_id: str) -> Writing:
        """Begin thoughts in a conversation, which only sets called `channels.thinking` see."""
        return await self._writing(THINKING, conversation_id, inference_id, None)

    async def context(self, conversation_id: str) -> ChannelContext:
        """Return what servers may be told of a conversation's channels, before inference."""
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

    async def take(
        self, server: LiveServer, params: ChannelsIncomingParams
    ) -> ChannelsIncomingResult:
        """Return what became of each message, and hand over the turns that they make."""
        if len(params.messages) > MOST_MESSAGES:
            raise InvalidParamsError(
                f"channels/incoming#/messages: expected at most {MOST_MESSAGES} messages, "
                f"got {len(params.messages)}. Send them in several requests."
            )
        results: list[IncomingOutcome] = []
        taken: dict[str, list[IncomingMessage]] = {}
        inferring: set[str] = set()
        for message in params.messages:
            outcome, decision = await self._in_turn(server, message)
            results.append(outcome)
            if decision is not None and outcome.conversation_id is not None:
                taken.setdefault(outcome.conversation_id, []).append(message)
                if decision.infer:
                    inferring.add(outcome.conversation_id)
        for conversation_id, messages in taken.items():
            await self._handed_over(conversation_id, messages, conversation_id in inferring)
        return ChannelsIncomingResult(results=results)

    async def _in_turn(
        self, server: LiveServer, message: IncomingMessage
    ) -> tuple[IncomingOutcome, Decision | None]:
        place = (server.id, message.channel_id)
        turn = self._turns[place]
        try:
            async with turn:
                return await self._outcome(server, message)
        finally:
            if not turn.locked():  # servers may name ever more channels
                self._turns.pop(place, None)

    async def _outcome(
        self, server: LiveServer, message: IncomingMessage
    ) -> tuple[IncomingOutcome, Decision | None]:
        """Return what became of a message, and the decision if it was made and accepts now."""
        fault = await self._fault(server, message.channel_id)
        if fault is not None:
            return _refused(message, fault), None
        known = await self._conversations.outcome(server.id, message)
        if known is not None:
            return known, None
        before = await self._conversations.of_thread(server.id, message)
        decision = await self._decided(Incoming(server, message, before))
        if not decision.accepted:
            return _refused(message, decision.reason or "the host does not take it"), None
        chosen = decision.conversation_id
        conversation_id = await self._conversations.join(server.id, message, chosen)
        outcome = IncomingOutcome(
            message_id=message.message_id, accepted=True, conversation_id=conversation_id
        )
        await self._conversations.remember(server.id, message, outcome)
        return outcome, decision

    async def _fault(self, server: LiveServer, channel_id: str) -> str | None:
        fault = server.channels.registry.incoming_fault(channel_id)
        sets = server.feature_sets.items()
        # A server whose sets do not mention observing is held by its offer alone.
        if fault is None and any(OBSERVE in one.uses and sees(n, channel_id) for n, one in sets):
            _, fault = await set_for(server, OBSERVE, channel_id)
        return fault

    async def _decided(self, incoming: Incoming) -> Decision:
        if self.policy.on_message is None:
            return Decision()
        try:
            with anyio.fail_after(self.policy.message_timeout):
                return await self.policy.on_message(incoming)
        except Exception:
            logger.exception("%s: a message was not taken", incoming.server.id)
            return Decision(accepted=False, reason="the host failed: send it again")

    async def _handed_over(
        self, conversation_id: str, messages: Sequence[IncomingMessage], infer: bool
    ) -> None:
        index = await self._conversations.count(conversation_id)
        if self.policy.on_turn is None:
            return
        turn = Turn(
            conversation_id=conversation_id,
            index=index,
            messages=messages,
            infer=infer,
            channels=await self.context(conversation_id),
        )
        try:
            await self.policy.on_turn(turn)
        except Exception:
            logger.exception("%s: a turn was not taken", conversation_id)

    async def _route(self, conversation_id: str) -> tuple[LiveServer, str] | None:
        known = await self._conversations.of(conversation_id)
        own = None if known is None else (known.server, known.incoming.channel_id)
        for server_id, channel_id in filter(None, (own, self.policy.default_outgoing)):
            for server in self._servers():
                refusal = server.channels.registry.publish_refusal(channel_id)
                if server.id == server_id and refusal is None:
                    return server, channel_id
        return None

    async def _writing(
        self, channel_id: str, conversation_id: str, inference_id: str, connector: LiveServer | None
    ) -> Writing:
        draft = Draft(
            stage="complete",
            channel_id=channel_id,
            content="",
            conversation_id=conversation_id,
            inference_id=inference_id,
        )
        observers = await observers_of(self._servers(), channel_id, self.policy.raw)
        return Writing(draft, observers, self.moderator, connector)


def _refused(message: IncomingMessage, reason: str) -> IncomingOutcome:
    return IncomingOutcome(message_id=message.message_id, accepted=False, reason=reason)
