"""What a program says about the events of its server, in addition to what they can do."""

from __future__ import annotations

__all__ = (
    "Authorize",
    "EventCluster",
    "EventDeclaration",
    "EventRates",
    "EventTerms",
    "FilterData",
)

from collections.abc import Callable
from dataclasses import dataclass

from kinwire.mcpe.server.event_client import EventClient
from kinwire.support.arguments import (
    COUNT,
    LIFE,
    OBJECT,
    PLAIN_FUNCTION,
    RATE,
    SECONDS,
    TEXT,
    ArgumentCheck,
    ValueKind,
)
from kinwire.support.patterns.dotted import NAME_SIZE, is_dotted_pattern
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcpe.models import MCPEvent

Authorize = Callable[[EventClient, str], bool]
"""Whether a client may have events of a type; also asked with patterns, such as `github.*`."""

FilterData = Callable[[EventClient, MCPEvent], MCPEvent | None]
"""The event as a client may see it; None if it may not."""

_TYPE = ValueKind(
    f"a type as github.push, or github.*, of at most {NAME_SIZE} characters",
    '"github.push"',
    lambda value: isinstance(value, str) and is_dotted_pattern(value),
    error=ValueError,
)
_EVENT_DECLARATION = ArgumentCheck(
    "EventDeclaration",
    'EventDeclaration("github.push", "Commits were pushed to a branch.")',
    {"type": _TYPE, "description": TEXT},
    data_schema=OBJECT.or_none,
    example=OBJECT.or_none,
)
_EVENT_RATES = ArgumentCheck(
    "EventRates",
    "EventRates(deliveries=100)",
    {},
    subscriptions=RATE.or_none,
    publications=RATE.or_none,
    deliveries=RATE.or_none,
)
_EVENT_TERMS = ArgumentCheck(
    "EventTerms",
    "EventTerms(grace=60)",
    {},
    grace=LIFE,
    keep_expired=LIFE,
    max_subscriptions=COUNT,
    authorize=PLAIN_FUNCTION.or_none,
    filter_data=PLAIN_FUNCTION.or_none,
)

_EVENT_CLUSTER = ArgumentCheck("EventCluster", "EventCluster(lease=15)", {}, lease=SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventCluster:
    """That other processes serve the same subscriptions, with the same records and log."""

    lease: float = 15.0
    """How long the subscriptions of a process that was killed wait until another one has them, in
    seconds, and up to a fifth more, unless their clients connect to another one before. The same in
    all processes."""

    def __post_init__(self) -> None:
        _EVENT_CLUSTER.check(lease=self.lease)


@dataclass(frozen=True, slots=True)
class EventDeclaration:
    """A type of event that a server has, for the models that subscribe to it (MCPE 1.2)."""

    type: str
    """`github.push`, or `github.*` for all that begin with `github.`."""
    description: str
    """What happens when there is such an event, in a sentence for the model."""
    data_schema: JsonObject | None = None
    """The JSON Schema of the event's `data`."""
    example: JsonObject | None = None
    """An example of the event's `data`."""

    def __post_init__(self) -> None:
        _EVENT_DECLARATION.check(
            type=self.type,
            description=self.description,
            data_schema=self.data_schema,
            example=self.example,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRates:
    """How often something may happen, in times a second; None for any number (MCPE 11.3).

    After a pause, as many as of one second may come at the same time.
    """

    subscriptions: float | None = 20.0
    """`events_subscribe` of one client; more are refused with -32002."""
    publications: float | None = None
    """Events that are published; more raise a `PublicationLimitError`."""
    deliveries: float | None = 1000.0
    """Notifications to one client: what a channel `realtime` has beyond is dropped."""

    def __post_init__(self) -> None:
        _EVENT_RATES.check(**{name: getattr(self, name) for name in self.__slots__})


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTerms:
    """Who may have which events, and how long subscriptions are kept (MCPE 5.4, 11.2, 11.4)."""

    grace: float = 300.0
    """Seconds for which subscriptions are kept for a client that is not connected."""
    keep_expired: float = 3600.0
    """Seconds for which a subscription that has expired is still listed."""
    max_subscriptions: int = 10_000
    """The most subscriptions of all clients together."""
    authorize: Authorize | None = None
    """A plain function of (client, type) that says whether the client may have such events.

    It is asked for every pattern of a filter, with `*` for a filter without types, and again for
    the type of every event that is delivered.
    """
    filter_data: FilterData | None = None
    """A plain function of (client, event) that returns the event as this client may see it.

    The event is a copy for this client, which the function may change and return.
    """

    def __post_init__(self) -> None:
        _EVENT_TERMS.check(**{name: getattr(self, name) for name in self.__slots__})
