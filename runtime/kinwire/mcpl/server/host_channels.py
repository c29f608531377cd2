"""The channels of a server at one of its hosts (MCPL 14.3).

`rules/channels.py` has the rules for both sides; the server's own handlers open channels, close
them and deliver content.
"""

from __future__ import annotations

__all__ = ("HostChannels",)

import logging
import random
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import count
from typing import TypeVar

import anyio

from kinwire.mcp.extension import Next
from kinwire.mcpl.rules.channels import MOST_MESSAGES, OBSERVE, PUBLISH, ChannelRegistry
from kinwire.mcpl.rules.feature_sets import FeatureSets
from kinwire.mcpl.rules.uses import ListsOf, channel_refusal, open_refusal, opened_refusal
from kinwire.rpc.errors import ConnectionClosedError, KinwireError, RequestTimeoutError, RpcError
from kinwire.rpc.request import Request
from kinwire.rpc.session import Session
from kinwire.support.background import start_detached
from kinwire.support.backoff import Backoff
from kinwire.support.sanitize import sanitize_for_log
from kinwire.support.validation import checked_strings, expect_type
from kinwire_protocols.jsonrpc.errors import InternalError, InvalidParamsError
from kinwire_protocols.mcp.models import RequestParams
from kinwire_protocols.mcpl.errors import ChannelOpenFailedError, UnknownChannelError
from kinwire_protocols.mcpl.methods import (
    CHANNELS_CHANGED,
    CHANNELS_CLOSE,
    CHANNELS_INCOMING,
    CHANNELS_LIST,
    CHANNELS_OPEN,
    CHANNELS_OUTGOING_CHUNK,
    CHANNELS_OUTGOING_COMPLETE,
    CHANNELS_PUBLISH,
    CHANNELS_REGISTER,
)
from kinwire_protocols.mcpl.models import (
    ChannelDescriptor,
    ChannelsChangedParams,
    ChannelsCloseParams,
    ChannelsCloseResult,
    ChannelsIncomingParams,
    ChannelsIncomingResult,
    ChannelsOpenParams,
    ChannelsOpenResult,
    ChannelsOutgoingChunkParams,
    ChannelsOutgoingCompleteParams,
    ChannelsPublishParams,
    ChannelsRegisterParams,
    IncomingMessage,
    IncomingOutcome,
)
from kinwire_protocols.peer import Method

logger = logging.getLogger("kinwire.mcpl")

T = TypeVar("T")

_PREFIX = "Channel not permitted: "

_REGISTER_TIMEOUT = 10.0  # seconds
_BACKOFF = Backoff(first=1.0, longest=60.0)


