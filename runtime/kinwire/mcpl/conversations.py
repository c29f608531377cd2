"""Which conversation a thread of a channel belongs to, and what came in before (MCPL 14.3).

Where records keep it, it is the same after a restart.
"""

from __future__ import annotations

__all__ = ("Conversation", "Conversations")

import secrets
from dataclasses import dataclass, replace
from typing import TypeVar

from kinwire.mcpl.rules.json_values import digest
from kinwire.mcpl.rules.seen_messages import WINDOW, SeenMessages
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.mcpl.models import IncomingMessage, IncomingOutcome, IncomingReference

T = TypeVar("T")

_SHORT = 32  # characters of a digest in a part of a key; 128 bits
_MOST = 100_000  # threads, and conversations, in memory; older ones are in records alone


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that messages of channels belong to."""

    id: str
    turns: int
    """How many turns of users it has."""
    server: str
    """What the host calls the server that brought its last message."""
    incoming: IncomingReference
    """That message."""


class Conversations:
    """The conversations of one host."""

    def __init__(self, records: Records | None, clock: Clock) -> None:
        self._records = records
        self._clock = clock  # never goes back
        self._threads: dict[str, str] = {}
        self._found: dict[str, Conversation] = {}
        self._seen = SeenMessages()

    async def of_thread(self, server: str, message: IncomingMessage) -> str | None:
        """Return the conversation of a message's thread, None if the thread is new."""
        key = _thread_key(server, message)
        known = self._threads.get(key)
        if known is None and self._records is not None:
            record = await self._records.get(key)
            known = None if record is None else record.value["conversation"]
        return known

    async def of(self, conversation_id: str) -> Conversation | None:
        """Return what is known of a conversation."""
        known = self._found.get(conversation_id)
        if known is None and self._records is not None:
            record = await self._records.get(_conversation_key(conversation_id))
            if record is not None:
                value = record.value
                incoming = from_wire(IncomingReference, value["incoming"])
                known = Conversation(conversation_id, value["turns"], value["server"], incoming)
        return known

    async def join(self, server: str, message: IncomingMessage, chosen: str | None) -> str:
        """Have a message, and its thread from now on, belong to a conversation; return which.

        That is the one that was chosen, else that of the thread, else a new one.
        """
        before = await self.of_thread(server, message)
        conversation_id = chosen or before or f"conv_{secrets.token_hex(8)}"
        key = _thread_key(server, message)
        if before != conversation_id:
            _put(self._threads, key, conversation_id)
            if self._records is not None:
                await self._records.put(key, {"conversation": conversation_id})
        known = await self.of(conversation_id)
        incoming = IncomingReference(
            channel_id=message.channel_id,
            message_id=message.message_id,
            thread_id=message.thread_id,
        )
        turns = 0 if known is None else known.turns
        await self._keep(Conversation(conversation_id, turns, server, incoming))
        return conversation_id

    async def count(self, conversation_id: str) -> int:
        """Count one more turn, and return its number, from 0."""
        known = await self.of(conversation_id)
        assert known is not None  # a message has joined it
        await self._keep(replace(known, turns=known.turns + 1))
        return known.turns

    async def outcome(self, server: str, message: IncomingMessage) -> IncomingOutcome | None:
        """Return what became of a message that came before, None if it is new."""
        key = _message_key(server, message)
        known = self._seen.look(key, now=self._clock())
        if known is None and self._records is not None:
            record = await self._records.get(key)
            known = None if record is None else from_wire(IncomingOutcome, record.value)
        return known

    async def remember(
        self, server: str, message: IncomingMessage, outcome: IncomingOutcome
    ) -> None:
        """Write down what became of a message that was accepted."""
        key = _message_key(server, message)
        if self._records is not None:
            await self._records.put(key, to_wire(outcome), expires_in=WINDOW)
        self._seen.keep(key, outcome, now=self._clock())

    async def _keep(self, conversation: Conversation) -> None:
        _put(self._found, conversation.id, conversation)
        if self._records is not None:
            value = {
                "turns": conversation.turns,
                "server": conversation.server,
                "incoming": to_wire(conversation.incoming),
            }
            await self._records.put(_conversation_key(conversation.id), value)


def _put(found: dict[str, T], key: str, value: T) -> None:
    found.pop(key, None)
    found[key] = value
    if len(found) > _MOST:
        del found[next(iter(found))]


def _thread_key(server: str, message: IncomingMessage) -> str:
    thread = digest(message.channel_id, message.thread_id)[:_SHORT]
    return f"channel/thread/{digest(server)[:_SHORT]}/{thread}"


def _message_key(server: str, message: IncomingMessage) -> str:
    named = digest(message.channel_id, message.message_id)[:_SHORT]
    return f"channel/message/{digest(server)[:_SHORT]}/{named}"


def _conversation_key(conversation_id: str) -> str:
    return f"channel/conversation/{digest(conversation_id)[:_SHORT]}"
