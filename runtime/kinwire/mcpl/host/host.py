"""MCPL in a host: its offer, its policy, and the servers that speak it."""

from __future__ import annotations

__all__ = ("McplHost",)

import logging
import time
from collections.abc import Iterable, Mapping
from typing import get_args

from kinwire.managers.durable_map import DurableMap
from kinwire.managers.peer_records import PeerRecords
from kinwire.mcp.connection import Connection
from kinwire.mcp.context import Context
from kinwire.mcp.extension import ExtensionBase, capability_from
from kinwire.mcpl.host.audit import Audit
from kinwire.mcpl.host.channels import ChannelManager, Channels
from kinwire.mcpl.host.event_inbox import EventInbox, OnPush
from kinwire.mcpl.host.hooks import HookManager, Hooks
from kinwire.mcpl.host.inference import Inference, InferenceManager
from kinwire.mcpl.host.scopes import ScopeGuard, Scopes
from kinwire.mcpl.host.server_channels import opened_channels
from kinwire.mcpl.host.server_peer import HostServices, ServerPeer
from kinwire.mcpl.host.state import StateMode, States
from kinwire.mcpl.rules.feature_sets import FeaturePolicy, FeatureSets
from kinwire.mcpl.rules.incoming import LOOSE_INCOMING, LooseIncoming
from kinwire.mcpl.rules.injections import Injections
from kinwire.mcpl.rules.items import LOOSE_REGISTER, LooseRegister
from kinwire.mcpl.rules.offers import CHANNEL_FLAGS, VERSION, read_offer
from kinwire.mcpl.rules.restrictions import RESTRICTIONS
from kinwire.rpc.session import Session
from kinwire.storage.clock import Clock, forward
from kinwire.storage.log import Log
from kinwire.storage.records import Records
from kinwire.support.arguments import (
    FUNCTION,
    RATE,
    SECONDS,
    TEXT,
    TEXTS,
    ArgumentCheck,
    having,
    instance_of,
    one_of,
)
from kinwire_protocols import mcpl
from kinwire_protocols.base import JsonObject
from kinwire_protocols.mcp.models import RequestParams
from kinwire_protocols.mcpl.methods import (
    CHANNELS_ACKNOWLEDGE,
    CHANNELS_CHANGED,
    CHANNELS_LIST,
    CHANNELS_TYPING,
    FEATURE_SETS_CHANGED,
    INFERENCE_REQUEST,
    MODEL_INFO,
    PROTOCOL,
    PUSH_EVENT,
    SCOPE_ELEVATE,
)
from kinwire_protocols.mcpl.models import (
    AfterInferenceParams,
    BeforeInferenceParams,
    ChannelsChangedParams,
    ChannelsIncomingResult,
    ChannelsListResult,
    InferenceRequestParams,
    InferenceRequestResult,
    ModelInfo,
    PushEventParams,
    PushEventResult,
    ScopeElevateParams,
    ScopeElevateResult,
    TokenUsage,
)
from kinwire_protocols.peer import ProtocolTable

logger = logging.getLogger("kinwire.mcpl")

_MCPL_HOST = ArgumentCheck(
    "McplHost",
    "McplHost()",
    {},
    enabled=TEXTS,
    disabled=TEXTS,
    forbidden=TEXTS,
    scopes=instance_of(Scopes, "Scopes", "Scopes(ask=...)").or_none,
    hooks=instance_of(Hooks, "Hooks", "Hooks()").or_none,
    channels=instance_of(Channels, "Channels", "Channels()").or_none,
    inference=instance_of(Inference, "Inference", "Inference(...)").or_none,
    on_push=FUNCTION.or_none,
    push_timeout=SECONDS,
    push_rate=RATE,
    state=one_of(*get_args(StateMode)),
    records=having(
        ("get", "put", "scan"), "records of a store", 'await store.records("mcpl")'
    ).or_none,
    audit=having(("append", "read"), "a log of a store", 'await store.log("audit")').or_none,
    clock=FUNCTION,
)
_NO_SERVER_ID = (
    "%s: the patterns of this server do not apply to it, because it was connected without a "
    "server_id. Write connect(..., server_id=%r)"
)
_OF = ArgumentCheck(
    "McplHost.of",
    "live.of(connection)",
    {"connection": instance_of(Connection, "a Connection", "connection")},
)
_RESET_USAGE = ArgumentCheck(
    "McplHost.reset_usage",
    "await live.reset_usage(live.of(connection))",
    {"server": instance_of(ServerPeer, "a ServerPeer", "live.of(connection)")},
    feature_set=TEXT.or_none,
)
_BEFORE = ArgumentCheck(
    "McplHost.before_inference",
    "await live.before_inference(mcpl.BeforeInferenceParams(...))",
    {"params": instance_of(BeforeInferenceParams, "mcpl.BeforeInferenceParams", "...")},
)
_AFTER = ArgumentCheck(
    "McplHost.after_inference",
    "await live.after_inference(mcpl.AfterInferenceParams(...))",
    {"params": instance_of(AfterInferenceParams, "mcpl.AfterInferenceParams", "...")},
)


