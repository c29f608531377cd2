"""Messages of a request, read one by one: a wrong one loses only itself (MCPL 14.3).

The bindings are strict, as everywhere. A host serves `channels/incoming` with the row below, which
is that of the protocol document but for its params: they have the valid messages only, and keep
apart why the others are refused.
"""

from __future__ import annotations

__all__ = ("LOOSE_INCOMING", "LooseIncoming")

from dataclasses import replace
from typing import Any, Final, cast

from pydantic import ModelWrapValidatorHandler, PrivateAttr, ValidationError, model_validator

from kinwire.mcpl.rules.channels import MOST_MESSAGES
from kinwire.mcpl.rules.scopes import LABEL_SIZE
from kinwire.mcpl.rules.timestamps import timestamp_problem, timestamp_with_zone
from kinwire.rpc.codec import is_object
from kinwire_protocols.base import from_wire
from kinwire_protocols.mcpl.methods import CHANNELS_INCOMING
from kinwire_protocols.mcpl.models import (
    ChannelsIncomingParams,
    ChannelsIncomingResult,
    IncomingMessage,
    IncomingOutcome,
)
from kinwire_protocols.peer import Method
from kinwire_protocols.problems import problems


class LooseIncoming(ChannelsIncomingParams):
    """The valid messages of a `channels/incoming`. A time without a zone has got that of UTC."""

    _count: int = PrivateAttr(0)
    _refused: dict[int, IncomingOutcome] = PrivateAttr(default_factory=dict[int, IncomingOutcome])
    _has_zoneless_times: bool = PrivateAttr(False)

    @property
    def count(self) -> int:
        """The number of messages that came. If there are too many, none of them is read."""
        return self._count

    @property
    def refused(self) -> dict[int, IncomingOutcome]:
        """The outcomes of the wrong messages, by place."""
        return self._refused

    @property
    def has_zoneless_times(self) -> bool:
        """Whether a time had no zone."""
        return self._has_zoneless_times

    @model_validator(mode="wrap")
    @classmethod
    def _read_one_by_one(
        cls, value: Any, handler: ModelWrapValidatorHandler[LooseIncoming]
    ) -> LooseIncoming:
        given: object = value.get("messages") if is_object(value) else None
        if not isinstance(given, list):
            return handler(value)
        items = cast("list[object]", given)
        messages: list[IncomingMessage] = []
        refused: dict[int, IncomingOutcome] = {}
        for place, item in enumerate(items if len(items) <= MOST_MESSAGES else ()):
            try:
                messages.append(_message(item))
            except ValueError as error:
                reason = f"channels/incoming#/messages/{place}{error}"
                refused[place] = IncomingOutcome(
                    message_id=_id_of(item), accepted=False, reason=reason
                )
        made = handler({**value, "messages": [_with_zone(one) for one in messages]})
        made._count, made._refused = len(items), refused
        made._has_zoneless_times = any(
            one.timestamp != before.timestamp
            for one, before in zip(made.messages, messages, strict=True)
        )
        return made


LOOSE_INCOMING: Final[Method[LooseIncoming, ChannelsIncomingResult]] = replace(
    cast("Any", CHANNELS_INCOMING), params=LooseIncoming
)


def _message(value: object) -> IncomingMessage:
    """Return a message from the wire.

    Raises:
        ValueError: it is wrong; the text says where: `/timestamp: expected ...`.
    """
    try:
        message = from_wire(IncomingMessage, value)
    except ValidationError as error:
        raise ValueError(str(problems(error, value)[0])) from None
    # Ids are kept for many messages and for a long time.
    longest = max(len(message.message_id), len(message.thread_id or ""))
    if longest > LABEL_SIZE:
        most = f"messageId and threadId have at most {LABEL_SIZE} characters"
        raise ValueError(f": {most}, not {longest}")
    timestamp = message.timestamp
    if timestamp is not None and timestamp_with_zone(timestamp) is None:
        raise ValueError(str(timestamp_problem(timestamp)))
    return message


def _with_zone(message: IncomingMessage) -> IncomingMessage:
    if message.timestamp is None:
        return message
    timestamp = timestamp_with_zone(message.timestamp)
    if timestamp == message.timestamp:
        return message
    return message.model_copy(update={"timestamp": timestamp})


def _id_of(value: object) -> str:
    """Return the id of a message of any shape, or an empty one."""
    found: object = value.get("messageId") if is_object(value) else None
    return found if isinstance(found, str) else ""
