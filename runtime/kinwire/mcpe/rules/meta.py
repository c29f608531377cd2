"""The members that MCPE has in `_meta` here: none of them is in the specification.

What stands in `_meta` does not reach the model, and other software ignores it.
"""

from __future__ import annotations

__all__ = ("DELIVERY_ID", "DROPPED", "RECOVERY_TOKEN", "dropped_before", "text_in")

from typing import Final

from kinwire.rpc.codec import is_object
from kinwire_protocols.base import JsonObject

RECOVERY_TOKEN: Final = "mcpe/recoveryToken"
"""In the result of `events_subscribe`, and in the params of later calls: which client it is."""
DELIVERY_ID: Final = "mcpe/deliveryId"
"""In `events/event` and `events/batch` of a schedule: the same if the delivery is repeated."""
DROPPED: Final = "mcpe/dropped"
"""In `events/event`: how many were lost right before it, since the client reads slowly."""


def text_in(meta: object, name: str) -> str | None:
    """Return a member of `_meta` that is text, None without one."""
    value = meta.get(name) if is_object(meta) else None
    return value if isinstance(value, str) else None


def dropped_before(own: JsonObject, dropped: int) -> JsonObject:
    """Return the members of a notification with the number of those dropped before it."""
    return {**own, "_meta": {DROPPED: dropped}}
