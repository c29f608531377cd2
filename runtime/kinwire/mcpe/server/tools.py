"""The six tools of MCPE, for every client of a server (MCPE 6)."""

from __future__ import annotations

__all__ = ("EventTools",)

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import Context as Variables
from copy import deepcopy
from typing import Any

import anyio

from kinwire.mcp.context import Context
from kinwire.mcp.server import Server
from kinwire.mcpe.rules.hints import unused_hints
from kinwire.mcpe.rules.meta import RECOVERY_TOKEN, text_in
from kinwire.mcpe.server.catalog import CATALOG_URI, EventCatalog
from kinwire.mcpe.server.desk import Caller, SubscriptionDesk
from kinwire.rpc.codec import is_object
from kinwire.storage.errors import ConflictError, StorageError
from kinwire_protocols import mcp
from kinwire_protocols.base import JsonObject, Message, RpcError
from kinwire_protocols.jsonrpc.errors import InternalError
from kinwire_protocols.mcpe import tools
from kinwire_protocols.mcpe.models import (
    EventsListParams,
    EventsListResult,
    EventsPauseParams,
    EventsPauseResult,
    EventsResumeParams,
    EventsResumeResult,
    EventsSubscribeParams,
    EventsUnsubscribeParams,
    EventsUnsubscribeResult,
    EventsUpdateParams,
    Subscription,
)
from kinwire_protocols.tool_methods import ToolMethod

logger = logging.getLogger("kinwire.mcpe")

Operation = Callable[[Any, Caller], Awaitable[Message]]
Identify = Callable[[Context, str | None], Awaitable[Caller]]
"""Returns who has sent a call with this recovery token."""

_FLAT = ("filter", "delivery", "handler", "status", "expiresAt")
"""What some clients write next to `subscriptionId`, where `updates` has it."""

_PAUSES = (0.0, 0.02, 0.1, 0.5)
"""Seconds until an operation is tried again that another process has got in the way of."""


class EventTools:
    """Registers the tools with a server, and what models read about its events."""

    def __init__(
        self,
        desk: SubscriptionDesk,
        catalog: EventCatalog,
        identify: Identify,
        *,
        strict: bool,
        lenient: bool,
    ) -> None:
        """Prepare. If `strict`, errors are responses, and not results with `isError`.

        If `lenient`, an absent filter selects all events, and absent preferences mean `realtime`.
        """
        self._desk = desk
        self._catalog = catalog
        self.identify = identify
        self.strict = strict
        self._lenient = lenient

    def add_to(self, server: Server) -> None:
        """Add the tools, and the resource with the declared types if there are any."""
        operations: list[tuple[ToolMethod[Any, Any], Operation]] = [
            (tools.EVENTS_SUBSCRIBE, self._subscribe),
            (tools.EVENTS_UNSUBSCRIBE, self._unsubscribe),
            (tools.EVENTS_LIST, self._list),
            (tools.EVENTS_PAUSE, self._pause),
            (tools.EVENTS_RESUME, self._resume),
            (tools.EVENTS_UPDATE, self._update),
        ]
        for row, operation in operations:
            server.add_registered_tool(_EventTool(self, row, operation))
        if self._catalog:
            self._add_resource(server)

    def definition_of(self, row: ToolMethod[Any, Any]) -> JsonObject:
        """Return what the list of tools has of a tool."""
        made: JsonObject = deepcopy(row.definition)
        if row is tools.EVENTS_SUBSCRIBE:
            made["description"] += self._desk.description() + self._catalog.description()
        return made

    def arguments_of(self, row: ToolMethod[Any, Any], given: JsonObject) -> JsonObject:
        """Return the arguments in the form that the specification has."""
        if row is tools.EVENTS_UPDATE:
            return _nested(given)
        if row is tools.EVENTS_SUBSCRIBE and self._lenient:
            return {"filter": {}, "delivery": {"channels": ["realtime"]}, **given}
        return given

    def hints_for(self, params: object) -> list[str]:
        """Return what a model should know about its subscription, in addition to the result."""
        if not isinstance(params, EventsSubscribeParams | EventsUpdateParams):
            return []
        asked = params.updates if isinstance(params, EventsUpdateParams) else params
        filter = asked.filter
        found = [] if filter is None else self._catalog.hints(filter)
        return found + unused_hints(params)

    def _add_resource(self, server: Server) -> None:
        definition = mcp.Resource(
            uri=CATALOG_URI,
            name="event-types",
            description="The types of events that can be subscribed to by events_subscribe.",
            mime_type="application/json",
        )

        async def read(params: mcp.ReadResourceRequestParams) -> JsonObject:
            return self._catalog.to_json()

        server.add_resource(definition, read)

    async def _subscribe(self, params: EventsSubscribeParams, caller: Caller) -> Subscription:
        made = await self._desk.subscribe(params, caller)
        Variables().run(caller.peer.sender.start)  # what it sends belongs to no request
        return made

    async def _unsubscribe(
        self, params: EventsUnsubscribeParams, caller: Caller
    ) -> EventsUnsubscribeResult:
        await self._desk.unsubscribe(params.subscription_id, caller)
        return EventsUnsubscribeResult(success=True)

    async def _list(self, params: EventsListParams, caller: Caller) -> EventsListResult:
        return EventsListResult(subscriptions=await self._desk.list(params, caller))

    async def _pause(self, params: EventsPauseParams, caller: Caller) -> EventsPauseResult:
        await self._desk.pause(params.subscription_id, caller)
        return EventsPauseResult(
            success=True, status="paused", subscription_id=params.subscription_id
        )

    async def _resume(self, params: EventsResumeParams, caller: Caller) -> EventsResumeResult:
        await self._desk.resume(params.subscription_id, caller)
        Variables().run(caller.peer.sender.start)
        return EventsResumeResult(
            success=True, status="active", subscription_id=params.subscription_id
        )

    async def _update(self, params: EventsUpdateParams, caller: Caller) -> Subscription:
        made = await self._desk.update(params, caller)
        Variables().run(caller.peer.sender.start)
        return made


