"""What a server's events can do: the flags and limits of the capability object (MCPE 3.2).

Each of them is both said to clients and enforced.
"""

from __future__ import annotations

__all__ = ("CHANNELS", "EventFeatures", "capability_of")

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from kinwire.support.arguments import FLAG, TEXT, TEXTS, ArgumentCheck, count_from, table_of
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpe.methods import PROTOCOL
from kinwire_protocols.mcpe.tables import CRON_PRESETS, MAX_ACTIVE

CHANNELS: Final = ("realtime", "cron", "scheduled")
"""The channels of the specification (MCPE 8)."""

_COUNT = count_from(0)
_EVENT_FEATURES = ArgumentCheck(
    "EventFeatures",
    "EventFeatures(max_active=20)",
    {},
    max_active=_COUNT,
    max_filters=_COUNT,
    pause=FLAG,
    expiration=FLAG,
    batching=FLAG,
    wildcard_types=FLAG,
    tags=FLAG,
    priorities=FLAG,
    channels=TEXTS,
    delivery_priorities=TEXTS,
    multi_channel=FLAG,
    timezones=TEXTS.or_none,
    max_scheduled=_COUNT.or_none,
    cron_presets=table_of(TEXT, "a dictionary from names to cron expressions", '"@nightly"'),
)


def _channels() -> tuple[str, ...]:
    """Return the channels that this installation has."""
    return tuple(one for one in CHANNELS if one != "cron" or find_spec("cronsim") is not None)


def _presets() -> Mapping[str, str]:
    return MappingProxyType({name: row.expression for name, row in CRON_PRESETS.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFeatures:
    """What clients may ask of a server's events, and how much of it (MCPE 3.2)."""

    max_active: int = MAX_ACTIVE
    """The most active subscriptions of a client; one more is refused with -32002 (5.5)."""
    max_filters: int = 100
    """The most values in all lists of a filter together."""
    pause: bool = True
    """Whether a subscription may be paused and resumed."""
    expiration: bool = True
    """Whether a subscription may have `expiresAt`."""
    batching: bool = True
    """Whether events may come in batches; if not, each comes by itself."""
    wildcard_types: bool = True
    """Whether event types of a filter may end in a star."""
    tags: bool = True
    """Whether a filter may name tags."""
    priorities: bool = True
    """Whether a filter may name priorities."""
    channels: tuple[str, ...] = field(default_factory=_channels)
    """The channels that a subscription may ask for, of `realtime`, `cron` and `scheduled`.

    `cron` needs the extra `kinwire[events]`; without it, it is left out.
    """
    delivery_priorities: tuple[str, ...] = ("normal",)
    """What `delivery.supportedPriorities` lists; no message of this version carries one."""
    multi_channel: bool = True
    """Whether a subscription may ask for several channels."""
    timezones: tuple[str, ...] | None = None
    """The IANA zones that a schedule may name; None for all that this computer knows."""
    max_scheduled: int | None = None
    """The most subscriptions with a schedule of a client; one more is refused with -32002."""
    cron_presets: Mapping[str, str] = field(default_factory=_presets)
    """The names that stand for a cron expression, with it (8.2)."""

    def __post_init__(self) -> None:
        _EVENT_FEATURES.check(**{name: getattr(self, name) for name in self.__slots__})
        object.__setattr__(self, "channels", tuple(self.channels))
        wrong = [one for one in self.channels if one not in CHANNELS]
        if wrong or not self.channels:
            raise ValueError(
                f"EventFeatures: channels: expected some of {', '.join(CHANNELS)}, "
                f"got {', '.join(map(repr, wrong)) or 'none'}."
            )
        if "cron" in self.channels:
            self._check_presets()

    def _check_presets(self) -> None:
        if "cron" not in _channels():
            raise ValueError(
                "EventFeatures: channels: `cron` needs the library `cronsim`. "
                "Install kinwire[events]."
            )
        from kinwire.mcpe.rules.cron import preset_problem  # which needs the library

        for name, expression in self.cron_presets.items():
            wrong = preset_problem(name, expression)
            if wrong is not None:
                raise ValueError(f"EventFeatures: cron_presets: expected {wrong}.")


def capability_of(features: EventFeatures, server_info: JsonObject) -> JsonObject:
    """Return the capability object of a server, as JSON (MCPE 3.2)."""
    return {
        "protocolVersion": PROTOCOL.version,
        "protocolName": PROTOCOL.name,
        "serverInfo": dict(server_info),
        "subscriptions": {
            "maxActive": features.max_active,
            "maxFiltersPerSubscription": features.max_filters,
            "supportsPause": features.pause,
            "supportsExpiration": features.expiration,
            "supportsBatching": features.batching,
        },
        "filters": {
            "supportsWildcardTypes": features.wildcard_types,
            "supportsTagFiltering": features.tags,
            "supportsPriorityFiltering": features.priorities,
        },
        "delivery": {
            "supportedChannels": list(features.channels),
            "supportedPriorities": list(features.delivery_priorities),
            "supportsMultiChannel": features.multi_channel,
        },
        **_scheduling(features),
    }


def _scheduling(features: EventFeatures) -> JsonObject:
    """Return the member `scheduling`; nothing if the server keeps no schedules."""
    cron, once = "cron" in features.channels, "scheduled" in features.channels
    if not (cron or once):
        return {}
    found: JsonObject = {"cronEnabled": cron, "scheduledEnabled": once}
    if features.timezones is not None:
        found["supportedTimezones"] = list(features.timezones)
    if features.max_scheduled is not None:
        found["maxScheduledPerClient"] = features.max_scheduled
    if cron:
        found["cronPresets"] = list(features.cron_presets)
    return {"scheduling": found}
