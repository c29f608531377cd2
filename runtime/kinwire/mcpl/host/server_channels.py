"""The channels of one server at its host: opened, closed, published to (MCPL 14.3).

`rules/channels.py` has the rules for both sides; scopes and moderation are checked before content
is sent.
"""

from __future__ import annotations

__all__ = ("OpenedChannels", "ServerChannels", "opened_channels")

import logging
from contextvars import ContextVar
from typing import Any

from kinwire.managers.durable_map import DurableMap, RecordCodec
from kinwire.mcp.extension import Next
from kinwire.mcpl.host.moderation import Draft, Moderator, not_published
from kinwire.mcpl.host.server_scopes import ServerScopes
from kinwire.mcpl.rules.channels import MOST_CHANNELS, OBSERVE, PUBLISH, ChannelRegistry
from kinwire.mcpl.rules.content import blocks_of
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.mcpl.rules.items import LooseRegister
from kinwire.mcpl.rules.uses import open_refusal
from kinwire.rpc.errors import CapabilityNotNegotiatedError, InvalidResponseError, RpcError
from kinwire.rpc.session import Session
from kinwire.storage.clock import Clock
from kinwire.storage.records import Records
from kinwire.support.json_values import short_digest
from kinwire.support.sanitize import sanitize_for_log
from kinwire_protocols.base import JsonObject, from_wire, to_wire
from kinwire_protocols.jsonrpc.errors import InvalidParamsError
from kinwire_protocols.mcp.models import RequestParams
from kinwire_protocols.mcpl.errors import ChannelNotPermittedError, UnknownChannelError
from kinwire_protocols.mcpl.methods import (
    CHANNELS_CLOSE,
    CHANNELS_LIST,
    CHANNELS_OPEN,
    CHANNELS_OUTGOING_CHUNK,
    CHANNELS_OUTGOING_COMPLETE,
    CHANNELS_PUBLISH,
)
from kinwire_protocols.mcpl.models import (
    ChannelDescriptor,
    ChannelsChangedParams,
    ChannelsCloseParams,
    ChannelsOpenParams,
    ChannelsOutgoingChunkParams,
    ChannelsOutgoingCompleteParams,
    ChannelsPublishParams,
    ChannelsPublishResult,
    Content,
)
from kinwire_protocols.peer import Method

logger = logging.getLogger("kinwire.mcpl")

_moderated = ContextVar[ChannelsPublishParams | None]("moderated", default=None)
"""What is being published and has passed moderation."""


OpenedChannels = DurableMap[tuple[str, str], ChannelsOpenParams]
"""How channels were opened, by key of the server and channel: for `ServerChannels.reopen`."""

_CODEC = RecordCodec[tuple[str, str], ChannelsOpenParams](
    name=lambda key: f"{key[0]}/{short_digest(key[1])}",
    write=lambda key, params: {"channel": key[1], "params": to_wire(params)},
    read=lambda name, stored: (
        (name.partition("/")[0], stored["channel"]),
        from_wire(ChannelsOpenParams, stored["params"]),
    ),
)


def opened_channels(records: Records | None, clock: Clock) -> OpenedChannels:
    """Return the channels that the host has opened, of all servers."""
    return DurableMap(records, "channel/open/", _CODEC, limit=None, clock=clock)


