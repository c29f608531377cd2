"""MCPL in a server: its feature sets, its offer, and the hosts that speak it."""

from __future__ import annotations

__all__ = ("IgnoredModifications", "McplServer")

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from kinwire.mcp.context import Context
from kinwire.mcp.extension import ExtensionBase, capability_from
from kinwire.mcp.server_session import ServerSession
from kinwire.mcpl.rules.channels import ChannelRegistry
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.mcpl.rules.offers import VERSION, checked_sets, checked_tools, checked_uses, read_offer
from kinwire.mcpl.server.host_peer import HostPeer
from kinwire.mcpl.server.outbox import Outbox
from kinwire.mcpl.server.served_state import CallState
from kinwire.mcpl.server.served_tools import ServedTools, scope_in
from kinwire.rpc.errors import CapabilityNotNegotiatedError, ConnectionClosedError
from kinwire.rpc.request import Request
from kinwire.rpc.routes import Route
from kinwire.rpc.session import Session
from kinwire.support.arguments import (
    FLAG,
    TEXT,
    TEXTS,
    ArgumentCheck,
    instance_of,
    list_of,
    table_of,
)
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject, to_wire
from kinwire_protocols.mcp.models import RequestParams
from kinwire_protocols.mcpl.methods import (
    CHANNELS_ACKNOWLEDGE,
    CHANNELS_CLOSE,
    CHANNELS_LIST,
    CHANNELS_OPEN,
    CHANNELS_OUTGOING_CHUNK,
    CHANNELS_OUTGOING_COMPLETE,
    CHANNELS_PUBLISH,
    CHANNELS_TYPING,
    CONTEXT_AFTER_INFERENCE,
    FEATURE_SETS_CHANGED,
    FEATURE_SETS_UPDATE,
    INFERENCE_CHUNK,
    PROTOCOL,
    STATE_ROLLBACK,
)
from kinwire_protocols.mcpl.models import (
    AfterInferenceParams,
    AfterInferenceResult,
    ChannelDescriptor,
    ChannelsListResult,
    FeatureSet,
    FeatureSetsChangedParams,
    FeatureSetsUpdateParams,
    FeatureSetsUpdateResult,
    RollbackParams,
    RollbackResult,
    Scope,
)
from kinwire_protocols.peer import Method, ProtocolTable

logger = logging.getLogger("kinwire.mcpl")

_SETS = table_of(
    instance_of(FeatureSet, "FeatureSet", 'mcpl.FeatureSet(description="...", uses=["tools"])'),
    "a dictionary of feature sets",
    '"notes.edit"',
)
_CHANNELS = list_of(
    instance_of(ChannelDescriptor, "ChannelDescriptor", "mcpl.ChannelDescriptor(...)"),
    "several channels",
)
_CONTEXT = {"context": instance_of(Context, "the Context of a request", "context")}
_MCPL_SERVER = ArgumentCheck(
    "McplServer",
    f"McplServer(feature_sets={_SETS.example})",
    {"feature_sets": _SETS},
    tools=table_of(TEXT, "a dictionary from tools to feature sets", '"add_note"').or_none,
    also_uses=TEXTS,
    channels=_CHANNELS.or_none,
    enabled_at_first=FLAG,
    blocking=FLAG,
    model_info=FLAG,
    strict_scopes=FLAG,
    as_list=FLAG,
)
_OF = ArgumentCheck("McplServer.of", "live.of(context)", _CONTEXT)
_STATE_OF = ArgumentCheck("McplServer.state_of", "live.state_of(context)", _CONTEXT)
_SCOPE_OF = ArgumentCheck("McplServer.scope_of", "live.scope_of(context)", _CONTEXT)
_CHANGE = ArgumentCheck(
    "McplServer.change", "await live.change()", {}, added=_SETS.or_none, removed=TEXTS
)
_CHANGE_CHANNELS = ArgumentCheck(
    "McplServer.change_channels",
    "await live.change_channels()",
    {},
    added=_CHANNELS,
    removed=TEXTS,
    updated=_CHANNELS,
)


