"""The notifications of MCPE as a client reads them, bare and wrapped (MCPE 2.1, 7).

They are taken also from a server that has not offered MCPE, whose tools a model may call.
"""

from __future__ import annotations

__all__ = ("EventRoutes",)

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, ValidationError

from kinwire.mcpe.client.arrived import ArrivedEvents
from kinwire.mcpe.rules.meta import DELIVERY_ID, DROPPED, text_in
from kinwire.rpc.codec import encode, is_object
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Handler, Route
from kinwire_protocols.base import Message, from_wire
from kinwire_protocols.mcp.methods import NOTIFICATIONS_MESSAGE
from kinwire_protocols.mcpe.methods import (
    EVENTS_BATCH,
    EVENTS_EVENT,
    EVENTS_SUBSCRIPTION_EXPIRED,
)
from kinwire_protocols.mcpe.models import MCPEvent
from kinwire_protocols.peer import Method


class _AnyParams(Message):
    """Params that are looked at as they came."""


class _ExpiredParams(Message):
    """Params of `events/subscription_expired`, of which a known server leaves the time out."""

    subscription_id: Annotated[str, Field(alias="subscriptionId")]
    expired_at: Annotated[str | None, Field(alias="expiredAt")] = None


def _read_as(row: Method[Any, Any], params: type[Message]) -> Method[Any, Any]:
    return replace(row, params=params)


class _EventParams(Message):
    """Params of `events/event`, whose event is read by itself."""

    subscription_id: Annotated[str, Field(alias="subscriptionId")]
    event: Any


class _BatchParams(Message):
    """Params of `events/batch`, each of whose events is read by itself."""

    subscription_id: Annotated[str, Field(alias="subscriptionId")]
    events: list[Any]


_EXPIRED = _read_as(EVENTS_SUBSCRIPTION_EXPIRED, _ExpiredParams)
_MESSAGE = _read_as(NOTIFICATIONS_MESSAGE, _AnyParams)
_ROWS: Mapping[str, Method[Any, Any]] = {
    row.name: row
    for row in (
        _read_as(EVENTS_EVENT, _EventParams),
        _read_as(EVENTS_BATCH, _BatchParams),
        _EXPIRED,
    )
}

Take = Callable[[Any, ArrivedEvents], object]
Expired = Callable[[Any, str, str | None], object]


class EventRoutes(Mapping[str, Route]):
    """The routes of a session, and those of the notifications of MCPE.

    `take` is called with the session and the events that have arrived, `expired` with the session,
    the id of a subscription and when it expired, if that was said.
    """

    def __init__(self, inner: Mapping[str, Route], take: Take, expired: Expired) -> None:
        self._inner = inner
        self._take = take
        self._expired = expired
        self._own = {
            name: Route(row, _awaited(self._arrived), self._arrived, ahead=True)
            for name, row in _ROWS.items()
        }
        self._own[_MESSAGE.name] = Route(_MESSAGE, self._in_turn, self._unwrapped)

    def __getitem__(self, name: str) -> Route:
        return self._own.get(name) or self._inner[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return a route; every message comes through here."""
        return self._own.get(name) or self._inner.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter({**self._own, **dict.fromkeys(self._inner)})

    def __len__(self) -> int:
        return len({*self._own, *self._inner})

    def _arrived(self, params: Message, request: Request) -> None:
        self._act(params, request.message.get("params"), request)

    def _act(self, params: Message, raw: object, request: Request) -> None:
        if isinstance(params, _ExpiredParams):
            self._expired(request.session, params.subscription_id, params.expired_at)
        elif isinstance(params, _EventParams):
            self._take(request.session, _arrived(params.subscription_id, [params.event], raw))
        elif isinstance(params, _BatchParams):
            self._take(request.session, _arrived(params.subscription_id, params.events, raw))

    def _unwrapped(self, params: Message, request: Request) -> Handler | None:
        """Act on a notification that comes inside of a log message; others go on as they are."""
        raw: object = request.message.get("params")
        row = _ROWS.get(str(raw.get("method"))) if is_object(raw) else None
        if row is None or not is_object(raw):
            return self._logged(request)
        inner: object = raw.get("params")
        with suppress(ValidationError):  # it is ignored, as a bare one that does not fit
            self._act(row.decode_params(inner), inner, request)
        return None

    def _logged(self, request: Request) -> Handler | None:
        """Handle a log message as without this."""
        route = self._inner.get(_MESSAGE.name)
        try:
            read = NOTIFICATIONS_MESSAGE.decode_params(request.message.get("params"))
        except ValidationError:
            return None
        if route is None or route.at_once is None:
            return None if route is None else _with_params(route.handler, read)
        handler: Handler | None = route.at_once(read, request)
        return None if handler is None else _with_params(handler, read)

    async def _in_turn(self, params: Message, request: Request) -> None:
        handler = self._unwrapped(params, request)
        if handler is not None:
            await handler(params, request)


def _with_params(handler: Handler, read: Message) -> Handler:
    """Return the handler for the params that were read."""

    async def handle(params: Message, request: Request) -> Any:
        return await handler(read, request)

    return handle


def _awaited(act: Callable[[Message, Request], None]) -> Handler:
    async def handle(params: Message, request: Request) -> None:
        act(params, request)

    return handle


def _arrived(id: str, events: list[Any], raw: object) -> ArrivedEvents:
    """Return the events of a notification, of which one that is wrong costs no other one."""
    read = list[MCPEvent]()
    for one in events:
        with suppress(ValidationError):
            read.append(from_wire(MCPEvent, one))
    meta: object = raw.get("_meta") if is_object(raw) else None
    dropped: object = meta.get(DROPPED) if is_object(meta) else 0
    count = dropped if type(dropped) is int and dropped > 0 else 0
    missing = count + len(events) - len(read)
    return ArrivedEvents(id, read, text_in(meta, DELIVERY_ID), missing, len(encode(events)))
