"""What waits in a `DurableInbox`, and what a program gets of it."""

from __future__ import annotations

__all__ = ("InboxItem", "PendingItem", "event_id", "message_id")

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from types import TracebackType

import anyio

from kinwire.managers.inbox import InboxKey
from kinwire.mcpl.host.message_inbox import UserTurn
from kinwire.support.arguments import TEXT, ArgumentCheck
from kinwire.support.errors import KinwireError
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.mcpl.models import (
    ChannelContext,
    IncomingMessage,
    PushEventParams,
    PushEventResult,
)

_ACCEPTED = PushEventResult(accepted=True)

_REFUSE = ArgumentCheck("InboxItem.refuse", 'item.refuse("...")', {}, reason=TEXT)


@dataclass(slots=True, eq=False)
class PendingItem:
    """An event or a turn that is not confirmed."""

    server_key: str
    keys: list[InboxKey]
    """Of the event, or of each message of the turn."""
    event: PushEventParams | None
    turn: UserTurn | None
    again: bool
    ended: anyio.Event = field(default_factory=anyio.Event)
    answer: PushEventResult | None = None
    """None if it could not be recorded."""

    @classmethod
    def restored(
        cls, server_key: str, written: JsonObject, key: Callable[..., InboxKey]
    ) -> PendingItem:
        """Return the item of a record; `key` is `Inbox.key`."""
        if "event" in written:
            event = from_wire(PushEventParams, written["event"])
            return cls(server_key, [key(server_key, *event_id(event))], event, None, again=True)
        messages = [from_wire(IncomingMessage, one) for one in written["messages"]]
        turn = UserTurn(
            server_key=server_key,
            conversation_id=written["conversation"],
            index=written["index"],
            messages=messages,
            infer=written["infer"],
            channels=from_wire(ChannelContext, written["channels"]),
            again=messages,
        )
        keys = [key(server_key, *message_id(one)) for one in messages]
        return cls(server_key, keys, None, turn, again=True)

    @property
    def written(self) -> JsonObject:
        """The value of its record."""
        if self.turn is None:
            assert self.event is not None
            return {"event": to_wire(self.event)}
        return {
            "conversation": self.turn.conversation_id,
            "index": self.turn.index,
            "infer": self.turn.infer,
            "channels": to_wire(self.turn.channels),
            "messages": [to_wire(message) for message in self.turn.messages],
        }

    def mark_again(self) -> None:
        """Note that it was handed over."""
        self.again = True
        if self.turn is not None:
            self.turn = replace(self.turn, again=self.turn.messages)

    async def answered(self) -> PushEventResult:
        """Wait until it is confirmed or refused, and return the answer to it."""
        await self.ended.wait()
        if self.answer is None:
            raise KinwireError("the item was not recorded: send it again")
        return self.answer


def event_id(event: PushEventParams) -> tuple[str, str]:
    """Return what names an event of a server."""
    return ("event", event.event_id)


def message_id(message: IncomingMessage) -> tuple[str, str, str]:
    """Return what names a message of a server."""
    return ("message", message.channel_id, message.message_id)


class InboxItem:
    """An event or a turn of users: `async with item: ...` confirms it at the end of the block.

    If the block raises, the item is not confirmed, and is handed over again after
    `DurableInbox.retry_delay` seconds; if it is cancelled, immediately. The exception leaves the
    block, so catch it outside if the loop should go on.

    `again` is True if it may have been handed over before. `inference_id` may be set: the server of
    an event gets it. `event` is a `PushEventParams`, `turn` a `UserTurn`; the other one is None.
    """

    def __init__(
        self,
        pending: PendingItem,
        end: Callable[[PendingItem, PushEventResult], Awaitable[None]],
        put_back: Callable[[PendingItem, bool], None],
    ) -> None:
        self._pending, self._end, self._put_back = pending, end, put_back
        self._reason: str | None = None
        self._has_left = False
        self.again = pending.again
        """It may have been handed over before: the process ended, or the block failed."""
        self.inference_id: str | None = None
        """The inference that an event has started, if you set it: the server gets it (9.3)."""

    @property
    def server_key(self) -> str:
        """Which server sent it: `ServerPeer.key`."""
        return self._pending.server_key

    @property
    def event(self) -> PushEventParams | None:
        """The event; None for a turn."""
        return self._pending.event

    @property
    def turn(self) -> UserTurn | None:
        """The turn with its messages; None for an event."""
        return self._pending.turn

    def refuse(self, reason: str) -> None:
        """Let the server know at the end of the block that its event is not accepted.

        Raises:
            ValueError: it is a turn. Messages are refused by `Channels.on_message`.
            TypeError: `reason` is not a string.
        """
        _REFUSE.check(reason=reason)
        if self.event is None:
            raise ValueError(
                "InboxItem.refuse: expected an event, got a turn. "
                "Refuse messages in `Channels.on_message`."
            )
        self._reason = reason

    async def __aenter__(self) -> InboxItem:
        if self._has_left:
            raise RuntimeError("InboxItem: the block has ended. Get the next item of the inbox.")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._has_left = True
        if error is not None:
            self._put_back(self._pending, isinstance(error, Exception))
            return
        answer = _ACCEPTED
        if self.inference_id is not None:
            answer = PushEventResult(accepted=True, inference_id=self.inference_id)
        if self._reason is not None:
            answer = PushEventResult(accepted=False, reason=self._reason)
        try:
            await self._end(self._pending, answer)
        except Exception:
            self._put_back(self._pending, True)
            raise
