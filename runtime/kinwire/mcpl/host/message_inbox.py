"""Messages that come in on channels: decided one by one, handed over as turns (MCPL 14.3).

`managers/inbox.py` remembers the messages. If a request ends before its messages are handed over,
they are new when they come again; if it ends during that, they are handed over again, marked so.
"""

from __future__ import annotations

__all__ = ("ChannelMessage", "MessageDecision", "MessageInbox", "OnMessage", "OnTurn", "UserTurn")

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from kinwire.managers.ask import Answer, Late, ask
from kinwire.managers.concurrency import KeyedLock
from kinwire.managers.inbox import Inbox, InboxKey
from kinwire.mcpl.host.conversations import Conversations
from kinwire.mcpl.host.server_peer import ServerPeer
from kinwire.mcpl.rules.channels import MOST_MESSAGES, OBSERVE, SEND_AGAIN, sees
from kinwire.mcpl.rules.incoming import LooseIncoming
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire.support.arguments import FLAG, TEXT, ArgumentCheck
from kinwire.support.sanitize import enumerated, sanitize_for_log
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcpl.models import (
    ChannelContext,
    ChannelsIncomingResult,
    IncomingMessage,
    IncomingOutcome,
)

logger = logging.getLogger("kinwire.mcpl")

_FAILED = f"the host failed: {SEND_AGAIN}"
_LATE = f"the host did not decide in time: {SEND_AGAIN}"


