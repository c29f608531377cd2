"""Messages of a request, read one by one: a wrong one loses only itself (MCPL 14.3).

The bindings are strict, as everywhere: a host serves `channels/incoming` with the row below, which
is that of the protocol document with messages of any shape.
"""

from __future__ import annotations

__all__ = ("LOOSE_INCOMING", "LooseIncoming", "has_no_zone", "message_id_of", "read_message")

from dataclasses import replace
from typing import Any, Final, cast

from pydantic import ValidationError

from kinwire.mcpl.rules.scopes import LABEL_SIZE
from kinwire.mcpl.rules.timestamps import timestamp_problem, timestamp_with_zone
from kinwire.rpc.codec import is_object
from kinwire_protocols.base import Message, from_wire
from kinwire_protocols.mcpl.methods import CHANNELS_INCOMING
from kinwire_protocols.mcpl.models import ChannelsIncomingResult, IncomingMessage
from kinwire_protocols.peer import Method
from kinwire_protocols.problems import problems


class LooseIncoming(Message):
    """The params of `channels/incoming`, with messages of any shape."""

    messages: list[Any]


LOOSE_INCOMING: Final[Method[LooseIncoming, ChannelsIncomingResult]] = replace(
    cast("Any", CHANNELS_INCOMING), params=LooseIncoming
)


def read_message(value: object) -> IncomingMessage:
    """Return a message from the wire. A time without a zone gets that of UTC.

    Raises:
        ValueError: the message is wrong; the text says where: `/timestamp: expected ...`.
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
    if message.timestamp is None:
        return message
    timestamp = timestamp_with_zone(message.timestamp)
    if timestamp is None:
        raise ValueError(str(timestamp_problem(message.timestamp)))
    return message.model_copy(update={"timestamp": timestamp})


def has_no_zone(value: object, message: IncomingMessage) -> bool:
    """Return whether the time of a message got its zone when `value` was read."""
    return is_object(value) and value.get("timestamp") != message.timestamp


def message_id_of(value: object) -> str:
    """Return the id of a message of any shape, or an empty one."""
    found: object = value.get("messageId") if is_object(value) else None
    return found if isinstance(found, str) else ""