class ServerChannels:
    """The channels of one server. Get it from `ServerPeer.channels`."""

    def __init__(
        self,
        session: Session,
        sets: FeatureSets,
        scopes: ServerScopes,
        moderator: Moderator,
        stored: OpenedChannels,
    ) -> None:
        self._session = session
        self._sets = sets
        self._scopes = scopes
        self._moderator = moderator
        self._stored = stored
        self.registry = ChannelRegistry()
        self.opened: set[str] = set()
        """The ids of channels that this session has opened."""
        session.intercept_outbound(self._judge, CHANNELS_PUBLISH)
        session.guard(CHANNELS_OPEN, self._may_open, outbound=True)
        session.guard(CHANNELS_OUTGOING_CHUNK, self._may_show, outbound=True)
        session.guard(CHANNELS_OUTGOING_COMPLETE, self._may_show, outbound=True)

    @property
    def known(self) -> list[ChannelDescriptor]:
        """The channels that the server has registered, and those that the host has opened."""
        return self.registry.known

    async def listed(self) -> list[ChannelDescriptor]:
        """Ask the server which channels it knows.

        Raises:
            CapabilityNotNegotiatedError, RpcError, ConnectionClosedError, RequestTimeoutError,
            InvalidResponseError: as for `Session.call`.
        """
        return (await self._session.call(CHANNELS_LIST, RequestParams())).channels

    async def open(
        self, type: str, address: JsonObject | None = None, metadata: JsonObject | None = None
    ) -> ChannelDescriptor:
        """Ask the server to open a channel, and remember it for `reopen`.

        Raises:
            ChannelOpenFailedError: the server could not.
            CapabilityNotNegotiatedError, RpcError, ConnectionClosedError, RequestTimeoutError,
            InvalidResponseError: as for `Session.call`.
        """
        params = ChannelsOpenParams(type=type, address=address, metadata=metadata)
        channel = await self._open(params)
        identity = self._session.identity
        if not identity.transient:  # no later connection could find it
            await self._stored.put((identity.key, channel.id), params)
        return channel

    async def open_registered(self, channel: ChannelDescriptor) -> ChannelDescriptor:
        """Ask the server to open a channel that it has registered, by its type and address.

        `reopen` does not open it: the server registers it again.

        Raises:
            ChannelOpenFailedError, CapabilityNotNegotiatedError, RpcError, ConnectionClosedError,
            RequestTimeoutError, InvalidResponseError: as for `open`.
        """
        return await self._open(ChannelsOpenParams(type=channel.type, address=channel.address))

    async def _open(self, params: ChannelsOpenParams) -> ChannelDescriptor:
        channel = (await self._session.call(CHANNELS_OPEN, params)).channel
        problem = self.registry.put(channel)
        if problem is not None:
            raise InvalidResponseError(f"channels/open#/channel{problem.removeprefix('/0')}")
        self.opened.add(channel.id)
        return channel

    async def reopen(self) -> list[ChannelDescriptor]:
        """Open the channels that were open when the last connection ended; return the opened ones.

        A channel that the server cannot open now is logged; the next `reopen` tries it again.

        Raises:
            CapabilityNotNegotiatedError, ConnectionClosedError, RequestTimeoutError,
            InvalidResponseError: as for `Session.call`.
        """
        place = f"{self._session.identity.key}/"
        await self._stored.load(place)
        opened: list[ChannelDescriptor] = []
        for (_, before), params in self._stored.items(place):
            try:
                channel = await self.open(params.type, params.address, params.metadata)
            except RpcError as error:
                what, why = sanitize_for_log(before), sanitize_for_log(error)
                logger.warning("%s: %s was not opened again: %s", self._session.peer_id, what, why)
                continue
            if channel.id != before:  # it has a new id
                await self._forget(before)
            opened.append(channel)
        return opened

    async def close(self, channel_id: str) -> bool:
        """Ask the server to close a channel; return whether it is closed, and no longer known.

        Raises:
            UnknownChannelError: no channel has that id.
            CapabilityNotNegotiatedError, RpcError, ConnectionClosedError, RequestTimeoutError,
            InvalidResponseError: as for `Session.call`.
        """
        if self.registry.find(channel_id) is None:
            raise UnknownChannelError(data={"channelId": channel_id})
        params = ChannelsCloseParams(channel_id=channel_id)
        closed = (await self._session.call(CHANNELS_CLOSE, params)).closed
        if closed:
            self.registry.remove(channel_id)
            self.opened.discard(channel_id)
            await self._forget(channel_id)
        return closed

    async def publish(
        self, channel_id: str, content: Content, *, conversation_id: str | None = None
    ) -> ChannelsPublishResult:
        """Ask the server to deliver content to a channel, and return its answer.

        `content` is a list of blocks; a string is sent as one text block.

        Raises:
            UnknownChannelError: no channel has that id.
            ChannelNotPermittedError: direction, feature sets or scopes do not permit it.
            NotPublishedError: moderation held or dropped it.
            CapabilityNotNegotiatedError, RpcError, ConnectionClosedError, RequestTimeoutError,
            InvalidResponseError: as for `Session.call`.
        """
        params = ChannelsPublishParams(
            channel_id=channel_id, conversation_id=conversation_id, content=blocks_of(content)
        )
        return await self._session.call(CHANNELS_PUBLISH, params)

    async def publish_moderated(self, params: ChannelsPublishParams) -> ChannelsPublishResult:
        """Publish content that moderation has passed; the rest is as for `publish`."""
        token = _moderated.set(params)
        try:
            return await self._session.call(CHANNELS_PUBLISH, params)
        finally:
            _moderated.reset(token)

    async def send(
        self,
        channel_id: str,
        content: Content,
        *,
        conversation_id: str | None = None,
        stream: bool = False,
    ) -> None:
        """Ask the server to deliver content, without waiting for an answer.

        `stream` says that more of the same content follows.

        Raises:
            CapabilityNotNegotiatedError: also if `stream` is set and a side does not stream.
            UnknownChannelError, ChannelNotPermittedError, NotPublishedError,
            ConnectionClosedError: as for `publish`.
        """
        params = ChannelsPublishParams(
            channel_id=channel_id,
            conversation_id=conversation_id,
            content=blocks_of(content),
            stream=True if stream else None,
        )
        await self._session.notify(CHANNELS_PUBLISH, params)

    def registered(self, params: LooseRegister) -> list[ChannelDescriptor]:
        """Register the channels that the server sends, and return those that are valid.

        Raises:
            InvalidParamsError: all of them are invalid.
        """
        found = params.channels
        problems = [*params.wrong, *self.registry.register(found)]
        if problems and len(problems) >= len(found) + len(params.wrong):
            raise InvalidParamsError(f"channels/register#/channels{problems[0]}")
        for problem in problems:
            logger.warning("%s: channels/register: left out %s", self._session.peer_id, problem)
        return [one for one in found if self.registry.find(one.id) is one]

    async def changed(self, params: ChannelsChangedParams) -> None:
        """Apply the changes that the server sends, except for invalid ones."""
        # More entries cannot be valid, and each would be one line of the log.
        added, updated = (one[:MOST_CHANNELS] for one in (params.added or [], params.updated or []))
        removed = (params.removed or [])[:MOST_CHANNELS]
        for problem in self.registry.change(added, removed, updated):
            logger.warning("%s: channels/changed: left out %s", self._session.peer_id, problem)
        self.opened.difference_update(removed)
        for channel_id in removed:
            await self._forget(channel_id)

    async def _judge(
        self, params: ChannelsPublishParams, method: Method[Any, Any], go_on: Next[Any, Any]
    ) -> Any:
        if params.stream:
            self._must_stream()
        await self._must_be_permitted(params.channel_id)
        if _moderated.get() is params:
            return await go_on(params)
        draft = Draft(
            stage="publish",
            channel_id=params.channel_id,
            content=params.content,
            conversation_id=params.conversation_id,
        )
        verdict, content = await self._moderator.judge(draft)
        if content is None:
            raise not_published(draft, verdict)
        if content is params.content:
            return await go_on(params)
        return await go_on(params.model_copy(update={"content": content}))

    def _may_open(self, params: ChannelsOpenParams, method: Method[Any, Any]) -> None:
        refusal = open_refusal(params.type, self._sets)
        if refusal is not None:
            raise refusal

    def _may_show(
        self,
        params: ChannelsOutgoingChunkParams | ChannelsOutgoingCompleteParams,
        method: Method[Any, Any],
    ) -> None:
        refusal = self._scopes.channel_refusal(OBSERVE, params.channel_id)
        if refusal is not None:
            raise refusal

    def _must_stream(self) -> None:
        reason = self._session.denial_reason(CHANNELS_OUTGOING_CHUNK)
        if reason is not None:
            gate = CHANNELS_OUTGOING_CHUNK.gate
            raise CapabilityNotNegotiatedError(CHANNELS_PUBLISH.name, gate, reason)

    async def _must_be_permitted(self, channel_id: str) -> None:
        refusal = self.registry.publish_refusal(channel_id)
        if refusal is not None:
            raise refusal
        # If no set of the server declares publishing, its offer alone counts.
        names = self._sets.with_use(PUBLISH)
        if names is not None:
            found, reason = await self._scopes.first_of(names, PUBLISH, channel_id)
            if found is None:
                data = {"channelId": channel_id}
                raise ChannelNotPermittedError(f"Channel not permitted: {reason}", data=data)

    async def _forget(self, channel_id: str) -> None:
        await self._stored.delete((self._session.identity.key, channel_id))
