"""Audit events: which types there are, and their form on the wire (MGP 6.3, 6.4)."""

from __future__ import annotations

__all__ = (
    "AUDIT_DAMAGED",
    "TOOL_DISABLED",
    "TOOL_ENABLED",
    "TOOL_RETRIED",
    "TOOL_STARTED",
    "EventTypeError",
    "MaskedDetails",
    "SecurityEvent",
    "is_event_type",
    "line_of",
    "reported",
)

import re
from functools import lru_cache
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any, Final, NamedTuple

from kinwire.managers.hash_chain import CanonicalJson, canonical_json
from kinwire.mgp.rules.masking import masked, masked_text
from kinwire.support.timestamps import is_date_time, timestamp_of
from kinwire_protocols.base import JsonObject, to_wire
from kinwire_protocols.mgp.models import AuditActorType, AuditNotificationParams, AuditOutcome
from kinwire_protocols.mgp.tables import AUDIT_EVENT_TYPES

OWN_TYPES = "io.kinwire."
TOOL_STARTED: Final = f"{OWN_TYPES}tool_started"
"""A dangerous call is about to be sent: written first, so that no such call is without a trace."""
TOOL_RETRIED: Final = f"{OWN_TYPES}tool_retried"
"""A call failed and is tried again."""
TOOL_DISABLED: Final = f"{OWN_TYPES}tool_disabled"
"""An operator has switched a tool off."""
TOOL_ENABLED: Final = f"{OWN_TYPES}tool_enabled"
"""An operator has switched a tool on again."""
AUDIT_DAMAGED: Final = f"{OWN_TYPES}audit_damaged"
"""The end of the log was not a record of the chain when writing went on."""

_STANDARD = frozenset(AUDIT_EVENT_TYPES)
_LONGEST = 128  # characters of a type
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?"
_REVERSE_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL}){{2,}}", re.ASCII)


class MaskedDetails(dict[str, Any]):
    """Details of an event in which nothing has to be masked any more."""


class SecurityEvent(NamedTuple):
    """An event of the kernel. What looks like a secret is masked when it is written."""

    event_type: str
    """A standard type, or one in reverse-domain notation."""
    actor_type: AuditActorType
    actor_id: str
    server_id: str | None
    """The server that it is about, by the kernel's name for it."""
    tool_name: str | None
    result: AuditOutcome
    details: JsonObject
    trace_id: str

    def params(self, at: float) -> JsonObject:
        """Return the params of `notifications/mgp.audit`. `at` is in seconds since 1970."""
        params: JsonObject = {
            "timestamp": timestamp_of(at),
            "trace_id": self.trace_id,
            "event_type": self.event_type,
            "actor": {"type": self.actor_type, "id": masked_text(self.actor_id)},
        }
        if self.server_id is not None:
            target = params["target"] = {"server_id": masked_text(self.server_id)}
            if self.tool_name is not None:
                target["tool_name"] = masked_text(self.tool_name)
        params["result"] = self.result
        params["details"] = self._shown_details()
        return params

    def canonical(self, at: float) -> CanonicalJson:
        """Return `params(at)` as canonical JSON, which takes a third of the time."""
        target = "" if self.server_id is None else _target(self.server_id, self.tool_name)
        return CanonicalJson(
            f'{{"actor":{{"id":{_shown(self.actor_id)},"type":"{self.actor_type}"}},'
            f'"details":{canonical_json(self._shown_details())},'
            f'"event_type":{_quoted(self.event_type)},"result":"{self.result}",{target}'
            f'"timestamp":"{timestamp_of(at)}","trace_id":{_quoted(self.trace_id)}}}'
        )

    def _shown_details(self) -> JsonObject:
        details = self.details
        return details if type(details) is MaskedDetails else masked(details)


@lru_cache(maxsize=256)
def _shown(name: str) -> str:
    return _quoted(masked_text(name))


@lru_cache(maxsize=256)
def _target(server_id: str, tool_name: str | None) -> str:
    tool = "" if tool_name is None else f',"tool_name":{_shown(tool_name)}'
    return f'"target":{{"server_id":{_shown(server_id)}{tool}}},'


def is_event_type(name: str) -> bool:
    """Return whether `name` is a standard type, or a type in reverse-domain notation (MGP 6.4).

    The latter has at least three labels and at most 128 characters: `com.example.custom_event`.
    """
    if name in _STANDARD:
        return True
    return len(name) <= _LONGEST and _REVERSE_DOMAIN.fullmatch(name) is not None


class EventTypeError(ValueError):
    """The type of an event is not one that its sender may use."""


def reported(
    params: AuditNotificationParams, server_id: str, at: float, dropped: int
) -> JsonObject:
    """Return the event that a server has sent, as the kernel keeps it and sends it on.

    It is about that server, whatever it says, and its details show that the kernel did not see it
    happen: `source`, `reported_by`, `received_at`. `at` is now, in seconds since 1970; `dropped`
    is how many events of the server were dropped before it.

    Raises:
        EventTypeError: the type is not valid, or one of the kernel's own.
    """
    name = params.event_type
    if not is_event_type(name) or name.startswith(OWN_TYPES):
        raise EventTypeError(f"{masked_text(name):.80} is not an event type that a server may use")
    now = timestamp_of(at)
    event: JsonObject = {
        "timestamp": params.timestamp if is_date_time(params.timestamp) else now,
        "event_type": name,
        "actor": {"type": masked_text(params.actor.type), "id": masked_text(params.actor.id)},
        "target": {"server_id": server_id},
        "result": masked_text(params.result),
    }
    if params.trace_id is not None:
        event["trace_id"] = masked_text(params.trace_id)
    if params.target is not None and params.target.tool_name is not None:
        event["target"]["tool_name"] = masked_text(params.target.tool_name)
    said = {} if params.details is None else masked(to_wire(params.details))
    event["details"] = {**said, "source": "server", "reported_by": server_id, "received_at": now}
    if dropped:
        event["details"]["dropped_before"] = dropped
    return event


def line_of(params: JsonObject) -> str:
    """Return an event as one line of text, from the params of its notification."""
    target: dict[str, str] = params.get("target", {})
    words: list[str] = [params["event_type"], params["result"], params["actor"]["id"]]
    return " ".join([*words, "/".join(target.values())]).strip()
