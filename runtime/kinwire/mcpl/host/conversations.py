"""Which conversation a thread of a channel belongs to (MCPL 14.3).

With records it is known after a restart.
"""

from __future__ import annotations

__all__ = ("Conversation", "Conversations")

import secrets
from dataclasses import dataclass, replace
from typing import TypeVar

from kinwire.rpc.identity import is_transient
from kinwire.storage.records import Records
from kinwire.support.bounded import LruDict
from kinwire.support.json_values import short_digest
from kinwire_protocols.base import from_wire, to_wire
from kinwire_protocols.mcpl.models import IncomingMessage, IncomingReference

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
    lasts: bool = True
    """False for one that only a connection of a server without an identity has made."""


class Conversations:
    """The conversations of one host."""

    def __init__(self, records: Records | None) -> None:
        self._records = records
        self._threads = LruDict[str, str](_MOST)
        self._found = LruDict[str, Conversation](_MOST)

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
        turns, lasts = (0, False) if known is None else (known.turns, known.lasts)
        # Nothing could find the other ones later, and each would stay in the store.
        lasts = lasts or chosen is not None or not is_transient(server)
        await self._keep(Conversation(conversation_id, turns, server, incoming, lasts))
        return conversation_id

    async def count(self, conversation_id: str) -> int:
        """Count one more turn, and return its number, from 0."""
        known = await self.of(conversation_id)
        assert known is not None  # a message has joined it
        await self._keep(replace(known, turns=known.turns + 1))
        return known.turns

    async def _keep(self, conversation: Conversation) -> None:
        self._found.put(conversation.id, conversation)
        if self._records is not None and conversation.lasts:
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


def _conversation_key(conversation_id: str) -> str:
    return f"channel/conversation/{short_digest(conversation_id)}"