class McplHost(ExtensionBase[ServerPeer]):
    """The host's side of MCPL: `Host(..., extensions=[McplHost(enabled=["memory.*"])])`.

    `enabled` and `disabled` are names of feature sets or patterns (`memory.*`, `*`) that are on or
    off at first; a set that neither matches is off. `forbidden` ones can never be enabled. With
    `SERVER/PATTERN` a pattern applies to the server with that `server_id` alone. `scopes`
    says where sets may act, `hooks` how they take part in the host's inference, `inference` what
    runs the inference that they request, and `state` which checkpoints are kept: a tree, the latest
    or none. `on_push` takes the events of servers, each within `push_timeout` seconds and at most
    `push_rate` a second of one server. `channels` handles messages on channels. `records` keep what
    must outlive the process; without them it is kept in memory. `audit` gets an entry for each
    operation; the logger `kinwire.mcpl.audit` always does.
    """

    protocol: ProtocolTable = PROTOCOL

    def __init__(  # noqa: PLR0913 - all that a host may decide
        self,
        *,
        enabled: Iterable[str] = (),
        disabled: Iterable[str] = (),
        forbidden: Iterable[str] = (),
        scopes: Scopes | None = None,
        hooks: Hooks | None = None,
        channels: Channels | None = None,
        inference: Inference | None = None,
        on_push: OnPush | None = None,
        push_timeout: float = 30.0,
        push_rate: float = 100.0,
        state: StateMode = "tree",
        records: Records | None = None,
        audit: Log | None = None,
        clock: Clock = time.time,
    ) -> None:
        """Prepare to talk to any number of servers.

        Raises:
            ValueError: invalid pattern, unknown `state` mode, or number out of range.
            TypeError: patterns are a single string.
        """
        _MCPL_HOST.check(
            enabled=enabled,
            disabled=disabled,
            forbidden=forbidden,
            scopes=scopes,
            hooks=hooks,
            channels=channels,
            inference=inference,
            on_push=on_push,
            push_timeout=push_timeout,
            push_rate=push_rate,
            state=state,
            records=records,
            audit=audit,
            clock=clock,
        )
        super().__init__()
        time_of_day = forward(clock)
        records = None if records is None else PeerRecords(records)
        self._audit = Audit(audit, time_of_day)
        self._guard = ScopeGuard(scopes or Scopes(), records, time_of_day)
        self._states = States(state, records)
        self._inference = (
            None if inference is None else InferenceManager(inference, records, time_of_day)
        )
        self._hooks = HookManager(hooks or Hooks(), self._audit)
        self._event_inbox = EventInbox(on_push, push_timeout, push_rate, records, time_of_day)
        self._policy = FeaturePolicy(
            enabled=tuple(enabled), disabled=tuple(disabled), forbidden=tuple(forbidden)
        )
        self.channels = ChannelManager(
            channels or Channels(), lambda: self.servers, records, time_of_day
        )
        """Where answers to messages of channels are written."""
        self._services = HostServices(
            self._guard,
            self._states,
            self._audit,
            self.channels.moderator,
            opened_channels(records, time_of_day),
            DurableMap(records, "restrictions/", RESTRICTIONS, limit=None, clock=time_of_day),
            lambda key: next((one for one in self.peers if one.key == key), None),
        )
        self._does_channels = channels is not None
        self._serve(inference, on_push)
        self.on = mcpl.ClientOn(self.handlers.add)
        """Where your own handlers are registered: `@live.on.push_event`."""

    @property
    def servers(self) -> list[ServerPeer]:
        """The connected servers that speak MCPL, in the order in which they connected."""
        return [peer for peer in self.peers if peer.configured]

    def of(self, connection: Connection) -> ServerPeer | None:
        """Return the MCPL side of a connection; None if the server speaks only MCP."""
        _OF.check(connection=connection)
        return self.peer_of(connection.session)

    @property
    def usage(self) -> Mapping[tuple[str, str], TokenUsage]:
        """The tokens used by inference for servers, by `ServerPeer.key` and feature set.

        With records these are all tokens that were ever used, of servers that have connected.
        """
        return {} if self._inference is None else self._inference.limiter.spent

    async def reset_usage(self, server: ServerPeer, feature_set: str | None = None) -> None:
        """Count the tokens of a server, or of one of its feature sets, from 0 again.

        Raises:
            StorageError: the store failed; after a restart everything counts as before.
        """
        _RESET_USAGE.check(server=server, feature_set=feature_set)
        if self._inference is not None:
            await self._inference.reset(server, feature_set)

    async def before_inference(self, params: BeforeInferenceParams) -> Injections:
        """Ask all servers for context in parallel, and return what came in time and may be used."""
        _BEFORE.check(params=params)
        return await self._hooks.before(self.servers, params)

    async def after_inference(self, params: AfterInferenceParams) -> str:
        """Show a response to servers, and return it with the changes of those that may change it.

        Raises:
            HookFailedError: a hook without which nothing may be shown failed, or is missing: its
                server is not connected, does not block, or its set is off.
        """
        _AFTER.check(params=params)
        return await self._hooks.after(self.servers, params)

    def offer(self, theirs: JsonObject | None) -> JsonObject:
        """Return what the host offers: hooks, and what it has handlers for."""
        gates: JsonObject = {
            "version": VERSION,
            "contextHooks.beforeInference": True,
            "contextHooks.afterInference.blocking": self._hooks.policy.blocking,
            "featureSets": True,
            "state": {"mode": self._states.mode, "rollback": self._states.mode == "tree"},
        }
        if self._does_channels:
            gates["channels"] = dict.fromkeys(CHANNEL_FLAGS, True)
        if INFERENCE_REQUEST.name in self.handlers.routes:
            gates["inferenceRequest.streaming"] = True
        return capability_from(self.handlers, gates)

    def join(self, session: Session, theirs: JsonObject) -> ServerPeer:
        """Return the server of a session in which both sides speak MCPL."""
        self.must_be_only_session(session)
        session.must_not_repeat_handshake()  # a new session would not know which sets are on
        offer = read_offer(theirs)
        for warning in offer.warnings:
            logger.warning("%s: its offer of MCPL: %s", session.peer_id, warning)
        server_id = session.identity.server_id
        if server_id is None and self._policy.names(session.peer_id):
            logger.warning(_NO_SERVER_ID, session.peer_id, session.peer_id)
        policy = self._policy.of_server(server_id)
        sets = FeatureSets(offer.feature_sets, enabled=False, policy=policy)
        sets.obey_policy()

        self._audit.watch_outbound(session)
        peer = ServerPeer(session, offer, sets, self._services)
        self._audit.watch_inbound(session)
        return peer

    def left(self, peer: ServerPeer) -> None:
        """Forget a server that nothing but its connection named."""
        if not peer.session.identity.transient:
            return
        self._states.forget(peer.key)
        self._guard.leave(peer.key)
        self._services.restrictions.forget(peer.key)
        self._services.opened.forget(f"{peer.key}/")
        if self._inference is not None:
            self._inference.leave(peer.session.identity)

    async def negotiated(self, session: Session) -> None:
        """Load what is stored of the server; report a name that another server has."""
        server = self.peer_of(session)
        if [one.id for one in self.peers].count(session.peer_id) > 1:
            await self._audit.name_collides(session)
        await self._guard.load(session.identity.key)
        if self._inference is not None:
            await self._inference.load(session.identity)
        if server is not None:  # else the session is over
            await server.restore()

    async def _elevate(self, params: ScopeElevateParams, context: Context) -> ScopeElevateResult:
        return await self._peers[context.session].scopes.elevate(params)

    async def _infer(
        self, params: InferenceRequestParams, context: Context
    ) -> InferenceRequestResult:
        assert self._inference is not None
        return await self._inference.serve(self._peers[context.session], params, context)

    async def _model_info(self, params: RequestParams) -> ModelInfo:
        assert self._inference is not None
        return await self._inference.model_info()

    def _serve(self, inference: Inference | None, on_push: OnPush | None) -> None:
        for row in (FEATURE_SETS_CHANGED, CHANNELS_TYPING, CHANNELS_ACKNOWLEDGE):
            self.handlers.add_default(row)
        if self._does_channels:
            self.handlers.add_default(LOOSE_REGISTER, self._register)
            self.handlers.add_default(CHANNELS_CHANGED, self._changed)
            self.handlers.add_default(CHANNELS_LIST, self._list)
            self.handlers.add_default(LOOSE_INCOMING, self._incoming)
        self.handlers.add(SCOPE_ELEVATE, self._elevate)
        if inference is not None:
            self.handlers.add(INFERENCE_REQUEST, self._infer)
        if inference is not None and inference.model is not None:
            self.handlers.add(MODEL_INFO, self._model_info)
        if on_push is not None:
            self.handlers.add(PUSH_EVENT, self._push)

    async def _register(self, params: LooseRegister, context: Context) -> JsonObject:
        server = self._peers[context.session]
        self.channels.opener.registered(server, server.channels.registered(params))
        return {}

    async def _changed(self, params: ChannelsChangedParams, context: Context) -> None:
        server = self._peers[context.session]
        await server.channels.changed(params)
        self.channels.opener.registered(server, params.added or ())

    async def _list(self, params: RequestParams, context: Context) -> ChannelsListResult:
        return ChannelsListResult(channels=self._peers[context.session].channels.known)

    async def _incoming(self, params: LooseIncoming, context: Context) -> ChannelsIncomingResult:
        server = self._peers[context.session]
        await server.wait_configured()  # before that, sets and scopes may change
        return await self.channels.take(server, params)

    async def _push(self, params: PushEventParams, context: Context) -> PushEventResult:
        return await self._event_inbox.take(self._peers[context.session], params)