class _EventTool:
    """One tool, as the table of tools has it."""

    def __init__(self, owner: EventTools, row: ToolMethod[Any, Any], operation: Operation) -> None:
        self._owner = owner
        self._row = row
        self._operation = operation
        self.definition = owner.definition_of(row)

    async def call(self, params: mcp.CallToolRequestParams, context: Context) -> JsonObject:
        """Do what the tool is for; what went wrong is a result, too.

        Raises:
            RpcError: something went wrong, and the server is strict.
        """
        row = self._row
        try:
            return await self._tried(params, context)
        except RpcError as error:
            failure = error
        except ConflictError:
            failure = InternalError(f"{row.name}: other servers take this client, too. Try again")
        except StorageError as error:
            logger.error("%s: %s", row.name, error)
            failure = InternalError(f"{row.name}: the store of the server does not work. Try later")
        if self._owner.strict:
            raise failure
        return row.error_to_wire(failure)

    async def _tried(self, params: mcp.CallToolRequestParams, context: Context) -> JsonObject:
        """Return the result; in a cluster, of another attempt if the client has just moved."""
        for seconds in _PAUSES:
            with suppress(ConflictError):  # the next time the client is brought here
                return await self._result(params, context)
            await anyio.sleep(seconds)
        return await self._result(params, context)

    async def _result(self, params: mcp.CallToolRequestParams, context: Context) -> JsonObject:
        row, owner = self._row, self._owner
        read = row.decode_params(owner.arguments_of(row, params.arguments or {}))
        token = text_in(_meta_of(context), RECOVERY_TOKEN)
        caller = await owner.identify(context, token)
        result = row.result_to_wire(await self._operation(read, caller))
        for hint in owner.hints_for(read):
            result["content"].append({"type": "text", "text": hint})
        own = caller.peer.token
        if row is tools.EVENTS_SUBSCRIBE and own is not None and caller.client is caller.peer.own:
            result["_meta"] = {RECOVERY_TOKEN: own}
        return result


def _meta_of(context: Context) -> object:
    params: object = context.message.get("params")
    return params.get("_meta") if is_object(params) else None


def _nested(given: JsonObject) -> JsonObject:
    """Return arguments of `events_update` with the fields to change in `updates`."""
    flat = {name: given[name] for name in _FLAT if name in given}
    if not flat:
        return given
    inner: object = given.get("updates", {})
    if not is_object(inner):
        return given
    rest = {name: value for name, value in given.items() if name not in flat}
    return {**rest, "updates": {**flat, **inner}}