class HostChannels:
    """The channels of a server at one host. Get it from `HostPeer.channels`."""

    def __init__(
        self,
        session: Session,
        sets: FeatureSets,
        lists_of: ListsOf,
        channels: Sequence[ChannelDescriptor],
        on_change: Callable[[], None],
    ) -> None:
        self._session = session
        self._sets = sets
        self._lists_of = lists_of  # as the host has sent them last
        self._on_change = on_change
        self.registry = ChannelRegistry()
        self._registering: set[str] = set()  # the host may not know these
        self._first = ChannelRegistry(channels)  # until they are registered
        session.guard(CHANNELS_PUBLISH, self._must_be_published)
        session.guard(CHANNELS_OUTGOING_CHUNK, self._must_be_observed)
        session.guard(CHANNELS_OUTGOING_COMPLETE, self._must_be_observed)
        session.intercept_outbound(self._pass_on, CHANNELS_INCOMING)
        session.intercept_inbound(self._open, CHANNELS_OPEN)
        session.intercept_inbound(self._close, CHANNELS_CLOSE)

    @property
    def known(self) -> list[ChannelDescriptor]:
        """The channels that are registered with the host, and those that the host has opened."""
        return self.registry.known

    async def register(self, *channels: ChannelDescriptor) -> None:
        """Register channels with the host, each in the place of an earlier one with its id.

        If the host does not answer, the outcome is unknown, and the channels stay known here.

        Raises:
            ValueError: an id is invalid, or two of these channels have the same.
            CapabilityNotNegotiatedError, RpcError, ConnectionClosedError, InvalidResponseError: as
                for `Session.call`; no channel is registered.
            RequestTimeoutError: the host did not answer.
        """
        for problem in self.registry.problems(channels):
            raise ValueError(f"channels{problem}")
        replaced = [self.registry.find(channel.id) for channel in channels]
        self.registry.register(channels)
        params = ChannelsRegisterParams(channels=list(channels))
        ids = {channel.id for channel in channels}
        self._registering |= ids
        try:
            await self._session.call(CHANNELS_REGISTER, params, timeout=_REGISTER_TIMEOUT)
        except RequestTimeoutError:
            raise
        except (KinwireError, RpcError):
            for channel in channels:
                self.registry.remove(channel.id)
            self.registry.register([one for one in replaced if one is not None])
            self._registering -= ids
            raise
        self._registering -= ids
        self._on_change()

    async def begin(self) -> None:
        """Register the channels that existed before the host connected, once.

        If the host does not answer, the request is repeated until it does or the session ends.
        """
        first, self._first = self._first.known, ChannelRegistry()
        ids = [one.id for one in first if self.registry.find(one.id) is None]
        if self._session.denial_reason(CHANNELS_REGISTER) is not None:
            return
        self.registry.register([one for one in first if one.id in ids])
        if not await self._answered(ids):
            start_detached(partial(self._repeat, ids))

    async def _repeat(self, ids: Sequence[str]) -> None:
        for failures in count(1):
            await anyio.sleep(_BACKOFF.delay(failures, jitter=random.random()))
            if await self._answered(ids):
                return

    async def _answered(self, ids: Sequence[str]) -> bool:
        """Register these channels as they are now; return whether that need not be repeated."""
        channels = [one for id in ids if (one := self.registry.find(id)) is not None]
        if not channels:
            return True
        try:
            await self.register(*channels)
        except RequestTimeoutError:
            logger.info("a host did not answer channels/register; it is sent again")
            return False
        except (KinwireError, RpcError) as error:
            if not self._session.closed:
                why = sanitize_for_log(error)
                logger.warning("a host did not take the channels: %s", why)
            for channel in channels:
                self.registry.remove(channel.id)
        return True

    async def change(
        self,
        *,
        added: Sequence[ChannelDescriptor] = (),
        removed: Collection[str] = (),
        updated: Sequence[ChannelDescriptor] = (),
    ) -> None:
        """Notify the host of channels that were added, removed or updated.

        An invalid change, such as a second channel with one id, is left out and logged.

        Raises:
            CapabilityNotNegotiatedError, ConnectionClosedError: as for `Session.notify`.
            TypeError: `removed` is a single string.
        """
        # The host does not know these yet: they are registered as they are then.
        waiting = {channel.id for channel in self._first.known}
        first_gone, gone = _parted(checked_strings("removed", removed), waiting.__contains__)
        first_updated, changed = _parted(updated, lambda one: one.id in waiting)
        self._first.change((), first_gone, first_updated)
        twice, came = _parted(added, lambda one: self._first.find(one.id) is not None)
        if not (came or gone or changed or twice):
            return
        problems = self.registry.change(came, gone, changed)
        problems += [f"added: {one.id!r:.60} is there already" for one in twice]
        for problem in problems:
            logger.warning("channels/changed: %s", problem)
        params = ChannelsChangedParams(
            added=[one for one in came if self.registry.find(one.id) is one] or None,
            removed=gone or None,
            updated=[one for one in changed if self.registry.find(one.id) is one] or None,
        )
        await self._session.notify(CHANNELS_CHANGED, params)
        self._on_change()

    async def incoming(self, *messages: IncomingMessage) -> list[IncomingOutcome]:
        """Pass messages to the host, and return the outcome of each.

        More than a hundred are sent in several requests. A message that is sent again within a day,
        with the same id, is not taken twice. A message of a channel that no enabled set may observe
        is not sent, and its outcome is a refusal.

        Raises:
            CapabilityNotNegotiatedError, RpcError, ConnectionClosedError, RequestTimeoutError,
            InvalidResponseError: as for `Session.call`.
        """
        outcomes: list[IncomingOutcome] = []
        for first in range(0, len(messages), MOST_MESSAGES):
            params = ChannelsIncomingParams(messages=list(messages[first : first + MOST_MESSAGES]))
            outcomes += (await self._session.call(CHANNELS_INCOMING, params)).results
        return outcomes

    def may_bring(self, channel_id: str) -> bool:
        """Return whether the host knows the channel, and takes messages that come in there."""
        if channel_id in self._registering or self.registry.incoming_problem(channel_id):
            return False
        return channel_refusal(OBSERVE, channel_id, self._sets, self._lists_of) is None

    async def listed(self) -> list[ChannelDescriptor]:
        """Ask the host which channels it knows.

        Raises:
            CapabilityNotNegotiatedError, RpcError, ConnectionClosedError, RequestTimeoutError,
            InvalidResponseError: as for `Session.call`.
        """
        return (await self._session.call(CHANNELS_LIST, RequestParams())).channels

    def _must_be_published(self, params: ChannelsPublishParams, request: Request) -> None:
        reason = self._session.denial_reason(CHANNELS_OUTGOING_CHUNK) if params.stream else None
        if reason is not None:
            raise InvalidParamsError(
                f"channels/publish#/stream: expected false, got true: {reason}. Send it whole."
            )
        refusal = self.registry.publish_refusal(params.channel_id)
        refusal = refusal or channel_refusal(PUBLISH, params.channel_id, self._sets, self._lists_of)
        if refusal is not None:
            raise refusal

    def _must_be_observed(
        self, params: ChannelsOutgoingChunkParams | ChannelsOutgoingCompleteParams, request: Request
    ) -> None:
        refusal = channel_refusal(OBSERVE, params.channel_id, self._sets, self._lists_of)
        if refusal is not None:
            raise refusal

    async def _pass_on(
        self,
        params: ChannelsIncomingParams,
        method: Method[ChannelsIncomingParams, ChannelsIncomingResult],
        go_on: Next[ChannelsIncomingParams, ChannelsIncomingResult],
    ) -> ChannelsIncomingResult:
        """Keep back the messages of channels that no enabled set may observe."""
        refused = {
            place: refusal
            for place, one in enumerate(params.messages)
            if (refusal := channel_refusal(OBSERVE, one.channel_id, self._sets, self._lists_of))
        }
        if not refused:
            return await go_on(params)
        kept = [one for place, one in enumerate(params.messages) if place not in refused]
        answered: list[IncomingOutcome] = []
        if kept:
            answered = (await go_on(params.model_copy(update={"messages": kept}))).results
        for place, refusal in refused.items():
            message_id = params.messages[place].message_id
            outcome = IncomingOutcome(
                message_id=message_id, accepted=False, reason=refusal.message.removeprefix(_PREFIX)
            )
            answered.insert(place, outcome)
        return ChannelsIncomingResult(results=answered)

    async def _open(
        self,
        params: ChannelsOpenParams,
        request: Request,
        go_on: Next[ChannelsOpenParams, ChannelsOpenResult],
    ) -> ChannelsOpenResult:
        refusal = open_refusal(params.type, self._sets)
        if refusal is not None:
            raise refusal
        try:
            result = await go_on(params)
        except (RpcError, ConnectionClosedError):
            raise
        except Exception as error:
            logger.exception("a channel of type %.60s could not be opened", params.type)
            raise ChannelOpenFailedError(data={"type": params.type}) from error
        result = expect_type(request.method.name, result, ChannelsOpenResult)
        refusal = opened_refusal(result.channel.id, self._sets, self._lists_of)
        if refusal is not None:
            raise refusal
        problem = self.registry.put(result.channel)
        if problem is not None:
            raise InternalError(f"channels/open#/channel{problem.removeprefix('/0')}")
        self._on_change()
        return result

    async def _close(
        self,
        params: ChannelsCloseParams,
        request: Request,
        go_on: Next[ChannelsCloseParams, ChannelsCloseResult],
    ) -> ChannelsCloseResult:
        if self.registry.find(params.channel_id) is None:
            raise UnknownChannelError(data={"channelId": params.channel_id})
        result = await go_on(params)
        result = expect_type(request.method.name, result, ChannelsCloseResult)
        if result.closed:
            self.registry.remove(params.channel_id)
        return result


def _parted(items: Iterable[T], belongs: Callable[[T], bool]) -> tuple[list[T], list[T]]:
    parts: tuple[list[T], list[T]] = ([], [])
    for item in items:
        parts[not belongs(item)].append(item)
    return parts