@dataclass(frozen=True, slots=True)
class ChannelMessage:
    """A message that came in on a channel."""

    server: ServerPeer
    message: IncomingMessage
    conversation_id: str | None
    """The conversation of its thread; None if the thread is new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDecision:
    """What the host does with a message."""

    accepted: bool = True
    conversation_id: str | None = None
    """Its conversation; None for that of its thread, or a new one."""
    infer: bool = False
    """Whether the model should answer."""
    reason: str | None = None
    """Why it is not accepted, for the server."""

    def __post_init__(self) -> None:
        _DECISION.check(
            accepted=self.accepted,
            conversation_id=self.conversation_id,
            infer=self.infer,
            reason=self.reason,
        )


_DECISION = ArgumentCheck(
    "MessageDecision",
    "MessageDecision()",
    {},
    accepted=FLAG,
    conversation_id=TEXT.or_none,
    infer=FLAG,
    reason=TEXT.or_none,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """The messages that came in one request for one conversation: a turn of its users."""

    server_key: str
    """Which server sent them: `ServerPeer.key`."""
    conversation_id: str
    index: int
    """Its number in the conversation, from 0; a turn that was not taken leaves a gap."""
    messages: Sequence[IncomingMessage]
    infer: bool
    channels: ChannelContext
    """What servers may know of it, for `BeforeInferenceParams.channels`."""
    again: Sequence[IncomingMessage] = ()
    """The messages that were handed over before, with an unknown outcome: the process ended, or the
    server cancelled its request."""


OnMessage = Callable[[ChannelMessage], Awaitable[MessageDecision]]
"""Decides about a message. Later messages of the same channel wait for it."""

OnTurn = Callable[[UserTurn], Awaitable[None]]
"""Takes a turn. It starts the inference and does not wait for it. If it raises, the turn is not
taken, and the server may send the messages again."""


@dataclass(slots=True)
class _Accepted:
    """The accepted messages of a request that belong to one conversation."""

    messages: dict[int, IncomingMessage] = field(default_factory=dict[int, IncomingMessage])
    """By index in the request."""
    again: list[IncomingMessage] = field(default_factory=list[IncomingMessage])
    infer: bool = False


@dataclass(slots=True)
class _Batch:
    """One request while it is served."""

    server: ServerPeer
    results: dict[int, IncomingOutcome]
    """By place; at first those of wrong messages."""
    taken: dict[str, _Accepted] = field(default_factory=dict[str, _Accepted])
    """By conversation."""
    turns: AsyncExitStack = field(default_factory=AsyncExitStack)
    """Of the messages that it is handing over."""
    repeats: list[tuple[int, IncomingMessage]] = field(
        default_factory=list[tuple[int, IncomingMessage]]
    )
    """Messages that another request is handing over."""


class MessageInbox:
    """Takes the messages of channels in, for one host."""

    def __init__(
        self,
        on_message: OnMessage | None,
        on_turn: OnTurn | None,
        timeout: float,
        conversations: Conversations,
        context: Callable[[str], Awaitable[ChannelContext]],
        records: Records | None,
        clock: Clock,
    ) -> None:
        self._on_message = on_message
        self._on_turn = on_turn
        self._timeout = timeout
        self._conversations = conversations
        self._context = context
        self._turns = KeyedLock[tuple[str, str]]()  # by server and channel
        # The answers are the conversations.
        self._inbox = Inbox[IncomingMessage, str](
            "channel/message/", write=str, read=str, records=records, clock=clock
        )

    async def take(self, server: ServerPeer, params: LooseIncoming) -> ChannelsIncomingResult:
        """Hand over messages as turns of users, and return the outcome of each message."""
        if params.count > MOST_MESSAGES:
            raise InvalidParamsError(
                f"channels/incoming#/messages: expected at most {MOST_MESSAGES} messages, "
                f"got {params.count}. Send them in several requests."
            )
        _log_problems(server, params)
        batch = _Batch(server, dict(params.refused))
        places = (place for place in range(params.count) if place not in params.refused)
        async with batch.turns:
            for place, message in zip(places, params.messages, strict=False):
                async with self._turns.of((server.key, message.channel_id)):
                    outcome = await self._outcome(batch, place, message)
                if outcome is not None:
                    batch.results[place] = outcome
            for conversation_id, taken in batch.taken.items():
                await self._handed_over(batch, conversation_id, taken)
        # Waiting earlier could deadlock two requests that repeat messages of each other.
        for place, message in batch.repeats:
            key = self._key(server, message)
            async with self._inbox.turn(key):
                known = await self._inbox.look(key)
            batch.results[place] = _outcome(message, None if known is None else known.answer)
        return ChannelsIncomingResult(results=[batch.results[key] for key in sorted(batch.results)])

    def _key(self, server: ServerPeer, message: IncomingMessage) -> InboxKey:
        return self._inbox.key(server.key, message.channel_id, message.message_id)

    async def _outcome(
        self, batch: _Batch, place: int, message: IncomingMessage
    ) -> IncomingOutcome | None:
        """Return the outcome of a message, or None if it is decided later."""
        server = batch.server
        problem = await _problem(server, message.channel_id)
        if problem is not None:
            return _refused(message, problem)
        key = self._key(server, message)
        if self._inbox.is_under_way(key):
            batch.repeats.append((place, message))
            return None
        known = await self._inbox.look(key)
        if known is not None and known.answer is not None:
            return _outcome(message, known.answer)
        before = await self._conversations.of_thread(server.key, message)
        decision = await self._decided(ChannelMessage(server, message, before))
        if not decision.accepted:
            return _refused(message, decision.reason or "the host does not take it")
        chosen = decision.conversation_id
        conversation_id = await self._conversations.join(server.key, message, chosen)
        await batch.turns.enter_async_context(self._inbox.turn(key))
        taken = batch.taken.setdefault(conversation_id, _Accepted())
        taken.messages[place] = message
        taken.again += [message] if known is not None else []
        taken.infer = taken.infer or decision.infer
        return None

    async def _decided(self, incoming: ChannelMessage) -> MessageDecision:
        if self._on_message is None:
            return MessageDecision()
        decided = await ask(
            self._on_message,
            incoming,
            name="Channels.on_message",
            timeout=self._timeout,
            expects=MessageDecision,
        )
        if isinstance(decided, Answer):
            return decided.value
        if isinstance(decided, Late):
            logger.warning("%s: a message was not decided in time", incoming.server.id)
            return MessageDecision(accepted=False, reason=_LATE)
        logger.error("%s: a message was not taken", incoming.server.id, exc_info=decided.error)
        return MessageDecision(accepted=False, reason=_FAILED)

    async def _handed_over(self, batch: _Batch, conversation_id: str, taken: _Accepted) -> None:
        was_taken = await self._turn_taken(batch.server, conversation_id, taken)
        for place, message in taken.messages.items():
            key = self._key(batch.server, message)
            if was_taken:
                await self._inbox.record(key, conversation_id)
            else:
                await self._inbox.forget(key)
            batch.results[place] = _outcome(message, conversation_id if was_taken else None)

    async def _turn_taken(self, server: ServerPeer, conversation_id: str, taken: _Accepted) -> bool:
        index = await self._conversations.count(conversation_id)
        if self._on_turn is None:
            return True
        messages = list(taken.messages.values())
        turn = UserTurn(
            server_key=server.key,
            conversation_id=conversation_id,
            index=index,
            messages=messages,
            infer=taken.infer,
            channels=await self._context(conversation_id),
            again=taken.again,
        )
        for message in messages:
            await self._inbox.record(self._key(server, message), None)
        try:
            await self._on_turn(turn)
        except Exception:
            logger.exception("%s: a turn was not taken", conversation_id)
            return False
        return True


def _log_problems(server: ServerPeer, params: LooseIncoming) -> None:
    if params.has_zoneless_times:
        server.note_missing_zone()
    if params.refused:
        problems = [outcome.reason for outcome in params.refused.values()]
        logger.warning("%s: refused: %s", server.id, sanitize_for_log(enumerated(problems)))


def _outcome(message: IncomingMessage, conversation_id: str | None) -> IncomingOutcome:
    """Return the outcome of a message that was handed over; None if it was not taken."""
    if conversation_id is None:
        return _refused(message, _FAILED)
    return IncomingOutcome(
        message_id=message.message_id, accepted=True, conversation_id=conversation_id
    )


async def _problem(server: ServerPeer, channel_id: str) -> str | None:
    problem = server.channels.registry.incoming_problem(channel_id)
    sets = server.feature_sets.items()
    # If no set of the server declares observing, its offer alone counts.
    if problem is None and any(OBSERVE in one.uses and sees(n, channel_id) for n, one in sets):
        _, problem = await server.scopes.set_for(OBSERVE, channel_id)
    return problem


def _refused(message: IncomingMessage, reason: str) -> IncomingOutcome:
    return IncomingOutcome(message_id=message.message_id, accepted=False, reason=reason)
