"""Which conversation a thread of a channel belongs to, and which messages came before (MCPL 14.3).

With records it is known after a restart.
"""

from __future__ import annotations

__all__ = ("Conversation", "Conversations", "HandedOver", "message_key")

import secrets
from dataclasses import dataclass, replace
from typing import TypeVar

from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire.support.bounded import DEDUP_SECONDS, LruDict, TtlDict
from kinwire.support.json_values import short_digest
from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.mcpl.models import IncomingMessage, IncomingOutcome, IncomingReference

T = TypeVar("T")

_MOST = 100_000  # threads, and conversations, in memory; older ones are only in records


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that messages of channels belong to."""

    id: str
    turns: int
    """The number of its turns of users."""
    server: str
    """The key of the server of its last message (`ServerPeer.key`)."""
    incoming: IncomingReference
    """Its last message."""


@dataclass(frozen=True, slots=True)
class HandedOver:
    """A message that was handed over."""

    outcome: IncomingOutcome | None
    """None if it is unknown."""


class Conversations:
    """The conversations of one host."""

    def __init__(self, records: Records | None, clock: Clock) -> None:
        self._records = records
        self._clock = clock  # never goes back
        self._threads = LruDict[str, str](_MOST)
        self._found = LruDict[str, Conversation](_MOST)
        self._seen = TtlDict[str, HandedOver](DEDUP_SECONDS, limit=_MOST)

    async def of_thread(self, server: str, message: IncomingMessage) -> str | None:
        """Return the conversation of a message's thread, or None if the thread is new."""
        key = _thread_key(server, message)
        known = self._threads.get(key)
        if known is None and self._records is not None:
            record = await self._records.get(key)
            if record is not None:
                known = _kept(self._threads, key, str(record.value["conversation"]))
        return known

    async def of(self, conversation_id: str) -> Conversation | None:
        """Return a conversation, or None if it is unknown."""
        known = self._found.get(conversation_id)
        if known is None and self._records is not None:
            record = await self._records.get(_conversation_key(conversation_id))
            if record is not None:
                value = record.value
                incoming = from_wire(IncomingReference, value["incoming"])
                read = Conversation(conversation_id, value["turns"], value["server"], incoming)
                known = _kept(self._found, conversation_id, read)
        return known

    async def join(self, server: str, message: IncomingMessage, chosen: str | None) -> str:
        """Add a message, and its thread from now on, to a conversation; return its id.

        It is the chosen conversation, else that of the thread, else a new one.
        """
        before = await self.of_thread(server, message)
        conversation_id = chosen or before or f"conv_{secrets.token_hex(8)}"
        key = _thread_key(server, message)
        if before != conversation_id:
            self._threads.put(key, conversation_id)
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

    async def seen(self, server: str, message: IncomingMessage) -> HandedOver | None:
        """Return what is known of a message that came before, or None if it is new."""
        key = message_key(server, message)
        known = self._seen.get(key, now=self._clock())
        if known is None and self._records is not None:
            record = await self._records.get(key)
            if record is not None:
                outcome = record.value["outcome"]
                known = HandedOver(outcome and from_wire(IncomingOutcome, outcome))
        return known

    async def remember(
        self, server: str, message: IncomingMessage, outcome: IncomingOutcome | None
    ) -> None:
        """Store that a message is handed over, and its outcome once that is known."""
        key = message_key(server, message)
        if self._records is not None:
            value = {"outcome": None if outcome is None else to_wire(outcome)}
            await self._records.put(key, value, expires_in=DEDUP_SECONDS)
        self._seen.put(key, HandedOver(outcome), now=self._clock())

    async def forget(self, server: str, message: IncomingMessage) -> None:
        """Treat a message as new again."""
        key = message_key(server, message)
        self._seen.pop(key, now=self._clock())
        if self._records is not None:
            await self._records.delete(key)

    async def _keep(self, conversation: Conversation) -> None:
        self._found.put(conversation.id, conversation)
        if self._records is not None:
            value = {
                "turns": conversation.turns,
                "server": conversation.server,
                "incoming": to_wire(conversation.incoming),
            }
            await self._records.put(_conversation_key(conversation.id), value)


def _kept(found: LruDict[str, T], key: str, read: T) -> T:
    """Keep what was read, unless a newer value is there by now; return the newer one."""
    newer = found.get(key)
    if newer is None:
        found.put(key, read)
    return newer or read


def _thread_key(server: str, message: IncomingMessage) -> str:
    thread = short_digest(message.channel_id, message.thread_id)
    return f"channel/thread/{server}/{thread}"


def message_key(server: str, message: IncomingMessage) -> str:
    """Return the key of a message."""
    named = short_digest(message.channel_id, message.message_id)
    return f"channel/message/{server}/{named}"


def _conversation_key(conversation_id: str) -> str:
    return f"channel/conversation/{short_digest(conversation_id)}"
