"""What known servers answer in the place of what the specification has (MCPE 6).

One server leaves members out, has `subscriptionId` for `id`, and says of pauses only the status.
"""

from __future__ import annotations

__all__ = ("completed", "flat_update")

from typing import cast

from kinwire.rpc.codec import is_object
from kinwire.support.timestamps import timestamp_of
from kinwire_protocols.base import JsonObject


def completed(tool: str, said: JsonObject, asked: JsonObject, now: float) -> JsonObject:
    """Return what a server has said with what it has left out, as far as that is known.

    `asked` is the arguments of the call, and `now` in seconds since 1970.
    """
    if tool in ("events_subscribe", "events_update"):
        return _subscription(said, {**asked, **asked.get("updates", {})}, now)
    if tool == "events_list":
        return {**said, "subscriptions": _all(said.get("subscriptions"), now)}
    if tool in ("events_pause", "events_resume") and "success" not in said:
        expected = "paused" if tool == "events_pause" else "active"
        return {"success": said.get("status") == expected, **said}
    return said


def flat_update(id: str, updates: JsonObject) -> JsonObject:
    """Return arguments of `events_update` in both forms that servers read."""
    return {**updates, "subscriptionId": id, "updates": updates}


def _all(listed: object, now: float) -> object:
    if not isinstance(listed, list):
        return listed
    items = cast("list[object]", listed)
    return [_subscription(one, {}, now) if is_object(one) else one for one in items]


def _subscription(said: JsonObject, asked: JsonObject, now: float) -> JsonObject:
    found = {**said}
    if "id" not in found and isinstance(found.get("subscriptionId"), str):
        found["id"] = found["subscriptionId"]
    if not isinstance(found.get("id"), str):
        return said
    at = found.get("createdAt", timestamp_of(now))
    defaults: JsonObject = {
        "clientId": "",
        "filter": asked.get("filter", {}),
        "delivery": asked.get("delivery", {"channels": ["realtime"]}),
        "status": "active",
        "createdAt": at,
        "updatedAt": at,
    }
    return {**defaults, **found}