class McplServer(ExtensionBase[HostPeer]):
    """The server's side of MCPL: `Server(..., extensions=[McplServer(feature_sets={...})])`.

    The server offers what its sets use; `also_uses` are uses of sets that are added later, by
    `change`; without it, the set of each tool must be declared here. `tools` names the set of each
    tool: the tool is marked with it, and refused while the set is off. With `strict_scopes` it is
    also refused if its set is scoped and the call has no scope. Until a host has said which sets
    are on, all are, or none if `enabled_at_first` is false. `channels` are registered with each
    host; pass an empty list if they are only added later, by `change_channels` or
    `HostPeer.channels`.
    `blocking` asks hosts to wait for the hook after inference; `model_info` says that the server
    requests `model/info`. `as_list` sends the sets as a list, for hosts that read no object.
    """

    protocol: ProtocolTable = PROTOCOL

    def __init__(  # noqa: PLR0913 - all that a server may say of itself
        self,
        *,
        feature_sets: Mapping[str, FeatureSet],
        tools: Mapping[str, str] | None = None,
        also_uses: Collection[str] = (),
        channels: Sequence[ChannelDescriptor] | None = None,
        enabled_at_first: bool = True,
        blocking: bool = False,
        model_info: bool = False,
        strict_scopes: bool = False,
        as_list: bool = False,
    ) -> None:
        """Prepare to serve any number of hosts.

        Raises:
            ValueError: invalid name of a set, unknown use, too many sets, a tool whose set is not
                declared, or an invalid or repeated id of a channel.
            TypeError: `also_uses` is a single string.
        """
        _MCPL_SERVER.check(
            feature_sets=feature_sets,
            tools=tools,
            also_uses=also_uses,
            channels=channels,
            enabled_at_first=enabled_at_first,
            blocking=blocking,
            model_info=model_info,
            strict_scopes=strict_scopes,
            as_list=as_list,
        )
        self._declared = dict(checked_sets(feature_sets))
        self._also_uses = frozenset(also_uses)
        checked_uses("also_uses", self._also_uses)
        self._enabled_at_first = enabled_at_first
        self._channels = None if channels is None else ChannelRegistry(channels)
        self._blocking = blocking
        self._model_info = model_info
        self._tools = dict(tools or {})
        if not self._also_uses:  # else tools may belong to sets that are added later
            checked_tools(self._tools, self._declared)
        self._strict_scopes = strict_scopes
        self._as_list = as_list
        super().__init__()
        self.handlers.add_default(FEATURE_SETS_UPDATE, _accept)
        for signal in (CHANNELS_TYPING, CHANNELS_ACKNOWLEDGE):
            self.handlers.add_default(signal)
        self.handlers.add_default(INFERENCE_CHUNK)
        self.handlers.add_default(STATE_ROLLBACK, self._roll_back)
        if channels is not None:
            self.handlers.add_default(CHANNELS_LIST, self._list)
        self.on = mcpl.ServerOn(self._add)
        """Where handlers are registered: `@live.on.context_before_inference`."""
        self.outboxes: list[Outbox] = []
        """The outboxes that deliver to the hosts; `Outbox(live)` adds itself."""

    @property
    def hosts(self) -> list[HostPeer]:
        """The connected hosts that speak MCPL, in the order in which they connected."""
        return self.peers

    @property
    def declared(self) -> Mapping[str, FeatureSet]:
        """The feature sets of the server, by name."""
        return self._declared

    def of(self, context: Context) -> HostPeer | None:
        """Return the host whose request is being served; None if it speaks only MCP."""
        _OF.check(context=context)
        return self.peer_of(context.session)

    def state_of(self, context: Context) -> CallState:
        """Return the state of the tool call that is being served, to read it and to save a new one.

        A host that speaks only MCP sends no state and keeps none.
        """
        _STATE_OF.check(context=context)
        peer = self.of(context)
        state = None if peer is None else peer.state.of(context.request_id)
        return state or CallState(None, None)

    def scope_of(self, context: Context) -> Scope | None:
        """Return the scope of the tool call that is being served, with what the host has added.

        It is None if the host sends no scope, or speaks only MCP.

        Raises:
            InvalidParamsError: the host has sent something that is not a scope.

        Source: MCPL 7.3, 7.7.
        """
        _SCOPE_OF.check(context=context)
        return None if self.of(context) is None else scope_in(context.params)

    async def change(
        self, *, added: Mapping[str, FeatureSet] | None = None, removed: Collection[str] = ()
    ) -> None:
        """Add and remove sets, and notify all hosts.

        A set that is added is off until the host enables it.

        Raises:
            ValueError: invalid name of a set, unknown use, or too many sets.
            TypeError: `removed` is a single string.
        """
        _CHANGE.check(added=added, removed=removed)
        came, gone = added or {}, tuple(removed)
        kept = {name: one for name, one in self._declared.items() if name not in gone}
        self._declared = dict(checked_sets({**kept, **came}))
        params = FeatureSetsChangedParams(added=dict(came) or None, removed=list(gone) or None)
        for host in self.hosts:
            host.sets.change(added=came, removed=gone)
        self._host_changed()
        for host in self.hosts:
            try:
                await host.session.notify(FEATURE_SETS_CHANGED, params)
            except ConnectionClosedError:
                logger.debug("a host has left before feature sets were sent to it")

    async def change_channels(
        self,
        *,
        added: Sequence[ChannelDescriptor] = (),
        removed: Collection[str] = (),
        updated: Sequence[ChannelDescriptor] = (),
    ) -> None:
        """Change the channels of every host, and notify all hosts.

        An invalid change, such as a second channel with one id, is left out and logged.

        Raises:
            ValueError: the server was made without `channels`.
            TypeError: `removed` is a single string.
        """
        _CHANGE_CHANNELS.check(added=added, removed=removed, updated=updated)
        gone = tuple(removed)
        if self._channels is None:
            raise ValueError(
                "channels: expected a server that was made with channels. "
                "Write McplServer(channels=[])."
            )
        self._channels.change(added, gone, updated)
        for host in self.hosts:
            try:
                await host.channels.change(added=added, removed=gone, updated=updated)
            except (CapabilityNotNegotiatedError, ConnectionClosedError):
                logger.debug(
                    "channels were not sent to a host: it does not support them, or has left"
                )

    def offer(self, theirs: JsonObject | None) -> JsonObject:
        """Return what the server offers: its sets, what they use, and what it has handlers for."""
        uses = self._also_uses.union(*(declared.uses for declared in self._declared.values()))
        served = self.handlers.routes
        gates: JsonObject = {"version": VERSION, "featureSets": self._sets_as_offered()}
        if CONTEXT_AFTER_INFERENCE.name in served:
            gates["contextHooks.afterInference.blocking"] = self._blocking
        gates["channels"] = None if self._channels is None else self._channels_as_offered()
        if "pushEvents" in uses:
            gates["pushEvents"] = True
        gates["inferenceRequest"] = {"streaming": True} if "inferenceRequest" in uses else None
        if self._model_info:
            gates["modelInfo"] = True
        return capability_from(self.handlers, gates)

    def join(self, session: Session, theirs: JsonObject) -> HostPeer:
        """Return the host of a session in which both sides speak MCPL."""
        assert isinstance(session, ServerSession)
        for warning in read_offer(theirs).warnings:
            logger.warning("a host's offer of MCPL: %s", warning)
        sets = FeatureSets(self._declared, enabled=self._enabled_at_first)
        channels = [] if self._channels is None else self._channels.known
        peer = HostPeer(session, sets, self._tools, channels)
        peer.on_change = self._host_changed
        for outbox in self.outboxes:
            outbox.attached(peer)
        ServedTools(session, sets, self._tools, strict=self._strict_scopes)
        return peer

    async def negotiated(self, session: Session) -> None:
        """Have outboxes deliver while the session lasts.

        The server may not ask a host anything before it says which sets are on.
        """
        assert isinstance(session, ServerSession)
        for outbox in self.outboxes:
            session.start_soon(outbox.attend)

    def _host_changed(self) -> None:
        for outbox in self.outboxes:
            outbox.changed()

    def _add(self, row: Method[Any, Any], handler: Callable[..., Any]) -> None:
        self.handlers.add(row, handler)
        if row is CONTEXT_AFTER_INFERENCE and not self._blocking:
            watched = IgnoredModifications().watched(self.handlers.routes[row.name])
            self.handlers.routes |= dict.fromkeys(row.names, watched)

    async def _roll_back(self, params: RollbackParams, context: Context) -> RollbackResult:
        return await self._peers[context.session].state.roll_back(params)

    async def _list(self, params: RequestParams, context: Context) -> ChannelsListResult:
        return ChannelsListResult(channels=self._peers[context.session].channels.known)

    def _channels_as_offered(self) -> JsonObject:
        served = self.handlers.routes
        return {
            "register": True,
            "publish": CHANNELS_PUBLISH.name in served,
            "observe": CHANNELS_OUTGOING_COMPLETE.name in served,
            "lifecycle": CHANNELS_OPEN.name in served and CHANNELS_CLOSE.name in served,
            "streaming": CHANNELS_OUTGOING_CHUNK.name in served,
        }

    def _sets_as_offered(self) -> object:
        if self._as_list:
            return [{"name": name, **to_wire(one)} for name, one in self._declared.items()]
        return {name: to_wire(one) for name, one in self._declared.items()}


async def _accept(params: FeatureSetsUpdateParams) -> FeatureSetsUpdateResult:
    return FeatureSetsUpdateResult(accepted=True)  # the interceptor of the host's peer obeys it


class IgnoredModifications:
    """Warns of changes of responses that no host waits for, once for each feature set (MCPL 10.5).

    If a server does not ask hosts to wait, the hook comes as a notification and has no answer.
    """

    def __init__(self) -> None:
        self._warned: set[str | None] = set()

    def watched(self, route: Route) -> Route:
        """Return `route`, the one of the hook after inference, with a check of its answers."""

        async def serve(params: AfterInferenceParams, request: Request) -> Any:
            answer = await route.handler(params, request)
            if request.id is None and isinstance(answer, AfterInferenceResult):
                self._warn(answer)
            return answer

        return route._replace(handler=serve)

    def _warn(self, answer: AfterInferenceResult) -> None:
        name = answer.feature_set
        if answer.modified_response is None or name in self._warned:
            return
        self._warned.add(name)
        logger.warning(
            "context/afterInference: %r changes the response, and no host waits for that: it is "
            "not changed. Write McplServer(blocking=True).",
            name,
        )
